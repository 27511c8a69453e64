#include "core/objectives/noisy_orders.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/common/counter_random.hpp"
#include "core/common/vectors.hpp"
#include "core/ranking/sorting.hpp"

namespace rankwright {

namespace {

// The loops, compiled once for every vector width. Lanes never meet, so that all widths agree in every bit.

// Replaces each u, above 0 and below 1, by log(u / (1 - u)). Goes on to the end of a pack.
template <std::size_t bytes> [[gnu::always_inline]] inline void log_odds(double *values, std::size_t n) {
    using V = Pack<double, bytes>;
    for (std::size_t at = 0; at < n; at += bytes / sizeof(double)) {
        const V u = load<V>(values + at), v = 1.0 - u;
        const auto upper = u > v;
        const V size = log_of<V>((upper ? u : v) / (upper ? v : u));
        store<V>(values + at, upper ? size : -size);
    }
}

constexpr std::size_t counted_at_once = 64; // steps, which fill the registers

// Counts for each of n steps how many are higher. Goes on to a multiple of `counted_at_once`.
template <std::size_t bytes>
[[gnu::always_inline]] inline void count_higher(const std::int16_t *steps, std::size_t n, std::int16_t *counts) {
    using V __attribute__((vector_size(bytes))) = std::int16_t;
    constexpr std::size_t width = bytes / sizeof(std::int16_t), packs = counted_at_once / width;
    for (std::size_t first = 0; first < n; first += counted_at_once) {
        V own[packs], higher[packs];
        for (std::size_t pack = 0; pack < packs; ++pack) {
            std::memcpy(&own[pack], steps + first + pack * width, sizeof(V));
            higher[pack] = V{};
        }
        for (std::size_t j = 0; j < n; ++j) {
#pragma GCC unroll 8
            for (std::size_t pack = 0; pack < packs; ++pack) {
                if constexpr (bytes == 64) { // whose comparisons have masks for results
                    higher[pack] = own[pack] < steps[j] ? higher[pack] + 1 : higher[pack];
                } else {
                    higher[pack] -= own[pack] < steps[j]; // true is -1
                }
            }
        }
        // One by one: copied as a whole, the counters would live in memory instead of registers.
#pragma GCC unroll 8
        for (std::size_t pack = 0; pack < packs; ++pack) {
            std::memcpy(counts + first + pack * width, &higher[pack], sizeof(V));
        }
    }
}

// The orders of a query, by place: those of order k begin at k · stride.
template <typename Real> struct PlacedOrders {
    const Real *rank, *limit, *above, *below, *scale;
    std::size_t n_orders, stride, n;
    bool is_symmetric; // above and below are the same, and scale is 1
};

// Adds to weights[j], for places j after i, the sum over orders of what a swap with i changes, but for the difference
// of worths. Goes on to the end of a pack.
template <typename Real, std::size_t bytes, bool is_symmetric>
[[gnu::always_inline]] inline void sum_swaps(const PlacedOrders<Real> &orders, std::size_t i, Real *weights) {
    using V = Pack<Real, bytes>;
    constexpr std::size_t width = bytes / sizeof(Real), packs = is_symmetric ? 2 : 1;
    for (std::size_t j = i + 1; j < orders.n; j += packs * width) {
        V sum[packs];
        for (std::size_t pack = 0; pack < packs; ++pack) sum[pack] = load<V>(weights + j + pack * width);
        for (std::size_t k = 0, first = 0; k < orders.n_orders; ++k, first += orders.stride) {
            const std::size_t own = first + i;
#pragma GCC unroll 2
            for (std::size_t pack = 0; pack < packs; ++pack) {
                const std::size_t other = first + j + pack * width;
                const V rank = load<V>(orders.rank + other), above = load<V>(orders.above + other);
                V change;
                if constexpr (is_symmetric) {
                    change = absolute(orders.above[own] - above);
                } else {
                    const V down = orders.scale[own] * absolute(orders.above[own] - load<V>(orders.below + other));
                    const V up = load<V>(orders.scale + other) * absolute(above - orders.below[own]);
                    change = rank > orders.rank[own] ? down : up;
                }
                sum[pack] += where<V>(rank < orders.limit[own], change);
            }
        }
        for (std::size_t pack = 0; pack < packs; ++pack) store<V>(weights + j + pack * width, sum[pack]);
    }
}

template <typename Real> struct NoisyLoops {
    void (*log_odds)(double *, std::size_t);
    void (*count_higher)(const std::int16_t *, std::size_t, std::int16_t *);
    void (*sum_swaps)(const PlacedOrders<Real> &, std::size_t, Real *);
};

template <typename Real> struct Narrow {
    static void odds(double *values, std::size_t n) { log_odds<16>(values, n); }
    static void higher(const std::int16_t *steps, std::size_t n, std::int16_t *counts) {
        count_higher<16>(steps, n, counts);
    }
    static void swaps(const PlacedOrders<Real> &orders, std::size_t i, Real *weights) {
        orders.is_symmetric ? sum_swaps<Real, 16, true>(orders, i, weights)
                            : sum_swaps<Real, 16, false>(orders, i, weights);
    }
};

#if defined(__x86_64__)
#define RANKWRIGHT_AVX2 __attribute__((target("avx2")))

template <typename Real> struct Wide {
    RANKWRIGHT_AVX2 static void odds(double *values, std::size_t n) { log_odds<32>(values, n); }
    RANKWRIGHT_AVX2 static void higher(const std::int16_t *steps, std::size_t n, std::int16_t *counts) {
        count_higher<32>(steps, n, counts);
    }
    RANKWRIGHT_AVX2 static void swaps(const PlacedOrders<Real> &orders, std::size_t i, Real *weights) {
        orders.is_symmetric ? sum_swaps<Real, 32, true>(orders, i, weights)
                            : sum_swaps<Real, 32, false>(orders, i, weights);
    }
};

#define RANKWRIGHT_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

template <typename Real> struct Widest {
    RANKWRIGHT_AVX512 static void odds(double *values, std::size_t n) { log_odds<64>(values, n); }
    RANKWRIGHT_AVX512 static void higher(const std::int16_t *steps, std::size_t n, std::int16_t *counts) {
        count_higher<64>(steps, n, counts);
    }
};
#else
template <typename Real> using Wide = Narrow<Real>;
template <typename Real> using Widest = Narrow<Real>;
#endif

template <typename Real> NoisyLoops<Real> loops() {
    static const VectorWidth width = widest_vectors();
    switch (width) {
    case VectorWidth::avx512: // swaps read two packs of places, for which arrays have no room here
        return {Widest<Real>::odds, Widest<Real>::higher, Wide<Real>::swaps};
    case VectorWidth::avx2:
        return {Wide<Real>::odds, Wide<Real>::higher, Wide<Real>::swaps};
    case VectorWidth::sse:
        break;
    }
    return {Narrow<Real>::odds, Narrow<Real>::higher, Narrow<Real>::swaps};
}

// A key whose unsigned order is the numbers' descending order; -0 and 0 have the same.
std::uint32_t descending_key(float number) {
    const auto bits = std::bit_cast<std::int32_t>(number + 0.0F);
    return static_cast<std::uint32_t>(bits ^ (~(bits >> 31) & std::numeric_limits<std::int32_t>::max()));
}

constexpr std::size_t longest_counted_list = 256; // beyond it sorting is faster than counting

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
std::size_t NoisyOrders<Real>::load(const BatchQuery &query, std::span<std::uint32_t> row_at, std::size_t n_tops) {
    draw(query, row_at);
    const std::size_t n_brought_up = bring_up_tops(row_at, n_tops);
    gather_worth(data_, query, row_at, worth_);
    set_places(row_at);
    return n_brought_up;
}

template <typename Real> void NoisyOrders<Real>::draw(const BatchQuery &query, std::span<const std::uint32_t> ranked) {
    n_ = query.n;
    n_counted_ = settings_.truncation == 0 ? n_ : std::min(n_, static_cast<std::size_t>(settings_.truncation));
    n_kept_ = has_steps() && settings_.noise != 0.0 ? std::min(n_, n_counted_ + 1) : n_;
    order_.resize(n_orders() * n_kept_);
    const auto [lowest, highest] = range_of(query.scores);
    for (std::size_t k = 0; k < n_orders(); ++k) {
        const auto here = std::span(order_).subspan(k * n_kept_, n_kept_);
        const auto stream = stream_of(query.stream, ~std::uint64_t{k}); // those of rows and draws count from 0
        if (settings_.noise == 0.0) {
            std::copy(ranked.begin(), ranked.end(), here.begin());
            shuffle_ties(query.scores, stream, here, keys_);
            continue;
        }
        // Every other order has the noise of the one before turned round: half the draws, and means that vary less.
        const bool is_turned = k % 2 == 1;
        if (!is_turned) draw_noise(stream);
        add_noise(query, highest, is_turned ? -settings_.noise : settings_.noise);
        if (n_ > longest_counted_list) {
            n_kept_ < n_ ? order_tops(here) : order_by_keys(here);
            continue;
        }
        find_steps(static_cast<float>(highest - lowest));
        if (!order_by_counts(here)) order_by_keys(here);
    }
}

template <typename Real> void NoisyOrders<Real>::draw_noise(std::uint64_t stream) {
    constexpr double step = 1.0 / 4503599627370496.0; // 2^-52
    noise_.resize(n_ + lanes);
    for (std::size_t row = 0; row < n_; ++row) {
        noise_[row] = (static_cast<double>(stream_of(stream, row) >> 12) + 0.5) * step;
    }
    std::fill(noise_.begin() + n_, noise_.end(), 0.5);
    loops<Real>().log_odds(noise_.data(), n_);
}

// Scores are counted from the highest: floats then keep the digits that matter.
template <typename Real> void NoisyOrders<Real>::add_noise(const BatchQuery &query, double highest, double times) {
    noisy_.resize(n_);
    for (std::size_t row = 0; row < n_; ++row) {
        noisy_[row] = static_cast<float>(query.scores[row] - highest + times * noise_[row]);
    }
}

// Scores with noise in steps from 0 to 65,535, less the middle: whatever the noise, the first step is not above any of
// them, nor the last one below. Rounding keeps their order.
template <typename Real> void NoisyOrders<Real>::find_steps(float score_span) {
    constexpr float n_steps = 65535.0F, middle = 32768.0F, most_noise = 37.0F; // -log of 2^-53 is less
    const float widest = most_noise * static_cast<float>(std::abs(settings_.noise)), lowest = -score_span - widest;
    const float scale = n_steps / (widest - lowest);
    score_steps_.resize(n_ + counted_at_once);
    for (std::size_t row = 0; row < n_; ++row) {
        const float step = std::max(0.0F, std::min(n_steps, (noisy_[row] - lowest) * scale));
        score_steps_[row] = static_cast<std::int16_t>(static_cast<std::int32_t>(step - middle));
    }
}

// A document's rank is the number of higher steps; those of one step have the ranks from there on, by score. Gives up
// where two scores are equal, which noise makes rare, and where many have the same step.
template <typename Real> bool NoisyOrders<Real>::order_by_counts(std::span<std::uint32_t> order) {
    constexpr auto nobody = std::numeric_limits<std::uint32_t>::max();
    counts_.resize(n_ + counted_at_once);
    loops<Real>().count_higher(score_steps_.data(), n_, counts_.data());
    std::fill(order.begin(), order.end(), nobody);
    std::size_t n_meetings = 0;
    for (std::size_t row = 0; row < n_; ++row) {
        auto own = static_cast<std::uint32_t>(row);
        auto rank = static_cast<std::size_t>(counts_[row]);
        for (; rank < order.size() && order[rank] != nobody; ++rank) {
            if (noisy_[own] == noisy_[order[rank]] || ++n_meetings > n_) return false;
            if (noisy_[own] > noisy_[order[rank]]) std::swap(own, order[rank]);
        }
        if (rank < order.size()) order[rank] = own;
    }
    return std::find(order.begin(), order.end(), nobody) == order.end();
}

// Equal scores stay in row order.
template <typename Real> void NoisyOrders<Real>::order_tops(std::span<std::uint32_t> order) {
    constexpr int row_bits = 32;
    keys_.resize(n_);
    for (std::size_t row = 0; row < n_; ++row) {
        keys_[row] = std::uint64_t{descending_key(noisy_[row])} << row_bits | row;
    }
    const auto end = keys_.begin() + static_cast<std::ptrdiff_t>(order.size());
    std::nth_element(keys_.begin(), end - 1, keys_.end());
    std::sort(keys_.begin(), end);
    for (std::size_t rank = 0; rank < order.size(); ++rank) order[rank] = static_cast<std::uint32_t>(keys_[rank]);
}

// Equal scores stay in row order.
template <typename Real> void NoisyOrders<Real>::order_by_keys(std::span<std::uint32_t> order) {
    constexpr int row_bits = 32;
    keys_.resize(n_);
    scratch_.resize(n_);
    for (std::size_t row = 0; row < n_; ++row) {
        keys_[row] = std::uint64_t{descending_key(noisy_[row])} << row_bits | row;
    }
    sort_keys(keys_, scratch_, row_bits, 1);
    for (std::size_t rank = 0; rank < order.size(); ++rank) order[rank] = static_cast<std::uint32_t>(keys_[rank]);
}

template <typename Real>
std::size_t NoisyOrders<Real>::bring_up_tops(std::span<std::uint32_t> row_at, std::size_t n_tops) {
    if (n_counted_ == n_ || settings_.neighbours) return n_; // neighbours are found by rank
    is_top_.assign(n_, false);
    for (const auto row : row_at.first(n_tops)) is_top_[row] = true;
    for (std::size_t k = 0; k < n_orders(); ++k) {
        for (const auto row : order(k).first(n_counted_)) is_top_[row] = true;
    }
    const auto others = std::stable_partition(row_at.begin(), row_at.end(), [&](auto row) { return is_top_[row]; });
    return static_cast<std::size_t>(others - row_at.begin());
}

template <typename Real> void NoisyOrders<Real>::set_places(std::span<const std::uint32_t> row_at) {
    place_of_.resize(n_);
    for (std::size_t place = 0; place < n_; ++place) place_of_[row_at[place]] = static_cast<std::uint32_t>(place);
    if (has_steps()) {
        const bool are_rows = std::ranges::is_sorted(row_at); // places are rows already
        if (!are_rows) {
            for (auto &row : order_) row = place_of_[row];
        }
        return set_steps();
    }
    stride_ = n_ + lanes;
    for (auto *values : {&rank_, &limit_, &above_, &below_, &scale_}) values->resize(n_orders() * stride_);
    for (auto *values : {&ranked_worth_, &ranked_above_, &ranked_below_, &ranked_scale_}) values->resize(n_);
    for (std::size_t k = 0; k < n_orders(); ++k) {
        const auto here = std::span(order_).subspan(k * n_, n_);
        for (std::size_t rank = 0; rank < n_; ++rank) {
            here[rank] = place_of_[here[rank]];
            ranked_worth_[rank] = worth_[here[rank]];
        }
        fill_swap_arrays<Real>(settings_.delta, ranked_worth_, data_.discount,
                               {ranked_above_, ranked_below_, ranked_scale_});
        const std::size_t first = k * stride_;
        for (std::size_t rank = 0; rank < n_; ++rank) {
            const std::size_t at = first + here[rank];
            rank_[at] = static_cast<Real>(rank);
            limit_[at] = static_cast<Real>(rank < n_counted_ ? n_ : n_counted_);
            above_[at] = ranked_above_[rank];
            below_[at] = ranked_below_[rank];
            scale_[at] = ranked_scale_[rank];
        }
    }
}

template <typename Real> void NoisyOrders<Real>::set_steps() {
    const Real share = Real(1) / static_cast<Real>(n_orders());
    const auto at = [&](std::size_t rank) {
        return rank < data_.discount.size() ? static_cast<Real>(data_.discount[rank]) : Real(0);
    };
    for (std::size_t rank = steps_.size(); rank < n_kept_; ++rank) {
        steps_.push_back(share * std::abs(at(rank) - at(rank + 1)));
    }
}

template <typename Real> void NoisyOrders<Real>::fill_neighbours(std::size_t k, std::span<Real> weights) const {
    const auto here = order(k);
    if (!has_steps()) {
        for (std::size_t rank = 0; rank < weights.size(); ++rank) {
            weights[rank] = static_cast<Real>(weight_in(k, here[rank], here[rank + 1]));
        }
        return;
    }
    Real upper = weights.empty() ? Real(0) : worth_[here[0]];
    for (std::size_t rank = 0; rank < weights.size(); ++rank) {
        const Real lower = worth_[here[rank + 1]];
        weights[rank] = steps_[rank] * std::abs(upper - lower);
        upper = lower;
    }
}

// What swapping the documents at two places changes in order k, over the number of orders.
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
    constexpr std::size_t long_list = 8; // times the counted ranks: most pairs then weigh nothing in most orders
    std::fill(weights + i + 1, weights + n_, Real(0));
    if (n_ <= long_list * n_counted_) {
        add_orders(0, n_orders(), i, weights);
    } else {
        for (std::size_t k = 0; k < n_orders(); ++k) add_long_order(k, i, weights);
    }
    const Real share = Real(1) / static_cast<Real>(n_orders());
    for (std::size_t j = i + 1; j < n_; ++j) weights[j] *= std::abs(worth_[i] - worth_[j]) * share;
}

template <typename Real>
void NoisyOrders<Real>::add_orders(std::size_t k, std::size_t n_orders, std::size_t i, Real *weights) const {
    const std::size_t first = k * stride_;
    const bool is_symmetric = settings_.delta == Delta::discounted_gain;
    loops<Real>().sum_swaps({&rank_[first], &limit_[first], &above_[first], &below_[first], &scale_[first], n_orders,
                             stride_, n_, is_symmetric},
                            i, weights);
}

// Below the counted ranks, only pairs with the documents there count.
template <typename Real> void NoisyOrders<Real>::add_long_order(std::size_t k, std::size_t i, Real *weights) const {
    const std::size_t first = k * stride_;
    if (rank_[first + i] < static_cast<Real>(n_counted_)) return add_orders(k, 1, i, weights);
    for (const auto top : order(k).first(n_counted_)) {
        if (top > i) weights[top] += scale_[first + top] * std::abs(above_[first + top] - below_[first + i]);
    }
}

template class NoisyOrders<float>;
template class NoisyOrders<double>;

} // namespace rankwright
