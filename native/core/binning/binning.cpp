#include "core/binning/binning.hpp"

#include <algorithm>
#include <vector>

#include "core/binning/column_codes.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_a_time = 256; // their codes of one group stay in the first-level cache

template <typename Code> void search_categories(Column column, std::span<const float> edges, CodeRun<Code> out) {
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float value = column.values[row * column.stride];
        const std::size_t code = count_smaller(edges, value);
        const bool known = code < edges.size() && edges[code] == value;
        out.codes[row * out.stride] = known ? static_cast<Code>(code) : out.missing;
    }
}

std::vector<float> search_tables(const BinEdges &edges) {
    std::vector<float> tables(edges.categorical.size() * table_size);
    for (std::size_t feature = 0; feature < edges.categorical.size(); ++feature) {
        if (!edges.categorical[feature]) fill_search_table(edges.of(feature), tables.data() + feature * table_size);
    }
    return tables;
}

// Rows first to last in the given order, one after another; where no order is given, where they are.
const float *rows_in_order(FloatTable features, std::span<const std::int64_t> order, std::size_t first,
                           std::size_t last, std::vector<float> &memory) {
    const std::size_t width = features.n_columns;
    if (order.empty()) return features.data + first * width;
    memory.resize((last - first) * width);
    for (std::size_t place = first; place < last; ++place) {
        std::copy_n(features.data + static_cast<std::size_t>(order[place]) * width, width,
                    memory.data() + (place - first) * width);
    }
    return memory.data();
}

} // namespace

template <typename Code>
void bin_features(FloatTable features, std::span<const std::int64_t> order, const BinEdges &edges,
                  std::size_t first_row, Codes<Code> codes, int threads, Simd simd) {
    constexpr bool bytes = sizeof(Code) == 1;
    const std::vector<float> tables = bytes ? search_tables(edges) : std::vector<float>();
    const auto bin_column = [&](std::size_t feature, Column column, Code *codes_of_column) {
        const CodeRun<Code> out{codes_of_column, codes.slots, static_cast<Code>(edges.missing_code(feature))};
        if (edges.categorical[feature]) return search_categories(column, edges.of(feature), out);
        if constexpr (bytes) {
            search_table(column, tables.data() + feature * table_size, out, simd);
        } else {
            search_edges(column, edges.of(feature), out);
        }
    };
    parallel_for(features.n_rows, threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        std::vector<float> memory;
        const float *rows = rows_in_order(features, order, first, last, memory);
        for (std::size_t slot = 0; slot < codes.n_groups * codes.slots; ++slot) {
            Code *out = codes.column(slot) + (first_row + first) * codes.slots;
            if (slot < features.n_columns) {
                bin_column(slot, {rows + slot, last - first, features.n_columns}, out);
            } else {
                for (std::size_t row = 0; row < last - first; ++row) out[row * codes.slots] = 0;
            }
        }
    });
}

template void bin_features(FloatTable, std::span<const std::int64_t>, const BinEdges &, std::size_t,
                           Codes<std::uint8_t>, int, Simd);
template void bin_features(FloatTable, std::span<const std::int64_t>, const BinEdges &, std::size_t,
                           Codes<std::uint16_t>, int, Simd);

} // namespace rankwright
