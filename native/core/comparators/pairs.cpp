#include <memory>

#include "core/common/parallel.hpp"
#include "core/common/simd.hpp"
#include "core/comparators/comparator.hpp"
#include "core/comparators/layers.hpp"

namespace rankwright {

namespace {

constexpr std::size_t pairs_at_a_time = 256, queries_a_block = 4;

struct ComparePairs {
    [[gnu::always_inline]] static void run(const PreparedNet *net, const float *features, const std::int64_t *left,
                                           const std::int64_t *right, std::size_t n, float *out) {
        Activations activations(*net);
        std::vector<float> halves(4 * net->width);
        const auto document = [&](std::int64_t row) {
            return features + static_cast<std::size_t>(row) * net->n_features;
        };
        for (std::size_t k = 0; k < n; ++k) {
            fill_halves(*net, document(left[k]), halves.data());
            fill_halves(*net, document(right[k]), halves.data() + 2 * net->width);
            const Outputs found = compare(*net, halves.data(), halves.data() + 2 * net->width, activations);
            out[2 * k] = found.left, out[2 * k + 1] = found.right;
        }
    }
};

[[gnu::always_inline]] inline double sigmoid(double x) {
    const double e = exp_minus(x < 0 ? -x : x);
    return (x < 0 ? e : 1.0) / (1.0 + e);
}

struct CostOfPair {
    double value;
    float left, right; // derivatives by the outputs' inputs
};

// The targets are 1 for the output that says "the better one ranks higher" and 0 for its dual (Eq. 3).
[[gnu::always_inline]] inline CostOfPair cost_of_pair(PairCost cost, Outputs outputs) {
    const double wins = sigmoid(outputs.left), loses = sigmoid(outputs.right);
    if (cost == PairCost::squared) {
        return {(1 - wins) * (1 - wins) + loses * loses, static_cast<float>(-2 * (1 - wins) * (1 - wins) * wins),
                static_cast<float>(2 * loses * loses * (1 - loses))};
    }
    const double size_left = outputs.left < 0 ? -outputs.left : 0.0, size_right = outputs.right > 0 ? outputs.right : 0;
    const double logs = log_one_plus(exp_minus<double>(outputs.left < 0 ? -outputs.left : outputs.left)) +
                        log_one_plus(exp_minus<double>(outputs.right < 0 ? -outputs.right : outputs.right));
    return {size_left + size_right + logs, static_cast<float>(wins - 1), static_cast<float>(loses)};
}

// Derivatives by a net's weights, laid out as the prepared net is, and the cost.
struct Slopes {
    std::vector<float> first, biases;
    std::vector<UpperLayer> upper;
    double cost = 0;

    explicit Slopes(const PreparedNet &net) : first(net.first.size()), biases(net.width) {
        for (const auto &layer : net.upper) {
            upper.push_back({layer.n, layer.width, std::vector<float>(layer.neurons.size()),
                             std::vector<float>(layer.duals.size()), std::vector<float>(layer.n)});
        }
    }

    // Adds to derivatives in the order of the flat weights.
    void add_to(const PreparedNet &net, std::span<double> gradient) const {
        auto to = gradient.begin();
        const auto give = [&to](const std::vector<float> &from, std::size_t at, std::size_t n) {
            for (std::size_t i = 0; i < n; ++i) *to++ += from[at + i];
        };
        for (std::size_t side = 0; side < 2; ++side) {
            for (std::size_t k = 0; k < net.n_features; ++k) give(first, (2 * k + side) * net.width, net.n_hidden);
        }
        give(biases, 0, net.n_hidden);
        std::size_t below = net.n_hidden;
        for (const auto &layer : upper) {
            for (const auto *weights : {&layer.neurons, &layer.duals}) {
                for (std::size_t i = 0; i < layer.n; ++i) give(*weights, i * layer.width, below);
            }
            give(layer.biases, 0, layer.n);
            below = layer.n;
        }
    }
};

// The backward step of a neuron and its dual: adds to the derivatives by their weights and by the layer below.
[[gnu::always_inline]] inline void pass_down(const UpperLayer &layer, std::size_t neuron, Outputs slope,
                                             const float *below, UpperLayer &weights, float *slopes_below) {
    const std::size_t row = neuron * layer.width;
    for (std::size_t j = 0; j < layer.width; j += pack_size) {
        const auto a = load<Neurons>(layer.neurons.data() + row + j), b = load<Neurons>(layer.duals.data() + row + j);
        const auto x = load<Neurons>(below + j), y = load<Neurons>(below + layer.width + j);
        float *of_neurons = weights.neurons.data() + row + j, *of_duals = weights.duals.data() + row + j;
        store(of_neurons, load<Neurons>(of_neurons) + (slope.left * x + slope.right * y));
        store(of_duals, load<Neurons>(of_duals) + (slope.left * y + slope.right * x));
        float *to_x = slopes_below + j, *to_y = slopes_below + layer.width + j;
        store(to_x, load<Neurons>(to_x) + (slope.left * a + slope.right * b));
        store(to_y, load<Neurons>(to_y) + (slope.left * b + slope.right * a));
    }
    weights.biases[neuron] += slope.left + slope.right;
}

struct DescendQuery {
    // `halves` and `slopes` have room for the query's documents; `slopes` is filled with the derivatives by the halves.
    [[gnu::always_inline]] static void run(const PreparedNet *net, const float *features, std::size_t n_docs,
                                           std::int64_t first_row, const TrainingPairs *pairs, std::size_t first_pair,
                                           std::size_t last_pair, PairCost cost, bool with_slopes, float *halves,
                                           float *slopes, Activations *activations, Activations *downward,
                                           Slopes *sums) {
        const std::size_t stride = 2 * net->width;
        for (std::size_t row = 0; row < n_docs; ++row) {
            fill_halves(*net, features + row * net->n_features, halves + row * stride);
        }
        if (with_slopes) std::fill_n(slopes, n_docs * stride, 0.0F);
        for (std::size_t pair = first_pair; pair < last_pair; ++pair) {
            const auto x = static_cast<std::size_t>(pairs->better[pair] - first_row) * stride;
            const auto y = static_cast<std::size_t>(pairs->worse[pair] - first_row) * stride;
            const Outputs outputs = compare(*net, halves + x, halves + y, *activations);
            CostOfPair found = cost_of_pair(cost, outputs);
            sums->cost += pairs->weight[pair] * found.value;
            if (!with_slopes) continue;
            found.left *= pairs->weight[pair], found.right *= pairs->weight[pair];
            descend(*net, found, *activations, *downward, *sums);
            add_slopes(*net, activations->of_layer(0), downward->of_layer(0), slopes + x, slopes + y);
        }
        if (with_slopes) add_outer(*net, features, n_docs, slopes, *sums);
    }

    [[gnu::always_inline]] static void descend(const PreparedNet &net, const CostOfPair &cost, Activations &activations,
                                               Activations &downward, Slopes &sums) {
        for (std::size_t depth = net.upper.size(); depth-- > 0;) {
            const UpperLayer &layer = net.upper[depth];
            float *to = downward.of_layer(depth);
            std::fill_n(to, 2 * layer.width, 0.0F);
            const bool is_output = depth + 1 == net.upper.size();
            const float *here = activations.of_layer(depth + 1), *slopes = downward.of_layer(depth + 1);
            const std::size_t duals = whole_packs(layer.n);
            for (std::size_t i = 0; i < layer.n; ++i) {
                const Outputs slope = is_output ? Outputs{cost.left, cost.right}
                                                : Outputs{slopes[i] * (1 - here[i] * here[i]),
                                                          slopes[duals + i] * (1 - here[duals + i] * here[duals + i])};
                pass_down(layer, i, slope, activations.of_layer(depth), sums.upper[depth], to);
            }
        }
    }

    // A neuron sees x from the left and y from the right, its dual the other way round.
    [[gnu::always_inline]] static void add_slopes(const PreparedNet &net, const float *first, const float *down,
                                                  float *x, float *y) {
        const std::size_t width = net.width;
        for (std::size_t j = 0; j < width; j += pack_size) {
            const auto a = load<Neurons>(first + j), c = load<Neurons>(first + width + j);
            const auto neuron = load<Neurons>(down + j) * (1.0F - a * a);
            const auto dual = load<Neurons>(down + width + j) * (1.0F - c * c);
            store(x + j, load<Neurons>(x + j) + neuron);
            store(y + width + j, load<Neurons>(y + width + j) + neuron);
            store(y + j, load<Neurons>(y + j) + dual);
            store(x + width + j, load<Neurons>(x + width + j) + dual);
        }
    }

    [[gnu::always_inline]] static void add_outer(const PreparedNet &net, const float *features, std::size_t n_docs,
                                                 const float *slopes, Slopes &sums) {
        const std::size_t stride = 2 * net.width;
        for (std::size_t row = 0; row < n_docs; ++row) {
            const float *own = slopes + row * stride, *document = features + row * net.n_features;
            for (std::size_t j = 0; j < net.width; ++j) sums.biases[j] += own[j];
            for (std::size_t k = 0; k < net.n_features; ++k) {
                const float value = document[k] == document[k] ? document[k] : 0.0F;
                float *to = sums.first.data() + k * stride;
                for (std::size_t j = 0; j < stride; j += pack_size) {
                    store(to + j, load<Neurons>(to + j) + value * load<Neurons>(own + j));
                }
            }
        }
    }
};

// Scratch memory for one query at a time, as large as the largest so far needs.
struct QueryRoom {
    std::vector<float> halves, slopes;
    void reserve(std::size_t n) {
        if (halves.size() < n) halves.resize(n), slopes.resize(n);
    }
};

} // namespace

void compare_pairs(const Comparator &net, std::span<const float> features, std::span<const std::int64_t> left,
                   std::span<const std::int64_t> right, std::span<float> out, int threads) {
    const PreparedNet prepared(net);
    const Simd simd = simd_level();
    parallel_for(left.size(), threads, pairs_at_a_time, [&](std::size_t first, std::size_t last) {
        run_for<ComparePairs>(simd, &prepared, features.data(), left.data() + first, right.data() + first, last - first,
                              out.data() + 2 * first);
    });
}

double comparator_gradient(const Comparator &net, const Documents &documents, const TrainingPairs &pairs,
                           std::span<const std::int64_t> queries, PairCost cost, std::span<double> gradient,
                           int threads) {
    const PreparedNet prepared(net);
    const Simd simd = simd_level();
    const std::size_t n_blocks = (queries.size() + queries_a_block - 1) / queries_a_block;
    std::vector<std::unique_ptr<Slopes>> blocks(n_blocks);
    parallel_for(queries.size(), threads, queries_a_block, [&](std::size_t first, std::size_t last) {
        auto sums = std::make_unique<Slopes>(prepared);
        Activations activations(prepared), downward(prepared);
        QueryRoom room;
        for (std::size_t k = first; k < last; ++k) {
            const auto query = static_cast<std::size_t>(queries[k]);
            const auto start = documents.offsets[query];
            const auto n_docs = static_cast<std::size_t>(documents.offsets[query + 1] - start);
            room.reserve(n_docs * 2 * prepared.width);
            run_for<DescendQuery>(simd, &prepared,
                                  documents.features.data() + static_cast<std::size_t>(start) * prepared.n_features,
                                  n_docs, start, &pairs, static_cast<std::size_t>(pairs.offsets[query]),
                                  static_cast<std::size_t>(pairs.offsets[query + 1]), cost, !gradient.empty(),
                                  room.halves.data(), room.slopes.data(), &activations, &downward, sums.get());
        }
        blocks[first / queries_a_block] = std::move(sums);
    });
    std::ranges::fill(gradient, 0.0);
    double total = 0;
    for (const auto &block : blocks) {
        total += block->cost;
        if (!gradient.empty()) block->add_to(prepared, gradient);
    }
    return total;
}

} // namespace rankwright
