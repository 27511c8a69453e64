// From feature values to bin codes.
#pragma once

#include <cstdint>
#include <span>

#include "core/binning/codes.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

// A table of floats, row after row.
struct FloatTable {
    const float *data;
    std::size_t n_rows;
    std::size_t n_columns;
};

// Fills thresholds[f * (max_bins - 1) + i] with the places where the bins of feature f meet, in ascending order, and
// n_thresholds[f] with how many there are, from the values in the given rows. NaN is left out.
// Up to `max_bins` distinct values get a bin each. If there are more, they share bins of about equal numbers of rows,
// but a value with more rows than such a bin gets its own.
void find_thresholds(FloatTable features, std::span<const std::int64_t> rows, std::int64_t max_bins,
                     std::span<float> thresholds, std::span<std::int64_t> n_thresholds, int threads);

// How the values of each feature become codes. Feature f owns edges[offsets[f]] to edges[offsets[f + 1]], ascending.
struct BinEdges {
    std::span<const float> edges;
    std::span<const std::int64_t> offsets;
    std::span<const bool> categorical;

    std::span<const float> of(std::size_t feature) const {
        return edges.subspan(offsets[feature], offsets[feature + 1] - offsets[feature]);
    }
    // The code of values without a bin: NaN, and a category without an edge. It is also the number of bins.
    std::size_t missing_code(std::size_t feature) const { return of(feature).size() + (categorical[feature] ? 0 : 1); }
};

// Fills the codes of rows first_row, first_row + 1, … with those of the rows of `features`: for a number, how many
// edges are smaller; for a category, the place of the edge equal to it.
template <typename Code>
void bin_features(FloatTable features, std::span<const std::int64_t> order, const BinEdges &edges,
                  std::size_t first_row, Codes<Code> codes, int threads, Simd simd = simd_level());

extern template void bin_features(FloatTable, std::span<const std::int64_t>, const BinEdges &, std::size_t,
                                  Codes<std::uint8_t>, int, Simd);
extern template void bin_features(FloatTable, std::span<const std::int64_t>, const BinEdges &, std::size_t,
                                  Codes<std::uint16_t>, int, Simd);

} // namespace rankwright
