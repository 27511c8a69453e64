// Plain nets: fully connected layers from a document's features to its score.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankwright {

enum class Activation { relu, tanh, sigmoid, gelu };

// Fully connected layers of widths[1], widths[2], ... units; the last has one, which is the score.
struct PlainNet {
    std::span<const std::int64_t> widths; // beginning with the number of features
    std::span<float> weights;             // of each layer: [unit, input], then its thresholds
    bool last_threshold;                  // whether the last layer has one; all others do
    Activation activation;
    double dropout; // share of hidden units left out, drawn anew for every document and step
};

// The net's inputs from a row: (x - shift) · factor, 0 where x is NaN.
struct NetFeatures {
    std::span<const float> values, shift, factor;
};

// One layer, whose weights begin at `at` in those of the net.
struct Layer {
    std::size_t n_inputs, n_units, at;
    bool has_thresholds;

    std::size_t n_weights() const { return n_inputs * n_units; }
    std::size_t n_numbers() const { return n_weights() + (has_thresholds ? n_units : 0); }
};

std::vector<Layer> layers_of(const PlainNet &net);

// Fills the score of each of `rows`. What dropout leaves out is drawn from `key`, by row and unit.
void net_scores(const PlainNet &net, const NetFeatures &features, std::span<const std::int64_t> rows, std::uint64_t key,
                std::span<double> scores, int threads);

// Fills the derivative with respect to each weight of the sum over `rows` of forces[k] times the score of row k, with
// the same units left out as in net_scores. Sums have an order that does not depend on the number of threads.
void net_gradient(const PlainNet &net, const NetFeatures &features, std::span<const std::int64_t> rows,
                  std::uint64_t key, std::span<const float> forces, std::span<float> gradient, int threads);

} // namespace rankwright
