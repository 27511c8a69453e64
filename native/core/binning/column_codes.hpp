// Codes of a run of one feature's values: how many of its edges are smaller than each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/common/simd.hpp"

namespace rankwright {

// Values of one feature in rows that follow each other.
struct Column {
    const float *values;
    std::size_t n_rows;
    std::size_t stride; // between values
};

// How many of `edges`, which ascend, are smaller than `value`: without branches, with one comparison for each halving.
inline std::size_t count_smaller(std::span<const float> edges, float value) {
    const float *first = edges.data();
    for (std::size_t length = edges.size(); length > 0;) {
        const std::size_t half = (length + 1) / 2;
        first += first[half - 1] < value ? half : 0;
        length -= half;
    }
    return static_cast<std::size_t>(first - edges.data());
}

// At most 255 edges as a table for a search in two rounds of 16 comparisons: the edges, padded with infinity to 256,
// and then every 16th of them again.
inline constexpr std::size_t table_edges = 256, table_step = 16, table_size = table_edges + table_step;
void fill_search_table(std::span<const float> edges, float *table);

// Where codes are written, and the code of NaN.
template <typename Code> struct CodeRun {
    Code *codes;
    std::size_t stride;
    Code missing;
};

// Each fills the codes of a column and returns whether any value was NaN.
template <typename Code> bool search_edges(Column column, std::span<const float> edges, CodeRun<Code> out);
bool search_table(Column column, const float *table, CodeRun<std::uint8_t> out, Simd simd);

extern template bool search_edges(Column, std::span<const float>, CodeRun<std::uint8_t>);
extern template bool search_edges(Column, std::span<const float>, CodeRun<std::uint16_t>);

} // namespace rankwright
