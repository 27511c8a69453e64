#include "core/linear/products.hpp"

#include <algorithm>
#include <vector>

#include "core/common/dot.hpp"
#include "core/common/parallel.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

namespace {

constexpr std::size_t scored_at_a_time = 1024;
constexpr std::size_t summed_at_a_time = 8192; // a block has its own sum, and blocks are added in order
constexpr std::size_t columns_at_a_time = 8;

struct ScoreRows {
    [[gnu::always_inline]] static void run(const float *rows, std::size_t n_rows, std::size_t n, const double *weights,
                                           double *out) {
        for (std::size_t row = 0; row < n_rows; ++row) out[row] = dot(rows + row * n, weights, n);
    }
};

struct SumRows {
    [[gnu::always_inline]] static void run(const float *rows, std::size_t n_rows, std::size_t n, const double *factors,
                                           double *out) {
        for (std::size_t row = 0; row < n_rows; ++row) {
            if (factors[row] != 0.0) add_row(rows + row * n, factors[row], n, out);
        }
    }
};

struct MultiplyColumns { // products of columns `first` to `last` with themselves and all later ones
    [[gnu::always_inline]] static void run(const float *rows, std::size_t n_rows, std::size_t n, const double *factors,
                                           std::size_t first, std::size_t last, double *out) {
        for (std::size_t row = 0; row < n_rows; ++row) {
            const float *values = rows + row * n;
            for (std::size_t i = first; i < last; ++i) {
                add_row(values + i, factors[row] * static_cast<double>(values[i]), n - i, out + i * n + i);
            }
        }
    }
};

} // namespace

void linear_scores(const Rows &features, std::span<const double> weights, std::span<double> out, int threads) {
    const Simd simd = simd_level();
    parallel_for(features.n_rows, threads, scored_at_a_time, [&](std::size_t first, std::size_t last) {
        run_for<ScoreRows>(simd, features.row(first), last - first, features.n_features, weights.data(),
                           out.subspan(first, last - first).data());
    });
}

void sum_rows(const Rows &features, std::span<const double> factors, std::span<double> out, int threads) {
    const Simd simd = simd_level();
    const std::size_t n = features.n_features;
    const std::size_t n_blocks = (features.n_rows + summed_at_a_time - 1) / summed_at_a_time;
    std::vector<double> sums(n_blocks * n);
    parallel_for(features.n_rows, threads, summed_at_a_time, [&](std::size_t first, std::size_t last) {
        run_for<SumRows>(simd, features.row(first), last - first, n, factors.subspan(first, last - first).data(),
                         sums.data() + first / summed_at_a_time * n);
    });
    std::ranges::fill(out, 0.0);
    for (std::size_t block = 0; block < n_blocks; ++block) {
        for (std::size_t k = 0; k < n; ++k) out[k] += sums[block * n + k];
    }
}

void gram_matrix(const Rows &features, std::span<const double> factors, std::span<double> out, int threads) {
    const Simd simd = simd_level();
    const std::size_t n = features.n_features;
    std::ranges::fill(out, 0.0);
    if (features.n_rows == 0) return;
    parallel_for(n, threads, columns_at_a_time, [&](std::size_t first, std::size_t last) {
        run_for<MultiplyColumns>(simd, features.row(0), features.n_rows, n, factors.data(), first, last, out.data());
    });
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) out[i * n + k] = out[k * n + i];
    }
}

} // namespace rankwright
