#include "core/ordering.hpp"

#include <algorithm>
#include <numeric>

#include "core/parallel.hpp"

namespace rankwright {

void rank_rows(std::span<const double> scores, std::span<const std::int64_t> offsets, std::span<std::int64_t> rows,
               int threads) {
    constexpr std::size_t queries_at_a_time = 64;
    parallel_for(offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t query = first; query < last; ++query) {
            const auto start = offsets[query];
            const auto ranked = rows.subspan(start, offsets[query + 1] - start);
            std::iota(ranked.begin(), ranked.end(), start);
            std::stable_sort(ranked.begin(), ranked.end(),
                             [&](std::int64_t a, std::int64_t b) { return scores[a] > scores[b]; });
        }
    });
}

} // namespace rankwright
