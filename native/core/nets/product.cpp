#include "core/nets/product.hpp"

#include <type_traits>

#include "core/common/simd.hpp"
#include "core/common/vectors.hpp"

namespace rankwright {

namespace {

constexpr std::size_t lanes = 16;
using Lanes = Pack<float, lanes * sizeof(float)>;

[[gnu::always_inline]] inline Lanes read(const float *from) {
    Lanes values;
    std::memcpy(&values, from, sizeof(Lanes));
    return values;
}

// The sums of `rows` rows and `packs` packs of columns stay in registers while all terms are added.
template <std::size_t rows, std::size_t packs> struct Tile {
    [[gnu::always_inline]] static void run(const LeftFactor &left, std::size_t row, const float *right,
                                           std::size_t width, float *out) {
        Lanes sums[rows][packs];
        const float *own = left.values + row * left.between_rows;
#pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
            for (std::size_t p = 0; p < packs; ++p) sums[r][p] = read(out + (row + r) * width + p * lanes);
        }
        for (std::size_t k = 0; k < left.n_terms; ++k) {
            Lanes factor[packs];
#pragma GCC unroll 2
            for (std::size_t p = 0; p < packs; ++p) factor[p] = read(right + k * width + p * lanes);
#pragma GCC unroll 8
            for (std::size_t r = 0; r < rows; ++r) {
                const Lanes value = Lanes{} + own[r * left.between_rows + k * left.between_terms];
#pragma GCC unroll 2
                for (std::size_t p = 0; p < packs; ++p) sums[r][p] += value * factor[p];
            }
        }
#pragma GCC unroll 8
        for (std::size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
            for (std::size_t p = 0; p < packs; ++p) {
                std::memcpy(out + (row + r) * width + p * lanes, &sums[r][p], sizeof(Lanes));
            }
        }
    }
};

// All rows, `most_rows` at a time, for the columns of some packs.
template <std::size_t most_rows, std::size_t packs>
[[gnu::always_inline]] inline void add_columns(const LeftFactor &left, const float *right, std::size_t width,
                                               float *out) {
    std::size_t row = 0;
    for (; row + most_rows <= left.n_rows; row += most_rows) Tile<most_rows, packs>::run(left, row, right, width, out);
    for (; row + 2 <= left.n_rows; row += 2) Tile<2, packs>::run(left, row, right, width, out);
    if (row < left.n_rows) Tile<1, packs>::run(left, row, right, width, out);
}

// `packs` of columns at a time: as many sums as the processor has registers for.
template <std::size_t most_rows, std::size_t packs> struct Product {
    [[gnu::always_inline]] static void run(const LeftFactor *left, const float *right, std::size_t width, float *out) {
        std::size_t column = 0;
        for (; column + packs * lanes <= width; column += packs * lanes) {
            add_columns<most_rows, packs>(*left, right + column, width, out + column);
        }
        for (; column < width; column += lanes) add_columns<most_rows, 1>(*left, right + column, width, out + column);
    }
};

} // namespace

void add_product(const LeftFactor &left, const float *right, std::size_t width, float *out) {
    const Simd simd = simd_level();
    if (simd == Simd::avx512) {
        run_for<Product<8, 2>>(simd, &left, right, width, out);
    } else {
        run_for<Product<4, 1>>(simd, &left, right, width, out);
    }
}

} // namespace rankwright
