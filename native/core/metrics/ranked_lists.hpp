// The ranked lists every metric reads, one per query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/common/parallel.hpp"

namespace rankwright {

// One query's documents: the first `n_ranked` rows are its list, best first; rows after them were not retrieved, and
// count only towards what could have been found.
struct RankedList {
    std::span<const std::int64_t> rows;
    std::size_t n_ranked;
    std::span<const bool> tied; // tied with the rank before; empty where ties do not count

    // The end of the run of tied documents that starts at `rank`.
    std::size_t run_end(std::size_t rank) const {
        std::size_t end = rank + 1;
        if (!tied.empty())
            while (end < n_ranked && tied[end]) ++end;
        return end;
    }
};

struct RankedLists {
    std::span<const std::int64_t> offsets, n_ranked, rows;
    std::span<const bool> tied; // empty, or one per rank

    RankedList operator[](std::size_t query) const {
        const auto start = static_cast<std::size_t>(offsets[query]);
        const auto size = static_cast<std::size_t>(offsets[query + 1]) - start;
        return {rows.subspan(start, size), static_cast<std::size_t>(n_ranked[query]),
                tied.empty() ? tied : tied.subspan(start, size)};
    }
};

// Calls body(query, its list) for every query.
template <typename Body> void for_lists(const RankedLists &lists, int threads, Body &&body) {
    constexpr std::size_t queries_at_a_time = 64;
    parallel_for(lists.offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t query = first; query < last; ++query) body(query, lists[query]);
    });
}

} // namespace rankwright
