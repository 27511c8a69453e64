// Some rows of a feature matrix in the form that nets take: standardised, and without missing values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// `features` holds `n_features` values per row. Fills row k of `out` with (x - shift) · factor of row rows[k], feature
// by feature, and with 0 where x is missing (NaN).
void standardise_rows(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> rows,
                      std::span<const float> shift, std::span<const float> factor, std::span<float> out, int threads);

// Fills, feature by feature, how many values are known, and the sums of (x - centre) and of its square over them.
// Blocks of rows are summed one after another, whatever the number of threads.
void sum_moments(std::span<const float> features, std::size_t n_features, std::span<const double> centre,
                 std::span<double> count, std::span<double> total, std::span<double> squares, int threads);

} // namespace rankwright
