#include "core/nets/activation.hpp"

#include <cmath>

#include "core/common/counter_random.hpp"
#include "core/common/simd.hpp"
#include "core/common/vectors.hpp"

namespace rankwright {

namespace {

constexpr std::size_t lanes = 8; // widths are multiples of it
using Lanes = Pack<float, lanes * sizeof(float)>;

struct Response {
    Lanes output, slope;
};

struct Relu {
    [[gnu::always_inline]] static Response of(Lanes z) {
        // What is not a number stays so: training that diverged must be seen.
        return {where<Lanes>(~(z < Lanes{}), z), where<Lanes>(z > Lanes{}, Lanes{} + 1.0F)};
    }
};

struct Tanh {
    [[gnu::always_inline]] static Response of(Lanes z) {
        const Lanes output = tanh_of<Lanes>(z);
        return {output, 1.0F - output * output};
    }
};

struct Sigmoid {
    [[gnu::always_inline]] static Response of(Lanes z) {
        const Lanes e = exp_minus<Lanes>(absolute(z)), large = 1.0F / (1.0F + e), small = e * large;
        return {z < Lanes{} ? small : large, large * small};
    }
};

// z · Φ(z), Φ being the normal distribution's, by formula 7.1.26 of Abramowitz and Stegun: its error is below 1.5e-7.
struct Gelu {
    [[gnu::always_inline]] static Response of(Lanes z) {
        const Lanes size = absolute(z);
        const Lanes t = 1.0F / (1.0F + 0.231641888F * size);
        const Lanes density = exp_minus<Lanes>(0.5F * size * size); // but for the factor 1 / sqrt(2 π)
        const Lanes series =
            t * (0.254829592F + t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
        const Lanes beyond = 0.5F * series * density; // the probability of values beyond |z|
        const Lanes below = z < Lanes{} ? beyond : 1.0F - beyond;
        return {z * below, below + z * (0.398942280F * density)};
    }
};

template <typename Function> struct Respond {
    [[gnu::always_inline]] static void run(const Units *units, std::size_t n_docs) {
        for (std::size_t at = 0; at < n_docs * units->width; at += lanes) {
            const Response found = Function::of(load<Lanes>(units->values + at));
            store<Lanes>(units->outputs + at, found.output);
            store<Lanes>(units->slopes + at, found.slope);
        }
        for (std::size_t doc = 0; doc < n_docs; ++doc) {
            for (std::size_t unit = units->n_units; unit < units->width; ++unit) {
                units->outputs[doc * units->width + unit] = units->slopes[doc * units->width + unit] = 0.0F;
            }
        }
    }
};

struct DropOut {
    [[gnu::always_inline]] static void run(const Units *units, const std::int64_t *rows, std::size_t n_docs,
                                           double dropout, std::uint64_t stream) {
        const auto kept = static_cast<float>(1.0 / (1.0 - dropout));
        // A random number is below `dropout` where its 53 bits, as a whole number, are below this.
        const auto bound = static_cast<std::uint64_t>(std::ceil(dropout * 9007199254740992.0));
        const std::uint64_t mixed = mix(stream);
        for (std::size_t doc = 0; doc < n_docs; ++doc) {
            const auto first = static_cast<std::uint64_t>(rows[doc]) * units->n_units;
            float *outputs = units->outputs + doc * units->width, *slopes = units->slopes + doc * units->width;
            for (std::size_t unit = 0; unit < units->n_units; ++unit) {
                const float factor = mix(mixed ^ (first + unit)) >> 11 >= bound ? kept : 0.0F;
                outputs[unit] *= factor;
                slopes[unit] *= factor;
            }
        }
    }
};

} // namespace

void respond(Activation activation, const Units &units, std::size_t n_docs) {
    const Simd simd = simd_level();
    switch (activation) {
    case Activation::relu:
        return run_for<Respond<Relu>>(simd, &units, n_docs);
    case Activation::tanh:
        return run_for<Respond<Tanh>>(simd, &units, n_docs);
    case Activation::sigmoid:
        return run_for<Respond<Sigmoid>>(simd, &units, n_docs);
    case Activation::gelu:
        return run_for<Respond<Gelu>>(simd, &units, n_docs);
    }
}

void drop_out(const Units &units, std::span<const std::int64_t> rows, double dropout, std::uint64_t stream) {
    run_for<DropOut>(simd_level(), &units, rows.data(), rows.size(), dropout, stream);
}

} // namespace rankwright
