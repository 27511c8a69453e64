// Training a narrow net: scores, forces on documents, derivatives of the weights and the optimizer's steps, in one
// pass.
//
// Such a net spends its time waiting for features. Going query by query, rows are loaded from memory once and are still
// in the cache when the derivatives need them again.
#pragma once

#include <cstdint>
#include <span>

#include "core/objectives/lambdas.hpp"

namespace rankwright {

enum class Activation { relu, tanh, sigmoid };

// Fully connected layers of widths[1], widths[2], ... units; the last has one, which is the score.
struct NarrowNet {
    std::span<const std::int64_t> widths; // beginning with the number of features
    std::span<float> weights;             // of each layer: [unit, input], then its thresholds
    bool last_threshold = false;          // whether the last layer has one; all others do
    Activation activation = Activation::relu;
    double dropout = 0.0; // share of hidden units left out, drawn anew for every document and step
};

// The net's inputs from a row: (x - shift) · factor, 0 where x is NaN.
struct NetFeatures {
    std::span<const float> values, shift, factor;
};

enum class Optimizer { adam, sgd };

// How weights follow the mean derivative of a step's queries. Adam decays weights apart from its step (Loshchilov,
// Hutter 2019) and remembers the means of derivatives and of their squares; plain descent needs neither.
struct Descent {
    Optimizer optimizer = Optimizer::adam;
    double learning_rate = 0.001, weight_decay = 0.0;
    double pull = 0.0; // towards zero: pull · weight is added to the derivative
    std::span<float> mean, square;
    std::int64_t n_steps = 0; // taken before these
};

// The queries to go through, `batch_queries` per step; those of queries[k] have their scores at starts[k] to
// starts[k + 1]. Each step draws its random numbers from its own key.
struct Walk {
    std::span<const std::int64_t> queries, starts, keys;
    std::size_t batch_queries = 1;
    std::span<double> scores; // filled: of each row, before its query's step
    std::span<double> cost;   // filled: of each query, as LambdaSpans has it; or empty
};

// Takes the steps and returns how many. A step whose scores are not finite is not taken, nor are those after it.
std::int64_t descend_narrow_net(const NarrowNet &net, const NetFeatures &features, const LabelledQueries &pairs,
                                const Descent &descent, const Walk &walk, int threads);

} // namespace rankwright
