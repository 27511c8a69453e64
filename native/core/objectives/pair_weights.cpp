#include "core/objectives/pair_weights.hpp"

#include <cmath>

namespace rankwright {

template <typename Real> void PairWeights<Real>::load(const BatchQuery &query, std::span<std::uint32_t> row_at) {
    n_ = query.n;
    n_counted_ = settings_.truncation == 0 ? n_ : std::min(n_, static_cast<std::size_t>(settings_.truncation));
    n_rows_ = n_counted_;
    if (!has_noise()) return load_ranked(query, row_at);
    // A constant share goes to the pairs that count at the ranks of the scores. As places keep the order of ranks among
    // the documents that are brought up, these ranks are the first places.
    n_rows_ = noisy_.load(query, row_at, settings_.constant_share > 0.0 ? n_counted_ : 0);
}

template <typename Real>
void PairWeights<Real>::load_ranked(const BatchQuery &query, std::span<const std::uint32_t> row_at) {
    gather_worth(data_, query, row_at, worth_);
    for (auto *values : {&above_, &below_, &scale_}) pad(*values, n_, Real(0));
    const SwapArrays<Real> arrays{std::span(above_).first(n_), std::span(below_).first(n_),
                                  std::span(scale_).first(n_)};
    fill_swap_arrays<Real>(settings_.delta, std::span(worth_).first(n_), data_.discount, arrays);
    if (!settings_.expected_ties) return;
    ranked_scores_.resize(n_);
    for (std::size_t rank = 0; rank < n_; ++rank) ranked_scores_[rank] = query.scores[row_at[rank]];
    ties_.average(ranked_scores_, n_counted_, arrays);
    n_rows_ = ties_.n_reached();
}

template <typename Real> double PairWeights<Real>::weight(std::size_t a, std::size_t b) const {
    if (has_noise()) return noisy_.weight(a, b);
    const auto [i, j] = std::minmax(a, b);
    const Real worth = std::abs(worth_[i] - worth_[j]);
    if (settings_.expected_ties && j < ties_.block_end(i)) return double(worth) * double(ties_.difference(i));
    return double(scale_[i]) * worth * std::abs(above_[i] - below_[j]);
}

template <typename Real> void PairWeights<Real>::fill_row(std::size_t i, Real *weights) const {
    if (has_noise()) return noisy_.fill_row(i, weights);
    const std::size_t tied_end = settings_.expected_ties ? ties_.block_end(i) : i + 1;
    for (std::size_t j = i + 1; j < tied_end; ++j) weights[j] = std::abs(worth_[i] - worth_[j]) * ties_.difference(i);
    for (std::size_t j = tied_end; j < n_; ++j) {
        weights[j] = std::abs(worth_[i] - worth_[j]) * scale_[i] * std::abs(above_[i] - below_[j]);
    }
}

template <typename Real> double PairWeights<Real>::counted(std::size_t a, std::size_t b) const {
    const auto [i, j] = std::minmax(a, b);
    if (settings_.expected_ties) return j < ties_.block_end(i) ? ties_.counted(i) : scale_[i];
    return i < n_counted_ ? 1.0 : 0.0;
}

template class PairWeights<float>;
template class PairWeights<double>;

} // namespace rankwright
