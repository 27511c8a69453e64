// Settings of pairs that tests of forces start from.
#pragma once

#include <limits>

#include "core/objectives/lambdas.hpp"

namespace rankwright {

// Every pair of different labels weighs the same.
inline PairSettings plain_settings() {
    return {.loss = PairLoss::logistic,
            .shape = 1.0,
            .delta = Delta::constant,
            .truncation = 0,
            .sampled = 0,
            .pair_equal_labels = false,
            .certainty = std::numeric_limits<double>::infinity(),
            .query_norm = false,
            .gap_norm = false,
            .shuffle_ties = false,
            .expected_ties = false,
            .perturbations = 0,
            .noise = 1.0,
            .neighbours = false,
            .constant_share = 0.0};
}

} // namespace rankwright
