// The inner loops over pairs, compiled once for every vector width. All widths do the same operations on the same
// 16 lanes and add the lanes up in the same order, so that they agree in every bit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/objectives/pair_losses.hpp"

namespace rankwright {

inline constexpr std::size_t lanes = 16; // arrays of pairs and of documents are padded to a multiple of it

// Makes room for n values and a pack more, which is filled with `padding`.
template <typename Real> void pad(std::vector<Real> &values, std::size_t n, Real padding) {
    if (values.size() < n + lanes) values.resize(n + lanes);
    std::fill(values.begin() + n, values.begin() + n + lanes, padding);
}

// A query's documents in the order in which pairs are made, usually by rank. Arrays are readable up to n + lanes;
// beyond n labels are NaN. Swapping rank i with a lower rank j changes the metric by
//     scale[i] · |worth[i] - worth[j]| · |above[i] - below[j]|
// for every metric here; deltas.hpp fills the arrays.
template <typename Real> struct RankedQuery {
    std::size_t n;
    const Real *score, *label, *worth, *above, *below, *scale;
    const Real *weight;       // of documents; null where all are 1
    const Real *odds;         // e^σs, and
    const Real *odds_against; // e^-σs, up to a factor, where scores lie near each other; else null
    const Real *pair_weight;  // of the row's pairs, by second document, instead of what a swap changes; or null
    Real *gradient, *curvature;
};

template <typename Real> struct PairRule {
    Real shape; // σ of the logistic loss, the margin of the others
    bool constant_delta;
    bool pair_equal_labels; // with target ½
    Real certainty;         // target = logistic(certainty · label difference)
    bool divide_by_gap;
};

struct PairSums {
    double force = 0, curvature = 0, size = 0, cost = 0; // size: of the force, regardless of direction
};

// Pairs from a list: `n` is a multiple of `lanes`, padding has weight 0; `weight` becomes `force`.
template <typename Real> struct PairList {
    std::size_t n;
    const Real *gap, *target, *weight;
    Real *force, *curvature;
};

// Adds the pairs (i, first), (i, first + 1), … (i, n - 1): to the gradient and curvature of the second, and to `sums`
// for the first, whose share the caller adds.
template <typename Real>
using RowLoop = void (*)(const RankedQuery<Real> &query, const PairRule<Real> &rule, std::size_t i, std::size_t first,
                         PairSums &sums);

template <typename Real>
using ListLoop = void (*)(const PairList<Real> &pairs, const PairRule<Real> &rule, PairSums &sums);

template <typename Real> struct PairLoops {
    RowLoop<Real> row;
    ListLoop<Real> list;
};

enum class VectorWidth { sse, avx2, avx512 };

// The widest vectors that this processor has.
VectorWidth widest_vectors();

template <typename Real> PairLoops<Real> pair_loops(PairLoss loss, bool with_cost, VectorWidth width);

// The logistic loss of a query that has odds.
RowLoop<float> near_logistic_row(bool with_cost, VectorWidth width);

} // namespace rankwright
