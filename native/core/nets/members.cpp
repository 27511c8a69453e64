#include "core/nets/members.hpp"

#include <algorithm>

#include "core/common/float_lanes.hpp"
#include "core/common/simd.hpp"
#include "core/common/vectors.hpp"

namespace rankwright {

namespace {

constexpr std::size_t lanes = float_lanes; // widths are multiples of it
using Lanes = FloatLanes;

// Calls use(document, member, row) in the order of rows.
template <typename Use> [[gnu::always_inline]] inline void for_rows(const MemberRows &rows, Use &&use) {
    for (std::size_t doc = 0, row = 0; doc < rows.n_docs; ++doc) {
        for (std::size_t member = 0; member < rows.n_members; ++member, ++row) use(doc, member, row);
    }
}

struct Scale {
    [[gnu::always_inline]] static void run(const MemberRows *rows, const float *inputs, const float *scales,
                                           const float *thresholds, float *out) {
        const std::size_t width = rows->width;
        for_rows(*rows, [&](std::size_t doc, std::size_t member, std::size_t row) __attribute__((always_inline)) {
            const float *input = inputs + rows->input_row(doc, member) * width;
            for (std::size_t at = 0; at < width; at += lanes) {
                const std::size_t own = member * width + at;
                store(out + row * width + at,
                      load<Lanes>(scales + own) * load<Lanes>(input + at) + load<Lanes>(thresholds + own));
            }
        });
    }
};

struct ScaleBack {
    [[gnu::always_inline]] static void run(const MemberRows *rows, const float *inputs, const float *scales,
                                           const float *forces, float *scale_sums, float *threshold_sums,
                                           float *handed) {
        const std::size_t width = rows->width;
        for_rows(*rows, [&](std::size_t doc, std::size_t member, std::size_t row) __attribute__((always_inline)) {
            const std::size_t from = rows->input_row(doc, member) * width;
            const bool adds = rows->is_shared && member > 0;
            for (std::size_t at = 0; at < width; at += lanes) {
                const std::size_t own = member * width + at;
                const Lanes force = load<Lanes>(forces + row * width + at);
                store(scale_sums + own, load<Lanes>(scale_sums + own) + force * load<Lanes>(inputs + from + at));
                store(threshold_sums + own, load<Lanes>(threshold_sums + own) + force);
                const Lanes before = adds ? load<Lanes>(handed + from + at) : Lanes{};
                store(handed + from + at, before + force * load<Lanes>(scales + own));
            }
        });
    }
};

struct Score {
    [[gnu::always_inline]] static void run(const MemberRows *rows, const float *inputs, const float *weights,
                                           float *scores) {
        const std::size_t width = rows->width;
        for_rows(*rows, [&](std::size_t, std::size_t member, std::size_t row) __attribute__((always_inline)) {
            Lanes sums = {};
            for (std::size_t at = 0; at < width; at += lanes) {
                sums += load<Lanes>(inputs + row * width + at) * load<Lanes>(weights + member * width + at);
            }
            scores[row] = total(sums);
        });
    }
};

struct ScoreBack {
    [[gnu::always_inline]] static void run(const MemberRows *rows, const float *inputs, const float *weights,
                                           const float *forces, float *weight_sums, float *handed) {
        const std::size_t width = rows->width;
        for_rows(*rows, [&](std::size_t, std::size_t member, std::size_t row) __attribute__((always_inline)) {
            const Lanes force = Lanes{} + forces[row];
            for (std::size_t at = 0; at < width; at += lanes) {
                const std::size_t own = member * width + at;
                store(weight_sums + own,
                      load<Lanes>(weight_sums + own) + force * load<Lanes>(inputs + row * width + at));
                store(handed + row * width + at, force * load<Lanes>(weights + own));
            }
        });
    }
};

} // namespace

void scale_members(const MemberRows &rows, const float *inputs, const float *scales, const float *thresholds,
                   float *out) {
    run_for<Scale>(simd_level(), &rows, inputs, scales, thresholds, out);
}

void scale_members_back(const MemberRows &rows, const float *inputs, const float *scales, const float *forces,
                        float *scale_sums, float *threshold_sums, float *handed) {
    run_for<ScaleBack>(simd_level(), &rows, inputs, scales, forces, scale_sums, threshold_sums, handed);
}

void member_scores(const MemberRows &rows, const float *inputs, const float *weights, float *scores) {
    run_for<Score>(simd_level(), &rows, inputs, weights, scores);
}

void member_scores_back(const MemberRows &rows, const float *inputs, const float *weights, const float *forces,
                        float *weight_sums, float *handed) {
    run_for<ScoreBack>(simd_level(), &rows, inputs, weights, forces, weight_sums, handed);
}

} // namespace rankwright
