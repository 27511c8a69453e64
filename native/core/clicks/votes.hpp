// What clicks say about pairs of documents.
#pragma once

#include "core/clicks/lists.hpp"

namespace rankwright {

enum class VoteRule : int { skip_above, last_click, skip_above_and_next, next, neighbours, exposure };

// Votes of many lists, added up. Part p of the table has the slots p * capacity to (p + 1) * capacity; a query's votes
// are all in one part. A slot holds the query (-1 where it is free), the document voted for in the upper half of
// `pairs` and the other in the lower half, how much was voted where the first was shown above the other, and below.
struct VoteTable {
    std::span<std::int32_t> queries;
    std::span<std::uint64_t> pairs;
    std::span<std::int64_t> above;
    std::span<std::int64_t> below;
    std::span<std::int64_t> n_used; // of each part

    std::size_t n_parts() const { return n_used.size(); }
    std::size_t capacity() const { return queries.size() / n_used.size(); }
};

// How many votes a list casts at most.
std::size_t most_votes(VoteRule rule, std::span<const bool> clicked);

// Adds the votes of the lists. A part whose table is half full stops before a list, and done[p] tells which; it is
// where the next call goes on. Amounts are what a vote counts, by the ranks of the upper and the lower document (deeper
// ranks count as the last one); counts are how often each list was seen. Both are empty for 1 each.
void count_votes(const ShownLists &lists, std::span<const std::int64_t> counts, VoteRule rule,
                 std::span<const std::int64_t> amounts, std::size_t n_ranks, VoteTable table,
                 std::span<std::int64_t> done, int threads);

} // namespace rankwright
