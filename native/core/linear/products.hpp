// Products that linear models take with a feature matrix: scores, sums of rows, Gram matrices. No value may be missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// Rows of `n_features` values one after another. Their number is told, because rows without features have no values.
struct Rows {
    std::span<const float> values;
    std::size_t n_rows, n_features;

    const float *row(std::size_t number) const { return values.subspan(number * n_features, n_features).data(); }
};

// Fills `out` with the scalar product of each row and the weights.
void linear_scores(const Rows &features, std::span<const double> weights, std::span<double> out, int threads);

// Fills `out` with the sum of all rows, each times its factor.
void sum_rows(const Rows &features, std::span<const double> factors, std::span<double> out, int threads);

// Fills `out`, n_features by n_features, with the sum over rows of factor · row · rowᵀ.
void gram_matrix(const Rows &features, std::span<const double> factors, std::span<double> out, int threads);

} // namespace rankwright
