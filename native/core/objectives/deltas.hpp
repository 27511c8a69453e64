// By how much a metric changes when two documents swap ranks.
//
// For a rank i above a rank j, every metric here changes by  scale[i] · |worth[i] - worth[j]| · |above[i] - below[j]|
// with arrays that one pass over the ranks fills. `worth` comes from the labels (divided by what the metric divides
// by), `discount` from the metric; it does not rise and ends at the metric's cutoff.
#pragma once

#include <cstddef>
#include <span>

namespace rankwright {

enum class Delta { constant, discounted_gain, average_precision, reciprocal_rank, expected_reciprocal_rank };

template <typename Real> struct SwapArrays {
    std::span<Real> above, below, scale;
};

// Fills the arrays for documents whose worths, in rank order, are `worth`. Delta::constant needs none.
template <typename Real>
void fill_swap_arrays(Delta delta, std::span<const Real> worth, std::span<const double> discount,
                      const SwapArrays<Real> &arrays);

} // namespace rankwright
