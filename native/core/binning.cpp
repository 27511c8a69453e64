#include "core/binning.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "core/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_a_time = 256; // their lines of one group stay in the first-level cache
constexpr std::size_t table_size = 256;     // edges of a feature with one-byte codes, padded with infinity
constexpr std::size_t table_step = 16;      // a first look at every 16th edge finds the 16 for the second

// A run of one feature's values, and where their codes go.
struct Column {
    const float *values;
    std::size_t n_rows;
    std::size_t stride; // between values
};

// How many of `edges` are smaller than `value`: a search without branches, one comparison a halving.
std::size_t count_smaller(std::span<const float> edges, float value) {
    const float *first = edges.data();
    for (std::size_t length = edges.size(); length > 0;) {
        const std::size_t half = (length + 1) / 2;
        first += first[half - 1] < value ? half : 0;
        length -= half;
    }
    return static_cast<std::size_t>(first - edges.data());
}

template <typename Code>
void bin_numbers(Column column, std::span<const float> edges, std::size_t missing, Code *codes) {
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float value = column.values[row * column.stride];
        const std::size_t code = count_smaller(edges, value);
        codes[row * Codes<Code>::slots] = static_cast<Code>(value != value ? missing : code);
    }
}

template <typename Code>
void bin_categories(Column column, std::span<const float> edges, std::size_t missing, Code *codes) {
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float value = column.values[row * column.stride];
        const std::size_t code = count_smaller(edges, value);
        const bool known = code < edges.size() && edges[code] == value;
        codes[row * Codes<Code>::slots] = static_cast<Code>(known ? code : missing);
    }
}

#ifdef RANKWRIGHT_X86

[[gnu::target("avx2,popcnt"), gnu::always_inline]] inline std::size_t smaller_of_16_avx2(const float *edges,
                                                                                         __m256 value) {
    const auto low =
        static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(edges), value, _CMP_LT_OQ)));
    const auto high =
        static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(edges + 8), value, _CMP_LT_OQ)));
    return static_cast<std::size_t>(std::popcount(low | high << 8));
}

[[gnu::target("avx2,popcnt")]] void bin_bytes_avx2(Column column, const float *table, std::size_t missing,
                                                   std::uint8_t *codes) {
    const float *coarse = table + table_size;
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float number = column.values[row * column.stride];
        const __m256 value = _mm256_set1_ps(number);
        const std::size_t start = table_step * smaller_of_16_avx2(coarse, value);
        const std::size_t code = start + smaller_of_16_avx2(table + start, value);
        codes[row * group_bytes] = static_cast<std::uint8_t>(number != number ? missing : code);
    }
}

[[gnu::target("avx512f,popcnt"), gnu::always_inline]] inline std::size_t smaller_of_16_avx512(const float *edges,
                                                                                              __m512 value) {
    return static_cast<std::size_t>(
        std::popcount(static_cast<unsigned>(_mm512_cmp_ps_mask(_mm512_loadu_ps(edges), value, _CMP_LT_OQ))));
}

[[gnu::target("avx512f,popcnt")]] void bin_bytes_avx512(Column column, const float *table, std::size_t missing,
                                                        std::uint8_t *codes) {
    const float *coarse = table + table_size;
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float number = column.values[row * column.stride];
        const __m512 value = _mm512_set1_ps(number);
        const std::size_t start = table_step * smaller_of_16_avx512(coarse, value);
        const std::size_t code = start + smaller_of_16_avx512(table + start, value);
        codes[row * group_bytes] = static_cast<std::uint8_t>(number != number ? missing : code);
    }
}

#endif

// The edges of every number feature, padded to `table_size`, each followed by every 16th of them.
class SearchTables {
  public:
    explicit SearchTables(const BinEdges &edges) : data(edges.categorical.size() * size) {
        std::fill(data.begin(), data.end(), std::numeric_limits<float>::infinity());
        for (std::size_t feature = 0; feature < edges.categorical.size(); ++feature) {
            if (edges.categorical[feature]) continue;
            float *table = data.data() + feature * size;
            std::ranges::copy(edges.of(feature), table);
            for (std::size_t i = 0; i < table_step; ++i) table[table_size + i] = table[table_step * (i + 1) - 1];
        }
    }
    const float *of(std::size_t feature) const { return data.data() + feature * size; }

  private:
    static constexpr std::size_t size = table_size + table_step;
    std::vector<float> data;
};

} // namespace

template <typename Code>
void bin_features(FloatTable features, const BinEdges &edges, std::size_t first_row, Codes<Code> codes, int threads,
                  Simd simd) {
    constexpr bool bytes = sizeof(Code) == 1;
    const bool with_tables = bytes && simd != Simd::baseline;
    const SearchTables tables(with_tables ? edges : BinEdges{{}, {}, {}});

    auto bin_column = [&](std::size_t feature, Column column, Code *out) {
        const std::size_t missing = edges.missing_code(feature);
        if (edges.categorical[feature]) return bin_categories(column, edges.of(feature), missing, out);
#ifdef RANKWRIGHT_X86
        if constexpr (bytes) {
            if (simd == Simd::avx512) return bin_bytes_avx512(column, tables.of(feature), missing, out);
            if (simd == Simd::avx2) return bin_bytes_avx2(column, tables.of(feature), missing, out);
        }
#endif
        bin_numbers(column, edges.of(feature), missing, out);
    };
    parallel_for(features.n_rows, threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t slot = 0; slot < codes.n_groups * codes.slots; ++slot) {
            Code *out = codes.column(slot) + (first_row + first) * codes.slots;
            if (slot < features.n_columns) {
                const float *values = features.data + first * features.n_columns + slot;
                bin_column(slot, {values, last - first, features.n_columns}, out);
            } else {
                for (std::size_t row = 0; row < last - first; ++row) out[row * codes.slots] = 0;
            }
        }
    });
}

template void bin_features(FloatTable, const BinEdges &, std::size_t, Codes<std::uint8_t>, int, Simd);
template void bin_features(FloatTable, const BinEdges &, std::size_t, Codes<std::uint16_t>, int, Simd);

} // namespace rankwright
