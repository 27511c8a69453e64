#include "core/binning/column_codes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace rankwright {

namespace {

std::size_t smaller_of_16(const float *edges, float value) {
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < table_step; ++i) n += edges[i] < value;
    return n;
}

// Two rounds of 16 comparisons each, which the compiler turns into a few vector instructions.
bool search_table_plain(Column column, const float *table, CodeRun<std::uint8_t> out) {
    bool any_missing = false;
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float value = column.values[row * column.stride];
        const std::size_t start = table_step * smaller_of_16(table + table_edges, value);
        const std::size_t code = start + smaller_of_16(table + start, value);
        any_missing |= value != value;
        out.codes[row * out.stride] = value != value ? out.missing : static_cast<std::uint8_t>(code);
    }
    return any_missing;
}

#ifdef RANKWRIGHT_X86

// The same, with one instruction to count the results of the comparisons.
[[gnu::target("avx2,popcnt")]] bool search_table_avx2(Column column, const float *table, CodeRun<std::uint8_t> out) {
    bool any_missing = false;
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float value = column.values[row * column.stride];
        const __m256 wanted = _mm256_set1_ps(value);
        std::size_t start = table_edges, code = 0;
        for (int round = 0; round < 2; ++round) {
            const float *edges = table + start;
            const int low = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(edges), wanted, _CMP_LT_OQ));
            const int high = _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(edges + 8), wanted, _CMP_LT_OQ));
            code = table_step * code + static_cast<std::size_t>(std::popcount(static_cast<unsigned>(low | high << 8)));
            start = table_step * code;
        }
        any_missing |= value != value;
        out.codes[row * out.stride] = value != value ? out.missing : static_cast<std::uint8_t>(code);
    }
    return any_missing;
}

[[gnu::target("avx512f,popcnt")]] bool search_table_avx512(Column column, const float *table,
                                                           CodeRun<std::uint8_t> out) {
    bool any_missing = false;
    for (std::size_t row = 0; row < column.n_rows; ++row) {
        const float value = column.values[row * column.stride];
        const __m512 wanted = _mm512_set1_ps(value);
        const float *edges = table + table_edges;
        const unsigned coarse = _mm512_cmp_ps_mask(_mm512_loadu_ps(edges), wanted, _CMP_LT_OQ);
        edges = table + table_step * static_cast<std::size_t>(std::popcount(coarse));
        const unsigned fine = _mm512_cmp_ps_mask(_mm512_loadu_ps(edges), wanted, _CMP_LT_OQ);
        const auto code = static_cast<std::size_t>(edges - table) + static_cast<std::size_t>(std::popcount(fine));
        any_missing |= value != value;
        out.codes[row * out.stride] = value != value ? out.missing : static_cast<std::uint8_t>(code);
    }
    return any_missing;
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

bool search_table(Column column, const float *table, CodeRun<std::uint8_t> out, [[maybe_unused]] Simd simd) {
#ifdef RANKWRIGHT_X86
    if (simd == Simd::avx512) return search_table_avx512(column, table, out);
    if (simd == Simd::avx2) return search_table_avx2(column, table, out);
#endif
    return search_table_plain(column, table, out);
}

} // namespace rankwright
