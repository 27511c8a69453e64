#include "core/first_layer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "core/vectors.hpp"

namespace rankwright {

namespace {

// Sums run in sixteen lanes whatever the processor, so that all give the same bits. Four rows at a time share what is
// loaded of the weights. Rows in between are kept standardised and padded with zeros to whole packs, in the
// first-level cache.
constexpr std::size_t lanes = 16, rows_at_once = 4, rows_a_block = 128;
using Lanes = Pack<float, lanes * sizeof(float)>;

std::size_t padded(std::size_t n) { return (n + lanes - 1) / lanes * lanes; }

[[gnu::always_inline]] inline Lanes read(const float *from) {
    Lanes values;
    std::memcpy(&values, from, sizeof(Lanes));
    return values;
}

[[gnu::always_inline]] inline void write(float *to, Lanes values) { std::memcpy(to, &values, sizeof(Lanes)); }

[[gnu::always_inline]] inline float total(Lanes values) {
    const auto eights = std::bit_cast<std::array<Pack<float, 32>, 2>>(values);
    const auto fours = std::bit_cast<std::array<Pack<float, 16>, 2>>(eights[0] + eights[1]);
    const auto four = fours[0] + fours[1];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

[[gnu::always_inline]] inline void standardise(const float *row, const float *shift, const float *factor, std::size_t n,
                                               float *out) {
    for (std::size_t feature = 0; feature < n; ++feature) {
        const float value = row[feature];
        out[feature] = value == value ? (value - shift[feature]) * factor[feature] : 0.0F;
    }
}

// The inputs `first` to `last`, four at a time, standardised into `scratch`; missing ones at the end are zeros.
template <typename Use>
[[gnu::always_inline]] inline void for_row_groups(const NetRows &inputs, std::size_t first, std::size_t last,
                                                  std::vector<float> &scratch, Use &&use) {
    const std::size_t width = padded(inputs.n_features);
    for (std::size_t k = first; k < last; k += rows_at_once) {
        const std::size_t n = std::min(rows_at_once, last - k);
        for (std::size_t r = 0; r < n; ++r) {
            const auto row = static_cast<std::size_t>(inputs.rows[k + r]);
            standardise(inputs.features.data() + row * inputs.n_features, inputs.shift.data(), inputs.factor.data(),
                        inputs.n_features, scratch.data() + r * width);
        }
        if (n < rows_at_once) std::fill(scratch.begin() + static_cast<std::ptrdiff_t>(n * width), scratch.end(), 0.0F);
        use(k, n);
    }
}

// Scalar products of four rows with `units` rows of weights; those of the first `n_rows` are wanted.
template <std::size_t units>
[[gnu::always_inline]] inline void multiply(const float *rows, const float *weights, std::size_t width,
                                            std::size_t n_rows, std::size_t n_units, float *out) {
    Lanes sums[rows_at_once][units] = {};
    for (std::size_t at = 0; at < width; at += lanes) {
        Lanes weight[units];
        for (std::size_t unit = 0; unit < units; ++unit) weight[unit] = read(weights + unit * width + at);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < rows_at_once; ++r) {
            const Lanes input = read(rows + r * width + at);
#pragma GCC unroll 4
            for (std::size_t unit = 0; unit < units; ++unit) sums[r][unit] += input * weight[unit];
        }
    }
    for (std::size_t r = 0; r < n_rows; ++r) {
        for (std::size_t unit = 0; unit < units; ++unit) out[r * n_units + unit] = total(sums[r][unit]);
    }
}

// Adds four rows, each times its force on a unit, to the sums of `units` units.
template <std::size_t units>
[[gnu::always_inline]] inline void add_outer(const float *rows, const float *forces, std::size_t width,
                                             std::size_t n_rows, std::size_t n_units, float *sums) {
    Lanes force[rows_at_once][units] = {};
    for (std::size_t r = 0; r < n_rows; ++r) {
        for (std::size_t unit = 0; unit < units; ++unit) force[r][unit] += forces[r * n_units + unit];
    }
    for (std::size_t at = 0; at < width; at += lanes) {
        Lanes sum[units];
        for (std::size_t unit = 0; unit < units; ++unit) sum[unit] = read(sums + unit * width + at);
#pragma GCC unroll 4
        for (std::size_t r = 0; r < rows_at_once; ++r) {
            const Lanes input = read(rows + r * width + at);
#pragma GCC unroll 4
            for (std::size_t unit = 0; unit < units; ++unit) sum[unit] += force[r][unit] * input;
        }
        for (std::size_t unit = 0; unit < units; ++unit) write(sums + unit * width + at, sum[unit]);
    }
}

struct Forward {
    [[gnu::always_inline]] static void run(const NetRows *inputs, const float *weights, std::size_t n_units,
                                           std::size_t first, std::size_t last, float *out) {
        const std::size_t width = padded(inputs->n_features);
        std::vector<float> scratch(rows_at_once * width);
        for_row_groups(*inputs, first, last, scratch, [&](std::size_t k, std::size_t n) __attribute__((always_inline)) {
            std::size_t unit = 0;
            for (; unit + 4 <= n_units; unit += 4) {
                multiply<4>(scratch.data(), weights + unit * width, width, n, n_units, out + k * n_units + unit);
            }
            for (; unit < n_units; ++unit) {
                multiply<1>(scratch.data(), weights + unit * width, width, n, n_units, out + k * n_units + unit);
            }
        });
    }
};

struct Backward {
    // `sums` is padded as the scratch is and starts as zeros.
    [[gnu::always_inline]] static void run(const NetRows *inputs, const float *forces, std::size_t n_units,
                                           std::size_t first, std::size_t last, float *sums) {
        const std::size_t width = padded(inputs->n_features);
        std::vector<float> scratch(rows_at_once * width);
        for_row_groups(*inputs, first, last, scratch, [&](std::size_t k, std::size_t n) __attribute__((always_inline)) {
            std::size_t unit = 0;
            for (; unit + 4 <= n_units; unit += 4) {
                add_outer<4>(scratch.data(), forces + k * n_units + unit, width, n, n_units, sums + unit * width);
            }
            for (; unit < n_units; ++unit) {
                add_outer<1>(scratch.data(), forces + k * n_units + unit, width, n, n_units, sums + unit * width);
            }
        });
    }
};

} // namespace

void first_layer(const NetRows &inputs, std::span<const float> weights, std::span<float> out, int threads) {
    const std::size_t n_rows = inputs.rows.size(), n_features = inputs.n_features, width = padded(n_features);
    if (n_rows == 0) return;
    const std::size_t n_units = out.size() / n_rows;
    std::vector<float> by_unit(n_units * width);
    for (std::size_t unit = 0; unit < n_units; ++unit) {
        std::copy_n(weights.begin() + static_cast<std::ptrdiff_t>(unit * n_features), n_features,
                    by_unit.begin() + static_cast<std::ptrdiff_t>(unit * width));
    }
    const Simd simd = simd_level();
    parallel_for(n_rows, threads, rows_a_block, [&](std::size_t first, std::size_t last) {
        run_for<Forward>(simd, &inputs, by_unit.data(), n_units, first, last, out.data());
    });
}

void first_layer_gradient(const NetRows &inputs, std::span<const float> forces, std::span<float> gradient,
                          int threads) {
    const std::size_t n_rows = inputs.rows.size(), n_features = inputs.n_features, width = padded(n_features);
    const std::size_t n_units = n_features == 0 ? 0 : gradient.size() / n_features;
    const std::size_t n_blocks = (n_rows + rows_a_block - 1) / rows_a_block;
    std::vector<float> sums(n_blocks * n_units * width);
    const Simd simd = simd_level();
    parallel_for(n_rows, threads, rows_a_block, [&](std::size_t first, std::size_t last) {
        run_for<Backward>(simd, &inputs, forces.data(), n_units, first, last,
                          sums.data() + first / rows_a_block * n_units * width);
    });
    std::ranges::fill(gradient, 0.0F);
    for (std::size_t block = 0; block < n_blocks; ++block) {
        for (std::size_t unit = 0; unit < n_units; ++unit) {
            const float *own = sums.data() + (block * n_units + unit) * width;
            float *out = gradient.data() + unit * n_features;
            for (std::size_t feature = 0; feature < n_features; ++feature) out[feature] += own[feature];
        }
    }
}

} // namespace rankwright
