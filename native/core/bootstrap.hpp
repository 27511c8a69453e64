// The bootstrap: what a mean might have been, had other queries been drawn.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Fills `means` with weighted means of as many values as there are, drawn again with replacement, one mean a resample.
// A resample depends on the seed and its own number alone. There must be fewer than 2^32 values.
void bootstrap_means(std::span<const double> values, std::span<const double> weights, std::uint64_t seed,
                     std::span<double> means, int threads);

} // namespace rankwright
