// Feature scaling that looks at one query at a time. NaN means missing: it stays missing and counts in no statistic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// `features` and `out` hold a row of `n_features` values per document; query q owns rows offsets[q] to offsets[q + 1].

// Fills `out` with (x - mean) / max|x|, mean and maximum over the query's documents; 0 where the maximum is 0.
void scale_by_mean(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> offsets,
                   std::span<float> out, int threads);

// Fills `out` with (x - min) / (max - min) over the query's documents; 0 where all of them are equal.
void scale_by_range(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> offsets,
                    std::span<float> out, int threads);

// Fills `out` with the place of x among the query's values of the feature, from -1 for the smallest to 1 for the
// largest; equal values share the mean of their places, and 0 where all of them are equal.
void scale_by_rank(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> offsets,
                   std::span<float> out, int threads);

} // namespace rankwright
