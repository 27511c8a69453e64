#include "core/objectives/query_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/common/counter_random.hpp"
#include "core/common/vectors.hpp"

namespace rankwright {

namespace {

template <typename Real> void pad(std::vector<Real> &values, std::size_t n, Real padding) {
    if (values.size() < n + lanes) values.resize(n + lanes);
    std::fill(values.begin() + n, values.begin() + n + lanes, padding);
}

// Documents from the highest label to the lowest, in runs of equal labels. A document's partners are those outside its
// run.
struct SortedRuns {
    std::size_t n_judged;
    std::vector<std::size_t> begin, end;

    // With `alone` every document is a run of its own.
    template <typename LabelAt> SortedRuns(std::size_t n, LabelAt label_at, bool alone) : n_judged(n) {
        while (n_judged > 0 && std::isnan(label_at(n_judged - 1))) --n_judged;
        begin.resize(n_judged);
        end.resize(n_judged);
        for (std::size_t at = 0; at < n_judged; ++at) {
            const bool continues = !alone && at > 0 && label_at(at) == label_at(at - 1);
            begin[at] = continues ? begin[at - 1] : at;
        }
        for (std::size_t at = n_judged; at-- > 0;) {
            const bool continues = at + 1 < n_judged && begin[at + 1] == begin[at];
            end[at] = continues ? end[at + 1] : at + 1;
        }
    }

    std::size_t n_partners(std::size_t at) const { return n_judged - (end[at] - begin[at]); }
    std::size_t partner(std::size_t at, std::size_t number) const {
        return number < begin[at] ? number : number + (end[at] - begin[at]);
    }
};

// The probability that a document ranks above one whose label is lower by `difference`.
double target_of(double certainty, double difference) {
    if (difference == 0.0) return 0.5;
    const double target = std::isinf(certainty) ? 1.0 : 1.0 / (1.0 + exp_minus(certainty * std::abs(difference)));
    return difference > 0.0 ? target : 1.0 - target;
}

} // namespace

template <typename Real>
void QueryPairs<Real>::load_by_rank(const BatchQuery &query, std::span<const std::int64_t> ranked) {
    query_ = query;
    row_at_.resize(query.n);
    for (std::size_t rank = 0; rank < query.n; ++rank) {
        row_at_[rank] = static_cast<std::uint32_t>(ranked[query.start + rank] - query.start);
    }
    if (settings_.shuffle_ties) shuffle_ties();
    gather();
}

// Puts consecutive rows of equal scores in random order.
template <typename Real> void QueryPairs<Real>::shuffle_ties() {
    constexpr std::uint64_t low_half = 0xFFFFFFFF;
    for (std::size_t first = 0, last = 0; first < query_.n; first = last) {
        const double score = query_.scores[row_at_[first]];
        while (last < query_.n && query_.scores[row_at_[last]] == score) ++last;
        if (last - first == 1) continue;
        tie_keys_.clear();
        for (std::size_t rank = first; rank < last; ++rank) {
            tie_keys_.push_back((stream_of(query_.stream, row_at_[rank]) & ~low_half) | row_at_[rank]);
        }
        std::sort(tie_keys_.begin(), tie_keys_.end());
        for (std::size_t rank = first; rank < last; ++rank) {
            row_at_[rank] = static_cast<std::uint32_t>(tie_keys_[rank - first] & low_half);
        }
    }
}

template <typename Real>
void QueryPairs<Real>::load_by_row(const BatchQuery &query, std::span<const std::int64_t> rows) {
    query_ = query;
    row_at_.resize(query.n);
    if (rows.empty()) {
        std::iota(row_at_.begin(), row_at_.end(), 0U);
    } else {
        for (std::size_t place = 0; place < query.n; ++place) {
            row_at_[place] = static_cast<std::uint32_t>(rows[query.first_row + place] - query.first_row);
        }
    }
    gather();
}

// Fills all arrays that the loops read, in the order of places, and sets the sums to zero.
template <typename Real> void QueryPairs<Real>::gather() {
    const std::size_t n = query_.n;
    const auto scores = query_.scores;
    const auto [lowest, highest] = std::minmax_element(scores.begin(), scores.end());
    // In floats, scores are counted from the highest one, so that they keep the digits that matter.
    const double origin = n == 0 || sizeof(Real) == sizeof(double) ? 0.0 : *highest;
    rule_.divide_by_gap = settings_.gap_norm && n > 0 && *lowest != *highest;
    pad(score_, n, Real(0));
    pad(label_, n, std::numeric_limits<Real>::quiet_NaN());
    for (auto *zeros : {&gradient_, &curvature_}) {
        pad(*zeros, n, Real(0));
        std::fill(zeros->begin(), zeros->begin() + n, Real(0));
    }
    for (std::size_t place = 0; place < n; ++place) {
        score_[place] = static_cast<Real>(scores[row_at_[place]] - origin);
    }
    if (!data_.labels.empty()) {
        for (std::size_t place = 0; place < n; ++place) label_[place] = data_.labels[query_.first_row + row_at_[place]];
    }
    if (!data_.groups.document_weights.empty()) {
        pad(weight_, n, Real(0));
        for (std::size_t place = 0; place < n; ++place) {
            weight_[place] = data_.groups.document_weights[query_.first_row + row_at_[place]];
        }
    }
    if (settings_.delta != Delta::constant) {
        for (auto *values : {&worth_, &above_, &below_, &scale_}) pad(*values, n, Real(0));
        for (std::size_t place = 0; place < n; ++place) {
            worth_[place] = static_cast<Real>(data_.worth[query_.first_row + row_at_[place]]);
        }
        fill_swap_arrays<Real>(settings_.delta, std::span(worth_).first(n), data_.discount,
                               {std::span(above_).first(n), std::span(below_).first(n), std::span(scale_).first(n)});
    }
    gather_odds(n == 0 ? 0.0 : *highest - *lowest);
    sums_ = {};
}

// Computes exponentials of documents instead of pairs, where that loses no digits.
template <typename Real> void QueryPairs<Real>::gather_odds(double score_span) {
    has_odds_ = near_row_ != nullptr && settings_.shape * score_span <= widest_odds_span;
    if (!has_odds_) return;
    using V = Pack<Real, 16>;
    pad(odds_, query_.n, Real(1));
    pad(odds_against_, query_.n, Real(1));
    for (std::size_t place = 0; place < query_.n; place += sizeof(V) / sizeof(Real)) {
        const V odds = exp_minus<V>(-rule_.shape * load<V>(&score_[place])); // scores are 0 or less here
        store<V>(&odds_[place], odds);
        store<V>(&odds_against_[place], Real(1) / odds);
    }
}

template <typename Real> void QueryPairs<Real>::add_row(std::size_t i, std::size_t first) {
    const RankedQuery<Real> view{.n = query_.n,
                                 .score = score_.data(),
                                 .label = label_.data(),
                                 .worth = worth_.data(),
                                 .above = above_.data(),
                                 .below = below_.data(),
                                 .scale = scale_.data(),
                                 .weight = data_.groups.document_weights.empty() ? nullptr : weight_.data(),
                                 .odds = odds_.data(),
                                 .odds_against = odds_against_.data(),
                                 .gradient = gradient_.data(),
                                 .curvature = curvature_.data()};
    PairSums row;
    (has_odds_ ? near_row_ : loops_.row)(view, rule_, i, first, row);
    gradient_[i] += static_cast<Real>(row.force);
    curvature_[i] += static_cast<Real>(row.curvature);
    sums_.size += row.size;
    sums_.cost += row.cost;
}

template <typename Real>
void QueryPairs<Real>::add_pairs_of_labels(const BatchQuery &query, std::span<const std::int64_t> by_label,
                                           std::span<const std::int64_t> ranked) {
    const bool ranks_matter = settings_.delta != Delta::constant;
    // Up to this many documents, all pairs are no more than the draws would be.
    const std::size_t most_drawn = 2 * static_cast<std::size_t>(settings_.sampled) + 1;
    if (settings_.sampled > 0 && query.n > most_drawn) {
        ranks_matter ? load_by_rank(query, ranked) : load_by_row(query, {});
        add_sampled_pairs(by_label);
    } else if (ranks_matter || !is_whole(query.n)) {
        load_by_rank(query, ranked);
        add_ranked_pairs();
    } else {
        load_by_row(query, by_label);
        add_label_pairs();
    }
}

template <typename Real> void QueryPairs<Real>::add_ranked_pairs() {
    const std::size_t n_rows = is_whole(query_.n) ? query_.n : static_cast<std::size_t>(settings_.truncation);
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (!std::isnan(label_[i])) add_row(i, i + 1);
    }
}

// Labels fall, so the documents with a lower label than i's are those after its run of equal labels.
template <typename Real> void QueryPairs<Real>::add_label_pairs() {
    std::size_t run_end = 0;
    for (std::size_t i = 0; i < query_.n && !std::isnan(label_[i]); ++i) {
        while (run_end < query_.n && label_[run_end] == label_[i]) ++run_end;
        add_row(i, rule_.pair_equal_labels ? i + 1 : run_end);
    }
}

template <typename Real> void QueryPairs<Real>::find_places() {
    place_of_.resize(query_.n);
    for (std::size_t place = 0; place < query_.n; ++place)
        place_of_[row_at_[place]] = static_cast<std::uint32_t>(place);
}

// Every judged document draws partners among those with another label (or all others, where equal labels pair too).
// A pair whose documents have c and c' partners to choose from is drawn draws / c + draws / c' times on average:
// divided by that, sums over drawn pairs are unbiased.
template <typename Real> void QueryPairs<Real>::add_sampled_pairs(std::span<const std::int64_t> by_label) {
    find_places();
    const auto sorted = by_label.subspan(query_.first_row, query_.n);
    const auto label_at = [&](std::size_t at) { return data_.labels[sorted[at]]; };
    const auto row_of = [&](std::size_t at) { return static_cast<std::size_t>(sorted[at]) - query_.first_row; };
    const auto draws = static_cast<std::size_t>(settings_.sampled);
    const SortedRuns runs(query_.n, label_at, settings_.pair_equal_labels);
    for (std::size_t at = 0; at < runs.n_judged; ++at) {
        const std::size_t n_partners = runs.n_partners(at);
        if (n_partners == 0) return; // one label only
        const std::size_t row = row_of(at);
        for (std::size_t draw = 0; draw < draws; ++draw) {
            const auto random = stream_of(query_.stream, query_.n + row * draws + draw); // after those of ties
            const std::size_t other = runs.partner(at, below(random, n_partners));
            const double times = double(draws) / double(n_partners) + double(draws) / double(runs.n_partners(other));
            const double target = target_of(settings_.certainty, double(label_at(at)) - double(label_at(other)));
            buffer_pair(place_of_[row], place_of_[row_of(other)], target, 1.0 / times);
        }
    }
    empty_buffer();
}

template <typename Real>
void QueryPairs<Real>::add_listed_pairs(const PairTable &pairs, std::size_t first, std::size_t last) {
    find_places();
    const std::size_t cut = is_whole(query_.n) ? query_.n : static_cast<std::size_t>(settings_.truncation);
    for (std::size_t pair = first; pair < last; ++pair) {
        const auto a = place_of_[pairs.better[pair] - query_.first_row];
        const auto b = place_of_[pairs.worse[pair] - query_.first_row];
        if (std::min(a, b) < cut) buffer_pair(a, b, pairs.probability[pair], pairs.weight[pair]);
    }
    empty_buffer();
}

template <typename Real> double QueryPairs<Real>::delta(std::size_t a, std::size_t b) const {
    if (settings_.delta == Delta::constant) return 1.0;
    const auto [i, j] = std::minmax(a, b);
    return double(scale_[i]) * std::abs(worth_[i] - worth_[j]) * std::abs(above_[i] - below_[j]);
}

template <typename Real>
void QueryPairs<Real>::buffer_pair(std::size_t a, std::size_t b, double target, double weight) {
    if (!data_.groups.document_weights.empty()) weight *= double(weight_[a]) * double(weight_[b]);
    a_[buffered_] = static_cast<std::uint32_t>(a);
    b_[buffered_] = static_cast<std::uint32_t>(b);
    gap_[buffered_] = score_[a] - score_[b];
    target_[buffered_] = static_cast<Real>(target);
    pair_weight_[buffered_] = static_cast<Real>(weight * delta(a, b));
    if (++buffered_ == buffered_pairs) empty_buffer();
}

template <typename Real> void QueryPairs<Real>::empty_buffer() {
    const std::size_t padded = (buffered_ + lanes - 1) / lanes * lanes;
    for (auto *values : {gap_, target_, pair_weight_}) std::fill(values + buffered_, values + padded, Real(0));
    loops_.list({padded, gap_, target_, pair_weight_, force_, pair_curvature_}, rule_, sums_);
    for (std::size_t pair = 0; pair < buffered_; ++pair) {
        gradient_[a_[pair]] += force_[pair];
        gradient_[b_[pair]] -= force_[pair];
        curvature_[a_[pair]] += pair_curvature_[pair];
        curvature_[b_[pair]] += pair_curvature_[pair];
    }
    buffered_ = 0;
}

template <typename Real> void QueryPairs<Real>::unload(std::span<Real> gradient, std::span<Real> curvature) const {
    double factor = query_.weight;
    const double size = 2.0 * sums_.size; // each pair pushes two documents
    if (settings_.query_norm && size > 0.0) factor *= Elementary<double>::log2_of_e * log_of(1.0 + size) / size;
    for (std::size_t place = 0; place < query_.n; ++place) {
        gradient[row_at_[place]] = static_cast<Real>(factor * double(gradient_[place]));
        curvature[row_at_[place]] = static_cast<Real>(factor * double(curvature_[place]));
    }
}

template class QueryPairs<float>;
template class QueryPairs<double>;

} // namespace rankwright
