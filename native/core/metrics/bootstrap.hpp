// Resamples: means over other draws of queries, and differences of two systems if only chance tells them apart.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Fills `means` with one weighted mean per resample: of as many values as there are, drawn with replacement.
// A resample depends on the seed and its own number alone. There must be fewer than 2^32 values.
void bootstrap_means(std::span<const double> values, std::span<const double> weights, std::uint64_t seed,
                     std::span<double> means, int threads);

// Fills `sums` with one sum per resample: of the values, each with a sign drawn at random. That is what the difference
// of two systems could have been if they were equally good. A resample depends on the seed and its number alone.
void random_sign_sums(std::span<const double> values, std::uint64_t seed, std::span<double> sums, int threads);

} // namespace rankwright
