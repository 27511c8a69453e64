// How a comparator net is computed: weights laid out for vectors, and one pair after another through the layers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/common/vectors.hpp"
#include "core/comparators/comparator.hpp"

namespace rankwright {

// Neurons are padded to whole packs: the weights of the added ones are 0, and so are their outputs.
constexpr std::size_t pack_size = 8;
using Neurons = Pack<float, pack_size * sizeof(float)>;

constexpr std::size_t whole_packs(std::size_t n) { return (n + pack_size - 1) / pack_size * pack_size; }

// Sums run in eight lanes whatever the processor, so that all give the same bits.
[[gnu::always_inline]] inline float lane_sum(Neurons values) {
    const auto halves = same_bits<std::array<Pack<float, 16>, 2>>(values);
    const auto four = halves[0] + halves[1];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

// A layer above the first: `neurons` and `duals` have a row of `width` weights for each of its neurons.
struct UpperLayer {
    std::size_t n, width;
    std::vector<float> neurons, duals, biases;
};

// A comparator's weights, laid out for vectors. `first` has a row per feature: the weights of the first layer's neurons
// for the left document, then those for the right one.
struct PreparedNet {
    std::size_t n_features, n_hidden, width;
    std::vector<float> first, biases;
    std::vector<UpperLayer> upper; // the last one is the output

    explicit PreparedNet(const Comparator &net)
        : n_features(static_cast<std::size_t>(net.sizes[0])), n_hidden(static_cast<std::size_t>(net.sizes[1])),
          width(whole_packs(n_hidden)), first(n_features * 2 * width), biases(width) {
        auto from = net.weights.begin();
        const auto take = [&from](std::vector<float> &to, std::size_t at, std::size_t n) {
            std::copy_n(from, n, to.begin() + static_cast<std::ptrdiff_t>(at));
            from += static_cast<std::ptrdiff_t>(n);
        };
        for (std::size_t side = 0; side < 2; ++side) {
            for (std::size_t k = 0; k < n_features; ++k) take(first, (2 * k + side) * width, n_hidden);
        }
        take(biases, 0, n_hidden);
        for (std::size_t depth = 1; depth < net.sizes.size(); ++depth) {
            const auto below = static_cast<std::size_t>(net.sizes[depth]);
            const auto n = depth + 1 < net.sizes.size() ? static_cast<std::size_t>(net.sizes[depth + 1]) : 1;
            const std::size_t row = whole_packs(below);
            UpperLayer layer{n, row, std::vector<float>(n * row), std::vector<float>(n * row), std::vector<float>(n)};
            for (auto *weights : {&layer.neurons, &layer.duals}) {
                for (std::size_t i = 0; i < n; ++i) take(*weights, i * row, below);
            }
            take(layer.biases, 0, n);
            upper.push_back(std::move(layer));
        }
    }
};

// What one document alone contributes to the first layer: `width` numbers as the left document, biases added, and as
// many as the right one. The layer is linear up to its neurons, so this is all a comparison needs of a document.
template <std::size_t n_packs>
[[gnu::always_inline]] inline void add_halves(const PreparedNet &net, const float *document, std::size_t at,
                                              float *out) {
    Neurons sums[n_packs] = {};
    for (std::size_t k = 0; k < net.n_features; ++k) {
        const float value = document[k] == document[k] ? document[k] : 0.0F;
        const float *weights = net.first.data() + k * 2 * net.width + at;
#pragma GCC unroll 8
        for (std::size_t pack = 0; pack < n_packs; ++pack) {
            sums[pack] += value * load<Neurons>(weights + pack * pack_size);
        }
    }
    for (std::size_t pack = 0; pack < n_packs; ++pack) store(out + at + pack * pack_size, sums[pack]);
}

[[gnu::always_inline]] inline void fill_halves(const PreparedNet &net, const float *document, float *out) {
    const std::size_t wanted = 2 * net.width;
    std::size_t at = 0;
    for (; at + 6 * pack_size <= wanted; at += 6 * pack_size) add_halves<6>(net, document, at, out);
    for (; at + 2 * pack_size <= wanted; at += 2 * pack_size) add_halves<2>(net, document, at, out);
    for (std::size_t j = 0; j < net.width; ++j) out[j] += net.biases[j];
}

// The outputs of each layer for a pair: its neurons, then their duals. Each thread has its own.
class Activations {
  public:
    explicit Activations(const PreparedNet &net) : first_(2 * net.width) {
        for (const auto &layer : net.upper) upper_.emplace_back(2 * whole_packs(layer.n));
    }
    float *of_layer(std::size_t depth) { return depth == 0 ? first_.data() : upper_[depth - 1].data(); }

  private:
    std::vector<float> first_;
    std::vector<std::vector<float>> upper_;
};

struct Outputs {
    float left, right; // of the neuron that stands for "left ranks higher", and of its dual
};

[[gnu::always_inline]] inline Outputs add_up(const UpperLayer &layer, std::size_t neuron, const float *below) {
    const float *of_neurons = layer.neurons.data() + neuron * layer.width;
    const float *of_duals = layer.duals.data() + neuron * layer.width;
    Neurons own = {}, dual = {};
    for (std::size_t j = 0; j < layer.width; j += pack_size) {
        const auto a = load<Neurons>(of_neurons + j), b = load<Neurons>(of_duals + j);
        const auto x = load<Neurons>(below + j), y = load<Neurons>(below + layer.width + j);
        own += a * x + b * y;
        dual += a * y + b * x;
    }
    return {lane_sum(own) + layer.biases[neuron], lane_sum(dual) + layer.biases[neuron]};
}

// The outputs for a pair of documents, given by their halves; `activations` is filled on the way.
[[gnu::always_inline]] inline Outputs compare(const PreparedNet &net, const float *left, const float *right,
                                              Activations &activations) {
    float *below = activations.of_layer(0);
    for (std::size_t j = 0; j < net.width; j += pack_size) {
        store(below + j, tanh_of<Neurons>(load<Neurons>(left + j) + load<Neurons>(right + net.width + j)));
        store(below + net.width + j, tanh_of<Neurons>(load<Neurons>(right + j) + load<Neurons>(left + net.width + j)));
    }
    for (std::size_t depth = 0; depth + 1 < net.upper.size(); ++depth) {
        const UpperLayer &layer = net.upper[depth];
        float *here = activations.of_layer(depth + 1);
        const std::size_t duals = whole_packs(layer.n);
        for (std::size_t i = 0; i < layer.n; ++i) {
            const Outputs sums = add_up(layer, i, below);
            here[i] = tanh_of(sums.left), here[duals + i] = tanh_of(sums.right);
        }
        below = here;
    }
    return add_up(net.upper.back(), 0, below);
}

} // namespace rankwright
