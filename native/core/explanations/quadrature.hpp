// Points and weights that integrate polynomials over [0, 1] exactly.
#pragma once

#include <cstddef>
#include <vector>

namespace rankwright {

struct Quadrature {
    std::vector<double> points, weights;
};

// Gauss and Legendre's rule of `n` points, exact up to degree 2n - 1. Only basic arithmetic: the same bits everywhere.
Quadrature gauss_legendre(std::size_t n);

} // namespace rankwright
