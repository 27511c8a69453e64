// Products of small matrices: the layers of nets behind the first, and wide first layers.
#pragma once

#include <cstddef>

namespace rankwright {

// The left factor: the value of row r and term k is at values[r · between_rows + k · between_terms], so that a matrix
// can be read as it lies or turned.
struct LeftFactor {
    const float *values;
    std::size_t n_rows, n_terms, between_rows, between_terms;
};

// out[r, c] += sum over k of left(r, k) · right[k, c], term after term, so that neither the processor nor the way the
// product is cut into tiles changes a bit. Rows of `right` and `out` lie `width` apart, a multiple of 16.
void add_product(const LeftFactor &left, const float *right, std::size_t width, float *out);

} // namespace rankwright
