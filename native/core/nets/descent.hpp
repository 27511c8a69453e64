// Training a plain net: the optimizer's steps; and, for pairs made from labels, scores, forces on documents,
// derivatives of the weights and steps in one pass.
//
// A narrow net spends its time waiting for features. Going query by query, rows are loaded from memory once and are
// still in the cache when the derivatives need them again.
#pragma once

#include <cstdint>
#include <span>

#include "core/nets/plain_net.hpp"
#include "core/objectives/lambdas.hpp"

namespace rankwright {

enum class Optimizer { adam, sgd };

// How weights follow the mean derivative of a step's queries. Adam decays weights apart from its step (Loshchilov,
// Hutter 2019) and remembers the means of derivatives and of their squares; plain descent needs neither.
struct Descent {
    Optimizer optimizer;
    double learning_rate, weight_decay;
    double pull; // towards zero: pull · weight is added to the derivative
    std::span<float> mean, square;
    std::int64_t n_steps; // taken before these
};

// Changes the weights by one step along the derivatives of the cost.
void follow_gradient(const Descent &descent, std::span<const float> gradient, std::span<float> weights);

// The queries to go through, `batch_queries` per step; those of queries[k] have their scores at starts[k] to
// starts[k + 1]. Each step draws its random numbers from its own key.
struct Walk {
    std::span<const std::int64_t> queries, starts, keys;
    std::size_t batch_queries;
    std::span<double> scores; // filled: of each row, the mean of members, before its query's step
    std::span<double> cost;   // filled: of each query, as LambdaSpans has it; or empty
};

// Takes the steps and returns how many. A step whose scores are not finite is not taken, nor are those after it.
std::int64_t descend_net(const PlainNet &net, const NetFeatures &features, const LabelledQueries &pairs,
                         const Descent &descent, const Walk &walk, int threads);

} // namespace rankwright
