// Lists and documents that are the same.
#pragma once

#include "core/clicks/lists.hpp"

namespace rankwright {

// For each list a hash of its content: query, documents and clicks.
void hash_lists(const ShownLists &lists, std::span<std::uint64_t> hashes, int threads);

// For each list, by its hash, the first list that equals it.
void group_lists(const ShownLists &lists, std::span<const std::uint64_t> hashes, std::span<std::int64_t> first,
                 int threads);

// The documents and clicks of the lists at some places, one list after another.
void take_lists(const ShownLists &lists, std::span<const std::int64_t> places, std::span<const std::int64_t> offsets,
                std::span<std::int32_t> documents, std::span<bool> clicked, int threads);

// For each row of query q, rows starts[q] to starts[q + 1], the place of its document among the query's distinct
// documents in ascending order, and for each query how many those are.
void number_documents(std::span<const std::int64_t> starts, std::span<const std::int32_t> documents,
                      std::span<std::int32_t> numbers, std::span<std::int64_t> n_distinct, int threads);

// The places of what belongs to queries 0 to n_queries - 1, in ascending order of the query, then of the key; where
// both are equal, places stay in order.
void order_by_query(std::span<const std::int32_t> queries, std::span<const std::uint64_t> keys, std::size_t n_queries,
                    std::span<std::int64_t> order, int threads);

} // namespace rankwright
