// Plain nets: fully connected layers from a document's features to its score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/nets/pieces.hpp"

namespace rankwright {

enum class Activation { relu, tanh, sigmoid, gelu };

// Fully connected layers of widths[1], widths[2], ... units; the last has one, which is the score. Several members may
// share the weights of the hidden layers: each has a scale and a threshold for every hidden unit, and a last layer of
// its own; there must be a hidden layer then.
struct PlainNet {
    std::span<const std::int64_t> widths; // beginning with the number of inputs
    std::span<float> weights; // of each layer: [unit, input], scales if there are members, thresholds; [member, ...]
    bool last_threshold;      // whether the last layer has one; all others do
    Activation activation;
    double dropout; // share of hidden units left out, drawn anew for every document and step
    std::size_t n_members = 1;
};

// The net's inputs from a row: (x - shift) · factor, 0 where x is NaN; and the pieces of these, if there are any.
struct NetFeatures {
    std::span<const float> values, shift, factor;
    Pieces pieces = {};
};

// One layer, whose weights begin at `at` in those of the net.
struct Layer {
    std::size_t n_inputs, n_units, at; // the last layer has a unit for each member
    bool has_thresholds;
    std::size_t n_scales, n_thresholds;

    std::size_t n_weights() const { return n_inputs * n_units; }
    std::size_t n_numbers() const { return n_weights() + n_scales + n_thresholds; }
};

std::vector<Layer> layers_of(const PlainNet &net);

// Fills the score of each of `rows`: the mean of its members' scores. What dropout leaves out is drawn from `key`, by
// row, member and unit.
void net_scores(const PlainNet &net, const NetFeatures &features, std::span<const std::int64_t> rows, std::uint64_t key,
                std::span<double> scores, int threads);

// The same of each member: those of a row stand together.
void net_member_scores(const PlainNet &net, const NetFeatures &features, std::span<const std::int64_t> rows,
                       std::uint64_t key, std::span<double> scores, int threads);

// Fills the derivative with respect to each weight of the sum over `rows` and members of forces[k] times score k of
// net_member_scores, with the same units left out. Sums have an order that does not depend on the number of threads.
void net_gradient(const PlainNet &net, const NetFeatures &features, std::span<const std::int64_t> rows,
                  std::uint64_t key, std::span<const float> forces, std::span<float> gradient, int threads);

} // namespace rankwright
