#include "core/objectives/noisy_orders.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/common/counter_random.hpp"
#include "core/common/vectors.hpp"

namespace rankwright {

namespace {

// log(u / (1 - u)), u uniform between 0 and 1, which it never is.
double logistic_noise(std::uint64_t random) {
    constexpr double step = 1.0 / 4503599627370496.0; // 2^-52
    const double u = (static_cast<double>(random >> 12) + 0.5) * step, v = 1.0 - u;
    return u > v ? log_of(u / v) : -log_of(v / u);
}

// The documents of one order, by place.
template <typename Real> struct PlacedOrder {
    const Real *rank, *above, *below, *scale;
};

// Adds to weights[j], for places j from `first` on, what a swap with i changes, but for the difference of worths. Goes
// on to the end of a pack.
template <typename Real, std::size_t bytes>
[[gnu::always_inline]] inline void add_swaps(const PlacedOrder<Real> &order, std::size_t i, std::size_t first,
                                             std::size_t n, Real *weights) {
    using V = Pack<Real, bytes>;
    const Real rank = order.rank[i], above = order.above[i], below = order.below[i], scale = order.scale[i];
    for (std::size_t j = first; j < n; j += bytes / sizeof(Real)) {
        const V i_above = scale * absolute(above - load<V>(order.below + j));
        const V j_above = load<V>(order.scale + j) * absolute(load<V>(order.above + j) - below);
        const V change = load<V>(order.rank + j) > rank ? i_above : j_above;
        store<V>(weights + j, load<V>(weights + j) + change);
    }
}

template <typename Real>
void add_swaps_narrow(const PlacedOrder<Real> &order, std::size_t i, std::size_t first, std::size_t n, Real *weights) {
    add_swaps<Real, 16>(order, i, first, n, weights);
}

#if defined(__x86_64__)
template <typename Real>
__attribute__((target("avx2"))) void add_swaps_wide(const PlacedOrder<Real> &order, std::size_t i, std::size_t first,
                                                    std::size_t n, Real *weights) {
    add_swaps<Real, 32>(order, i, first, n, weights);
}
#else
template <typename Real>
void add_swaps_wide(const PlacedOrder<Real> &order, std::size_t i, std::size_t first, std::size_t n, Real *weights) {
    add_swaps<Real, 16>(order, i, first, n, weights);
}
#endif

} // namespace

void shuffle_ties(std::span<const double> scores, std::uint64_t stream, std::span<std::uint32_t> ranked,
                  std::vector<std::uint64_t> &keys) {
    constexpr std::uint64_t low_half = 0xFFFFFFFF;
    for (std::size_t first = 0, last = 0; first < ranked.size(); first = last) {
        const double score = scores[ranked[first]];
        while (last < ranked.size() && scores[ranked[last]] == score) ++last;
        if (last - first == 1) continue;
        keys.clear();
        for (std::size_t rank = first; rank < last; ++rank) {
            keys.push_back((stream_of(stream, ranked[rank]) & ~low_half) | ranked[rank]);
        }
        std::sort(keys.begin(), keys.end());
        for (std::size_t rank = first; rank < last; ++rank) {
            ranked[rank] = static_cast<std::uint32_t>(keys[rank - first] & low_half);
        }
    }
}

template <typename Real>
void NoisyOrders<Real>::draw(const BatchQuery &query, std::span<const std::uint32_t> ranked) {
    n_ = query.n;
    n_counted_ = settings_.truncation == 0 ? n_ : std::min(n_, static_cast<std::size_t>(settings_.truncation));
    order_.resize(n_orders() * n_);
    sorted_.resize(n_);
    for (std::size_t k = 0; k < n_orders(); ++k) {
        const auto here = std::span(order_).subspan(k * n_, n_);
        const auto stream = stream_of(query.stream, ~std::uint64_t{k}); // those of rows and draws count from 0
        if (settings_.noise == 0.0) {
            std::copy(ranked.begin(), ranked.end(), here.begin());
            shuffle_ties(query.scores, stream, here, tie_keys_);
            continue;
        }
        add_noise(query, stream);
        rank_list(noisy_, sorted_, buffers_);
        for (std::size_t rank = 0; rank < n_; ++rank) here[rank] = static_cast<std::uint32_t>(sorted_[rank]);
    }
}

template <typename Real> void NoisyOrders<Real>::add_noise(const BatchQuery &query, std::uint64_t stream) {
    noisy_.resize(n_);
    for (std::size_t row = 0; row < n_; ++row) {
        noisy_[row] = query.scores[row] + settings_.noise * logistic_noise(stream_of(stream, row));
    }
}

template <typename Real>
std::size_t NoisyOrders<Real>::bring_up_tops(std::span<std::uint32_t> row_at, std::size_t n_tops) {
    if (n_counted_ == n_) return n_;
    is_top_.assign(n_, false);
    for (const auto row : row_at.first(n_tops)) is_top_[row] = true;
    for (std::size_t k = 0; k < n_orders(); ++k) {
        for (const auto row : order(k).first(n_counted_)) is_top_[row] = true;
    }
    const auto others = std::stable_partition(row_at.begin(), row_at.end(), [&](auto row) { return is_top_[row]; });
    return static_cast<std::size_t>(others - row_at.begin());
}

template <typename Real>
void NoisyOrders<Real>::set_places(std::span<const std::uint32_t> place_of, const Real *worth) {
    worth_ = worth;
    stride_ = n_ + lanes;
    for (auto *values : {&rank_, &above_, &below_, &scale_}) values->resize(n_orders() * stride_);
    for (auto *values : {&ranked_worth_, &ranked_above_, &ranked_below_, &ranked_scale_}) values->resize(n_);
    for (std::size_t k = 0; k < n_orders(); ++k) {
        const auto here = std::span(order_).subspan(k * n_, n_);
        for (std::size_t rank = 0; rank < n_; ++rank) {
            here[rank] = place_of[here[rank]];
            ranked_worth_[rank] = worth[here[rank]];
        }
        fill_swap_arrays<Real>(settings_.delta, ranked_worth_, data_.discount,
                               {ranked_above_, ranked_below_, ranked_scale_});
        const std::size_t first = k * stride_;
        for (std::size_t rank = 0; rank < n_; ++rank) {
            const std::size_t at = first + here[rank];
            rank_[at] = static_cast<Real>(rank);
            above_[at] = ranked_above_[rank];
            below_[at] = ranked_below_[rank];
            scale_[at] = ranked_scale_[rank];
        }
    }
}

template <typename Real> double NoisyOrders<Real>::weight_in(std::size_t k, std::size_t a, std::size_t b) const {
    const std::size_t first = k * stride_;
    const bool a_above = rank_[first + a] < rank_[first + b];
    const std::size_t i = first + (a_above ? a : b), j = first + (a_above ? b : a);
    if (rank_[i] >= static_cast<Real>(n_counted_)) return 0.0;
    const Real change = scale_[i] * std::abs(above_[i] - below_[j]) * std::abs(worth_[a] - worth_[b]);
    return double(change) / double(n_orders());
}

template <typename Real> double NoisyOrders<Real>::weight(std::size_t a, std::size_t b) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < n_orders(); ++k) sum += weight_in(k, a, b);
    return sum;
}

template <typename Real> void NoisyOrders<Real>::fill_row(std::size_t i, Real *weights) const {
    std::fill(weights + i + 1, weights + n_ + lanes, Real(0));
    const auto add_all = width_ == VectorWidth::avx2 ? add_swaps_wide<Real> : add_swaps_narrow<Real>;
    for (std::size_t k = 0; k < n_orders(); ++k) {
        const std::size_t first = k * stride_;
        const PlacedOrder<Real> here{&rank_[first], &above_[first], &below_[first], &scale_[first]};
        if (here.rank[i] < static_cast<Real>(n_counted_)) {
            add_all(here, i, i + 1, n_, weights);
            continue;
        }
        for (const auto top : order(k).first(n_counted_)) {
            if (top > i) weights[top] += here.scale[top] * std::abs(here.above[top] - here.below[i]);
        }
    }
    const Real share = Real(1) / static_cast<Real>(n_orders());
    for (std::size_t j = i + 1; j < n_; ++j) weights[j] *= std::abs(worth_[i] - worth_[j]) * share;
}

template class NoisyOrders<float>;
template class NoisyOrders<double>;

} // namespace rankwright
