// Sums of products over a row of features, in an order that no processor changes: eight lanes, then their sum.
#pragma once

#include <cstddef>

#include "core/common/vectors.hpp"

namespace rankwright {

using FourDoubles = Pack<double, 32>;
using FourFloats = Pack<float, 16>;

[[gnu::always_inline]] inline double sum_of(FourDoubles a, FourDoubles b) {
    const FourDoubles both = a + b;
    return (both[0] + both[1]) + (both[2] + both[3]);
}

// The scalar product of a row in single precision with one in double precision, in double precision.
[[gnu::always_inline]] inline double dot(const float *row, const double *weights, std::size_t n) {
    FourDoubles even{}, odd{};
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        even += __builtin_convertvector(load<FourFloats>(row + k), FourDoubles) * load<FourDoubles>(weights + k);
        odd += __builtin_convertvector(load<FourFloats>(row + k + 4), FourDoubles) * load<FourDoubles>(weights + k + 4);
    }
    double rest = 0.0;
    for (; k < n; ++k) rest += static_cast<double>(row[k]) * weights[k];
    return sum_of(even, odd) + rest;
}

// The scalar product of two rows in single precision, in double precision.
[[gnu::always_inline]] inline double dot(const float *row, const float *other, std::size_t n) {
    FourDoubles even{}, odd{};
    std::size_t k = 0;
    for (; k + 8 <= n; k += 8) {
        even += __builtin_convertvector(load<FourFloats>(row + k), FourDoubles) *
                __builtin_convertvector(load<FourFloats>(other + k), FourDoubles);
        odd += __builtin_convertvector(load<FourFloats>(row + k + 4), FourDoubles) *
               __builtin_convertvector(load<FourFloats>(other + k + 4), FourDoubles);
    }
    double rest = 0.0;
    for (; k < n; ++k) rest += static_cast<double>(row[k]) * static_cast<double>(other[k]);
    return sum_of(even, odd) + rest;
}

// Adds `factor` times the row.
[[gnu::always_inline]] inline void add_row(const float *row, double factor, std::size_t n, double *to) {
    for (std::size_t k = 0; k < n; ++k) to[k] += factor * static_cast<double>(row[k]);
}

} // namespace rankwright
