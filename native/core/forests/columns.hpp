// The columns of a block of documents: what a forest compares.
#pragma once

#include <algorithm>
#include <vector>

#include "core/binning/column_codes.hpp"
#include "core/forests/forest.hpp"

namespace rankwright {

// Rows [first, first + count) of the data, in columns of `width` lanes.
struct BlockOfRows {
    std::size_t first, count, width;
};

// Turns codes of categories into 0 where the node's words send them left, and into 1 where right.
template <typename Lane> void choose_sides(const std::uint32_t *words, std::size_t count, Lane *lanes) {
    for (std::size_t row = 0; row < count; ++row) {
        const std::size_t code = lanes[row];
        lanes[row] = (words[code / 32] >> (code % 32)) & 1 ? 0 : 1;
    }
}

// Fills one column, with `lacking` for documents that lack its value, and returns whether there are any.
template <typename Lane>
bool fill_column(const ValueColumns &columns, std::size_t column, BlockOfRows block, bool lacking_left, Simd simd,
                 Lane *lanes) {
    const auto edges =
        columns.edges.subspan(columns.offsets[column], columns.offsets[column + 1] - columns.offsets[column]);
    const auto feature = static_cast<std::size_t>(columns.feature[column]);
    const float *values = columns.features.data + block.first * columns.features.n_columns + feature;
    const std::size_t stride = columns.features.n_columns;
    if (columns.category_words[column] >= 0) {
        for (std::size_t row = 0; row < block.count; ++row) {
            const std::size_t code = count_smaller(edges, values[row * stride]);
            const bool known = code < edges.size() && edges[code] == values[row * stride];
            lanes[row] = static_cast<Lane>(known ? code : edges.size());
        }
        choose_sides(columns.categories.data() + columns.category_words[column], block.count, lanes);
        return false;
    }
    const CodeRun<Lane> out{lanes, 1, static_cast<Lane>(lacking_left ? 0 : edges.size())};
    if constexpr (sizeof(Lane) == 1) {
        return search_table({values, block.count, stride}, columns.tables.data() + column * table_size, out, simd);
    } else {
        return search_edges({values, block.count, stride}, edges, out);
    }
}

template <typename Lane, typename Code>
bool fill_column(const CodeColumns<Code> &columns, std::size_t column, BlockOfRows block, bool lacking_left, Simd,
                 Lane *lanes) {
    constexpr std::size_t stride = Codes<Code>::slots;
    const Code *codes = columns.codes.column(static_cast<std::size_t>(columns.feature[column])) + block.first * stride;
    const auto missing = static_cast<Code>(columns.missing[column]);
    bool any_missing = false;
    for (std::size_t row = 0; row < block.count; ++row) {
        const Code code = codes[row * stride];
        any_missing |= code == missing;
        lanes[row] = static_cast<Lane>(code);
    }
    if (columns.category_words[column] >= 0) {
        choose_sides(columns.categories.data() + columns.category_words[column], block.count, lanes);
        return false;
    }
    if (any_missing && lacking_left) std::replace(lanes, lanes + block.count, static_cast<Lane>(missing), Lane{0});
    return any_missing;
}

// Fills all columns of a block: first with documents that lack a value on the right of every threshold, then, if there
// are such documents, again with them on the left. Returns whether there are.
template <typename Lane, typename Columns>
bool fill_columns(const Columns &columns, BlockOfRows block, Simd simd, Lane *lanes) {
    const std::size_t n_columns = columns.feature.size();
    bool any_missing = false;
    for (std::size_t column = 0; column < n_columns; ++column) {
        any_missing |= fill_column(columns, column, block, false, simd, lanes + column * block.width);
    }
    for (std::size_t column = 0; any_missing && column < n_columns; ++column) {
        fill_column(columns, column, block, true, simd, lanes + (n_columns + column) * block.width);
    }
    return any_missing;
}

} // namespace rankwright
