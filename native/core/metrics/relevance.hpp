// Metrics of documents that are relevant or not, and of users who stop at what satisfies them.
#pragma once

#include <span>

#include "core/metrics/ranked_lists.hpp"

namespace rankwright {

// Fills, for each query, the sum of the precisions at the ranks, below `cutoff`, of its relevant documents, and how
// many of its documents are relevant. Of tied documents it is the sum expected if their order were drawn at random.
void precision_sums(std::span<const bool> relevant, const RankedLists &lists, std::int64_t cutoff,
                    std::span<double> sums, std::span<std::int64_t> n_relevant, int threads);

// A user reads each list from the top and stops at a document with the probability `stop` has for its row. Fills the
// expected reciprocal of the rank, counted from 1, where they stop, and the probability that they stop at all, both
// within the first `cutoff` ranks. Of tied documents both are expectations over their orders.
void read_until_satisfied(std::span<const double> stop, const RankedLists &lists, std::int64_t cutoff,
                          std::span<double> reciprocal, std::span<double> stopped, int threads);

} // namespace rankwright
