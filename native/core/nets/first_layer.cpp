#include "core/nets/first_layer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/common/float_lanes.hpp"
#include "core/common/simd.hpp"
#include "core/common/vectors.hpp"

namespace rankwright {

namespace {

// Four rows at a time share the weights that are loaded.
constexpr std::size_t lanes = float_lanes, rows_at_once = 4;
using Lanes = FloatLanes;

template <std::size_t n> using Constant = std::integral_constant<std::size_t, n>;

// The first `n` of `lanes` numbers; zeros behind them.
[[gnu::always_inline]] inline Lanes read_part(const float *from, std::size_t n) {
    Lanes values = {};
    std::memcpy(&values, from, n * sizeof(float));
    return values;
}

[[gnu::always_inline]] inline Lanes standardised(Lanes values, Lanes shift, Lanes factor) {
    const Lanes result = (values - shift) * factor;
    return values == values ? result : Lanes{};
}

// Four rows, standardised whenever they are read: for few units, which read them once. Where fewer than four are left,
// copies of the first fill up, and their results are not used.
struct RawRows {
    static constexpr bool needs_scratch = false;
    const float *rows[rows_at_once];
    const float *shift, *factor;

    [[gnu::always_inline]] RawRows(const NetRows &inputs, std::size_t k, std::size_t n, float *)
        : shift(inputs.shift.data()), factor(inputs.factor.data()) {
        for (std::size_t r = 0; r < rows_at_once; ++r) {
            const auto row = static_cast<std::size_t>(inputs.rows[r < n ? k + r : k]);
            rows[r] = inputs.features.data() + row * inputs.n_features;
        }
    }

    // Calls use(at, pack) for every stretch of features; pack(r) has those of row r.
    template <typename Use> [[gnu::always_inline]] void for_packs(std::size_t n_features, Use &&use) const {
        std::size_t at = 0;
        for (; at + lanes <= n_features; at += lanes) {
            const Lanes shifts = load<Lanes>(shift + at), factors = load<Lanes>(factor + at);
            use(at, [&](std::size_t r) __attribute__((always_inline)) {
                return standardised(load<Lanes>(rows[r] + at), shifts, factors);
            });
        }
        if (const std::size_t left = n_features - at; left > 0) {
            const Lanes shifts = read_part(shift + at, left), factors = read_part(factor + at, left);
            use(at, [&](std::size_t r) __attribute__((always_inline)) {
                return standardised(read_part(rows[r] + at, left), shifts, factors);
            });
        }
    }
};

// Four rows, standardised into `scratch` and padded with zeros there: for many units, which read them again and again.
struct StandardisedRows {
    static constexpr bool needs_scratch = true;
    const float *rows;
    std::size_t width;

    [[gnu::always_inline]] StandardisedRows(const NetRows &inputs, std::size_t k, std::size_t n, float *scratch)
        : rows(scratch), width(padded_width(inputs.n_features)) {
        const RawRows raw(inputs, k, n, nullptr);
        raw.for_packs(inputs.n_features, [&](std::size_t at, auto pack) __attribute__((always_inline)) {
            for (std::size_t r = 0; r < rows_at_once; ++r) store(scratch + r * width + at, pack(r));
        });
    }

    template <typename Use> [[gnu::always_inline]] void for_packs(std::size_t, Use &&use) const {
        for (std::size_t at = 0; at < width; at += lanes) {
            use(at, [&](std::size_t r) __attribute__((always_inline)) { return load<Lanes>(rows + r * width + at); });
        }
    }
};

// How many of four rows count, the number of features, and how far apart the outputs of rows lie.
struct RowGroup {
    std::size_t n_rows, n_features, between;
};

// Where the numbers of some rows and some units begin: in a table with a padded row for each unit (weights, and sums of
// derivatives), and in one with a padded row for each input (outputs, and forces).
struct Corner {
    std::size_t by_unit, by_input;
};

// Scalar products of four rows with `units` rows of weights; those of the first `n_rows` are wanted.
template <std::size_t units> struct Multiply {
    template <typename Rows>
    [[gnu::always_inline]] static void run(const Rows &rows, const RowGroup &group, Corner corner,
                                           const float *all_weights, float *all_out) {
        const float *weights = all_weights + corner.by_unit;
        float *out = all_out + corner.by_input;
        const std::size_t width = padded_width(group.n_features);
        Lanes sums[rows_at_once][units] = {};
        rows.for_packs(group.n_features, [&](std::size_t at, auto pack) __attribute__((always_inline)) {
            Lanes weight[units];
#pragma GCC unroll 4
            for (std::size_t unit = 0; unit < units; ++unit) weight[unit] = load<Lanes>(weights + unit * width + at);
#pragma GCC unroll 4
            for (std::size_t r = 0; r < rows_at_once; ++r) {
                const Lanes input = pack(r);
#pragma GCC unroll 4
                for (std::size_t unit = 0; unit < units; ++unit) sums[r][unit] += input * weight[unit];
            }
        });
        for (std::size_t r = 0; r < group.n_rows; ++r) {
            for (std::size_t unit = 0; unit < units; ++unit) out[r * group.between + unit] = total(sums[r][unit]);
        }
    }
};

// Adds four rows, each times its force on a unit, to the sums of `units` units.
template <std::size_t units> struct AddOuter {
    template <typename Rows>
    [[gnu::always_inline]] static void run(const Rows &rows, const RowGroup &group, Corner corner,
                                           const float *all_forces, float *all_sums) {
        const float *forces = all_forces + corner.by_input;
        float *sums = all_sums + corner.by_unit;
        const std::size_t width = padded_width(group.n_features);
        Lanes force[rows_at_once][units] = {};
        for (std::size_t r = 0; r < group.n_rows; ++r) {
            for (std::size_t unit = 0; unit < units; ++unit) force[r][unit] += forces[r * group.between + unit];
        }
        rows.for_packs(group.n_features, [&](std::size_t at, auto pack) __attribute__((always_inline)) {
            Lanes sum[units];
#pragma GCC unroll 4
            for (std::size_t unit = 0; unit < units; ++unit) sum[unit] = load<Lanes>(sums + unit * width + at);
#pragma GCC unroll 4
            for (std::size_t r = 0; r < rows_at_once; ++r) {
                const Lanes input = pack(r);
#pragma GCC unroll 4
                for (std::size_t unit = 0; unit < units; ++unit) sum[unit] += force[r][unit] * input;
            }
#pragma GCC unroll 4
            for (std::size_t unit = 0; unit < units; ++unit) store(sums + unit * width + at, sum[unit]);
        });
    }
};

constexpr std::size_t units_at_once = 4;

// Calls use(count, first unit) for groups of units until all are done; the count is a compile-time constant.
template <typename Use> [[gnu::always_inline]] inline void for_units(std::size_t n_units, Use &&use) {
    std::size_t unit = 0;
    for (; unit + units_at_once <= n_units; unit += units_at_once) use(Constant<units_at_once>{}, unit);
    const std::size_t left = n_units - unit;
    if (left == 3) use(Constant<3>{}, unit);
    if (left == 2) use(Constant<2>{}, unit);
    if (left == 1) use(Constant<1>{}, unit);
}

// Runs a kernel over all inputs, four at a time, and all units.
template <template <std::size_t> class Kernel> struct Tiled {
    template <typename Rows>
    [[gnu::always_inline]] static void over(const NetRows &inputs, const float *from, std::size_t n_units, float *to) {
        const std::size_t width = padded_width(inputs.n_features), between = padded_width(n_units);
        std::vector<float> scratch(Rows::needs_scratch ? rows_at_once * width : 0);
        for (std::size_t k = 0; k < inputs.rows.size(); k += rows_at_once) {
            const RowGroup group{std::min(rows_at_once, inputs.rows.size() - k), inputs.n_features, between};
            const Rows rows(inputs, k, group.n_rows, scratch.data());
            for_units(n_units, [&](auto units, std::size_t unit) __attribute__((always_inline)) {
                Kernel<units()>::run(rows, group, {unit * width, k * between + unit}, from, to);
            });
        }
    }

    [[gnu::always_inline]] static void run(const NetRows *inputs, const float *from, std::size_t n_units, float *to) {
        n_units <= units_at_once ? over<RawRows>(*inputs, from, n_units, to)
                                 : over<StandardisedRows>(*inputs, from, n_units, to);
    }
};

using Forward = Tiled<Multiply>;  // from padded weights to outputs
using Backward = Tiled<AddOuter>; // from forces to padded sums

struct Standardise {
    [[gnu::always_inline]] static void run(const NetRows *inputs, float *out) {
        const std::size_t width = padded_width(inputs->n_features);
        for (std::size_t k = 0; k < inputs->rows.size(); k += rows_at_once) {
            const std::size_t n = std::min(rows_at_once, inputs->rows.size() - k);
            const RawRows rows(*inputs, k, n, nullptr);
            rows.for_packs(inputs->n_features, [&](std::size_t at, auto pack) __attribute__((always_inline)) {
                for (std::size_t r = 0; r < n; ++r) store(out + (k + r) * width + at, pack(r));
            });
        }
    }
};

} // namespace

std::size_t padded_width(std::size_t n_features) { return (n_features + lanes - 1) / lanes * lanes; }

Numbers padded_rows(std::span<const float> weights, std::size_t n_features) {
    const std::size_t n_units = n_features == 0 ? 0 : weights.size() / n_features, width = padded_width(n_features);
    Numbers rows(n_units * width);
    for (std::size_t unit = 0; unit < n_units; ++unit) {
        std::ranges::copy(weights.subspan(unit * n_features, n_features), rows.data() + unit * width);
    }
    return rows;
}

void first_layer(const NetRows &inputs, std::span<const float> padded_weights, std::size_t n_units,
                 std::span<float> out) {
    run_for<Forward>(simd_level(), &inputs, padded_weights.data(), n_units, out.data());
}

void add_first_layer_gradient(const NetRows &inputs, std::span<const float> forces, std::size_t n_units,
                              std::span<float> padded_sums) {
    run_for<Backward>(simd_level(), &inputs, forces.data(), n_units, padded_sums.data());
}

void standardise_padded(const NetRows &inputs, std::span<float> out) {
    run_for<Standardise>(simd_level(), &inputs, out.data());
}

} // namespace rankwright
