// Stochastic descent on documents and pairs drawn in turn (Sculley 2010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/linear/products.hpp"

namespace rankwright {

// kernels/records.py explains the fields of these three.
struct DrawnRows {
    Rows features;
    std::span<const float> labels;
    std::span<const double> weights;
    std::span<const double> partner_weights;
};

struct DrawnPairs {
    std::span<const std::int64_t> by_label;
    std::span<const std::int64_t> query_first;
    std::span<const std::int64_t> same_first;
    std::span<const std::int64_t> same_last;
    std::span<const std::int64_t> pairs_before;
};

struct DrawSettings {
    double regression_share;
    double l2;
    double stiffness;
    bool logistic;
    std::uint64_t key;
};

// Takes draws number `first` to `last` and moves the weights after each. A step never goes past the point where the
// error is 0.
void combined_draws(const DrawnRows &documents, const DrawnPairs &pairs, const DrawSettings &settings,
                    std::int64_t first, std::int64_t last, std::span<double> weights);

} // namespace rankwright
