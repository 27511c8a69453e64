// Stochastic descent on documents and pairs drawn in turn (Sculley 2010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/linear/products.hpp"

namespace rankwright {

// `by_label` has each query's rows one after another, sorted by label. The document at place p of it has for partners
// its query's places query_first[p] to query_last[p] without those of its own label, same_first[p] to same_last[p];
// `pairs_before`, one longer than there are places, counts the partners of the places before each.
struct DrawnPairs {
    std::span<const std::int64_t> by_label;
    std::span<const std::int64_t> query_first;
    std::span<const std::int64_t> same_first;
    std::span<const std::int64_t> same_last;
    std::span<const std::int64_t> pairs_before;
};

struct DrawSettings {
    double regression_share; // of the draws that are documents, not pairs
    double l2;
    double stiffness; // the step of draw t is 1 / (stiffness + l2 · t)
    bool logistic;
    std::uint64_t key;
};

// A document's step is multiplied by its `document` weight, a pair's by the `document` weight of one and the `partner`
// weight of the other. Empty weights are all 1.
struct DrawWeights {
    std::span<const double> document;
    std::span<const double> partner;
};

// Takes draws number `first` to `last` and moves the weights after each. A step never goes past the point of no error.
void combined_draws(const Rows &features, std::span<const float> labels, const DrawWeights &draw_weights,
                    const DrawnPairs &pairs, const DrawSettings &settings, std::int64_t first, std::int64_t last,
                    std::span<double> weights);

} // namespace rankwright
