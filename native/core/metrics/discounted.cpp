#include "core/metrics/discounted.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ranking/sorting.hpp"

namespace rankwright {

namespace {

constexpr std::size_t short_head = 32; // up to this many best gains, keeping them in order is faster than sorting all

// The mean gain of tied documents: each of them is equally likely at each of their ranks.
double mean_gain(std::span<const double> gains, std::span<const std::int64_t> rows) {
    double sum = 0.0;
    for (const auto row : rows) sum += gains[row];
    return sum / static_cast<double>(rows.size());
}

// Calls use(rank, gain expected there) for the first `depth` ranks.
template <typename Use>
void for_gains(std::span<const double> gains, const RankedList &list, std::size_t depth, Use &&use) {
    for (std::size_t rank = 0; rank < depth;) {
        const std::size_t end = list.run_end(rank);
        const double gain =
            end == rank + 1 ? gains[list.rows[rank]] : mean_gain(gains, list.rows.subspan(rank, end - rank));
        for (; rank < std::min(end, depth); ++rank) use(rank, gain);
    }
}

double head_ideal(std::span<const double> gains, std::span<const std::int64_t> rows,
                  std::span<const double> discounts) {
    std::array<double, short_head> best;
    std::size_t n_best = 0;
    for (const auto row : rows) {
        const double gain = gains[row];
        if (n_best == discounts.size()) {
            if (gain <= best[n_best - 1]) continue;
            --n_best;
        }
        std::size_t place = n_best++;
        for (; place > 0 && best[place - 1] < gain; --place) best[place] = best[place - 1];
        best[place] = gain;
    }
    double sum = 0.0;
    for (std::size_t rank = 0; rank < n_best; ++rank) sum += best[rank] * discounts[rank];
    return sum;
}

std::vector<double> sorted_gains(std::span<const double> gains, std::span<const std::int64_t> rows) {
    std::vector<std::uint64_t> keys(rows.size()), scratch(rows.size());
    std::transform(rows.begin(), rows.end(), keys.begin(), [&](auto row) { return descending_key(gains[row]); });
    sort_keys(keys, scratch, 0, 1);
    std::vector<double> sorted(rows.size());
    std::transform(keys.begin(), keys.end(), sorted.begin(), number_of_descending_key);
    return sorted;
}

double ideal_gain(std::span<const double> gains, std::span<const std::int64_t> rows,
                  std::span<const double> discounts) {
    if (discounts.empty()) return 0.0;
    if (discounts.size() <= short_head) return head_ideal(gains, rows, discounts);
    const auto sorted = sorted_gains(gains, rows);
    double sum = 0.0;
    for (std::size_t rank = 0; rank < std::min(sorted.size(), discounts.size()); ++rank)
        sum += sorted[rank] * discounts[rank];
    return sum;
}

double mean_share(std::span<const double> gains, const RankedList &list, std::span<const double> discounts) {
    const auto best = sorted_gains(gains, list.rows);
    if (best.empty() || best[0] == 0.0) return std::numeric_limits<double>::quiet_NaN();
    if (list.n_ranked == 0) return 0.0;
    double found = 0.0, ideal = 0.0, shares = 0.0;
    for_gains(gains, list, list.n_ranked, [&](std::size_t rank, double gain) {
        found += gain * discounts[rank];
        ideal += best[rank] * discounts[rank];
        shares += found / ideal;
    });
    return shares / static_cast<double>(list.n_ranked);
}

} // namespace

void exponential_gains(std::span<const float> labels, std::span<double> gains, int threads) {
    constexpr std::size_t labels_at_a_time = 1 << 15;
    constexpr float most_exact = 52; // 2^53 - 1 is the last whole number of a double without gaps
    parallel_for(labels.size(), threads, labels_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            const float label = labels[row];
            const bool whole =
                label >= 0 && label <= most_exact && label == static_cast<float>(static_cast<int>(label));
            gains[row] = whole ? static_cast<double>((std::uint64_t{1} << static_cast<int>(label)) - 1)
                               : std::exp2(static_cast<double>(label)) - 1.0;
        }
    });
}

void discounted_gains(std::span<const double> gains, const RankedLists &lists, std::span<const double> discounts,
                      std::span<double> found, std::span<double> ideal, int threads) {
    for_lists(lists, threads, [&](std::size_t query, const RankedList &list) {
        double sum = 0.0;
        for_gains(gains, list, std::min(discounts.size(), list.n_ranked),
                  [&](std::size_t rank, double gain) { sum += gain * discounts[rank]; });
        found[query] = sum;
        ideal[query] = ideal_gain(gains, list.rows, discounts);
    });
}

void mean_gain_shares(std::span<const double> gains, const RankedLists &lists, std::span<const double> discounts,
                      std::span<double> means, int threads) {
    for_lists(lists, threads,
              [&](std::size_t query, const RankedList &list) { means[query] = mean_share(gains, list, discounts); });
}

} // namespace rankwright
