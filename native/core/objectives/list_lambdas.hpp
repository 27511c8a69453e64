// λ-gradients of losses that need no pairs: of each document alone, and of a query's scores as one distribution.
#pragma once

#include <span>

#include "core/objectives/batches.hpp"

namespace rankwright {

enum class PointLoss {
    squared, // ½ (s - target)²
    logistic // log(1 + e^s) - target · s, target in [0, 1]
};

// `targets` has one per row of the dataset; documents whose target is NaN get no force.
template <typename Out>
void point_lambdas(const WeighedGroups &groups, std::span<const float> targets, PointLoss loss, const Batch &batch,
                   const LambdaSpans<Out> &out, int threads);

// How the shares of a query's documents in the target distribution come from `shares`, one per row of the dataset.
struct SoftmaxTarget {
    std::span<const double> shares; // NaN: the document takes no part
    bool exponential;               // shares are in proportion to their exponentials, else to themselves
    bool noise;                     // plus a random number from 0 to 1 each
};

// The cross entropy between the target distribution and the softmax of the scores.
template <typename Out>
void softmax_lambdas(const WeighedGroups &groups, const SoftmaxTarget &target, const Batch &batch,
                     const LambdaSpans<Out> &out, int threads);

} // namespace rankwright
