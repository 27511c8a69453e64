// The rows of a matrix whose scalar products with queries are largest, exactly.
#pragma once

#include <cstdint>
#include <span>

#include "core/candidates/search.hpp"

namespace rankwright {

// A row for each document, in single precision; `scales` are what its products are multiplied by, or empty.
struct VectorRows {
    std::span<const float> values;
    std::size_t width;
    std::span<const double> scales;

    std::size_t size() const { return width == 0 ? 0 : values.size() / width; }
};

// Fills the best documents of each query, of those whose entry in `kept` is not 0 where there are such. Of documents
// with equal products the first is better; products that are NaN are passed over. `queries` has a row for each.
void top_vectors(const VectorRows &rows, std::span<const double> queries, std::span<const std::uint8_t> kept,
                 const TopDocuments &tops, int threads);

} // namespace rankwright
