// How many pairs of documents a list has the wrong way round.
#pragma once

#include <span>

#include "core/metrics/ranked_lists.hpp"

namespace rankwright {

// Fills, for each query, how many pairs of its documents have different labels, and how many of those its list has
// the wrong way round. A tied pair counts as half wrong, a pair of documents that were not retrieved as wrong.
void wrong_pairs(std::span<const float> labels, const RankedLists &lists, std::span<double> wrong,
                 std::span<double> n_pairs, int threads);

} // namespace rankwright
