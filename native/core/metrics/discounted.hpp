// Discounted cumulative gains.
#pragma once

#include <span>

#include "core/metrics/ranked_lists.hpp"

namespace rankwright {

// Fills `gains` with 2^label - 1, exactly where the label is whole.
void exponential_gains(std::span<const float> labels, std::span<double> gains, int threads);

// Fills, for each query, the discounted gain of its list, and the largest that any order of its documents has.
// Ranks beyond the last discount count nothing. Gains are one per row, and not negative.
void discounted_gains(std::span<const double> gains, const RankedLists &lists, std::span<const double> discounts,
                      std::span<double> found, std::span<double> ideal, int threads);

// Fills, for each query, the mean over p = 1, 2, … of the gain of its top p ranks as a share of the largest possible;
// NaN where there is nothing to gain. `discounts` covers the longest list.
void mean_gain_shares(std::span<const double> gains, const RankedLists &lists, std::span<const double> discounts,
                      std::span<double> means, int threads);

} // namespace rankwright
