// What a mean might have been: had other queries been drawn, or had chance alone told two systems apart.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Fills `means` with weighted means of as many values as there are, drawn again with replacement, one mean a resample.
// A resample depends on the seed and its own number alone. There must be fewer than 2^32 values.
void bootstrap_means(std::span<const double> values, std::span<const double> weights, std::uint64_t seed,
                     std::span<double> means, int threads);

// Fills `sums` with sums of the values, each with a sign drawn at random, one sum a resample: what the difference of
// two systems might have been if it did not matter which is which. A resample depends on the seed and its number alone.
void random_sign_sums(std::span<const double> values, std::uint64_t seed, std::span<double> sums, int threads);

} // namespace rankwright
