#include "core/binning/column_codes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace rankwright {

namespace {

// Two rounds of 16 comparisons each, which the compiler turns into a few vector instructions.
struct SearchTable {
    [[gnu::always_inline]] static std::size_t smaller_of_16(const float *edges, float value) {
        std::uint32_t n = 0;
        for (std::size_t i = 0; i < table_step; ++i) n += edges[i] < value;
        return n;
    }
    [[gnu::always_inline]] static void run(Column column, const float *table, CodeRun<std::uint8_t> out,
                                           bool *any_missing) {
        for (std::size_t row = 0; row < column.n_rows; ++row) {
            const float value = column.values[row * column.stride];
            const std::size_t start = table_step * smaller_of_16(table + table_edges, value);
            const std::size_t code = start + smaller_of_16(table + start, value);
            *any_missing |= value != value;
            out.codes[row * out.stride] = value != value ? out.missing : static_cast<std::uint8_t>(code);
        }
    }
};

#ifdef RANKWRIGHT_X86

// The same, with one instruction to count the results of the comparisons.
[[gnu::target("avx512f,popcnt")]] void search_table_avx512(Column column, const float *table, CodeRun<std::uint8_t> out,
                                                           bool *any_missing) {
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float value = column.values[row * column.stride];
        const __m512 wanted = _mm512_set1_ps(value);
        const float *edges = table + table_edges;
        const unsigned coarse = _mm512_cmp_ps_mask(_mm512_loadu_ps(edges), wanted, _CMP_LT_OQ);
        edges = table + table_step * static_cast<std::size_t>(std::popcount(coarse));
        const unsigned fine = _mm512_cmp_ps_mask(_mm512_loadu_ps(edges), wanted, _CMP_LT_OQ);
        const auto code = static_cast<std::size_t>(edges - table) + static_cast<std::size_t>(std::popcount(fine));
        *any_missing |= value != value;
        out.codes[row * out.stride] = value != value ? out.missing : static_cast<std::uint8_t>(code);
    }
}

#endif

} // namespace

void fill_search_table(std::span<const float> edges, float *table) {
    std::fill(std::ranges::copy(edges, table).out, table + table_edges, std::numeric_limits<float>::infinity());
    for (std::size_t i = 0; i < table_step; ++i) table[table_edges + i] = table[table_step * (i + 1) - 1];
}

template <typename Code> bool search_edges(Column column, std::span<const float> edges, CodeRun<Code> out) {
    bool any_missing = false;
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float value = column.values[row * column.stride];
        const std::size_t code = count_smaller(edges, value);
        const bool missing = value != value;
        any_missing |= missing;
        out.codes[row * out.stride] = missing ? out.missing : static_cast<Code>(code);
    }
    return any_missing;
}

template bool search_edges(Column, std::span<const float>, CodeRun<std::uint8_t>);
template bool search_edges(Column, std::span<const float>, CodeRun<std::uint16_t>);

bool search_table(Column column, const float *table, CodeRun<std::uint8_t> out, Simd simd) {
    bool any_missing = false;
#ifdef RANKWRIGHT_X86
    if (simd == Simd::avx512) {
        search_table_avx512(column, table, out, &any_missing);
        return any_missing;
    }
#endif
    run_for<SearchTable>(simd, column, table, out, &any_missing);
    return any_missing;
}

} // namespace rankwright
