#include "core/nets/narrow_net.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/common/counter_random.hpp"
#include "core/common/elementary.hpp"
#include "core/common/team.hpp"
#include "core/nets/first_layer.hpp"
#include "core/objectives/batches.hpp"
#include "core/objectives/query_pairs.hpp"
#include "core/ranking/ordering.hpp"

namespace rankwright {

namespace {

// Derivatives are summed in this many parts of a batch, then over the parts in order, whatever the number of threads.
constexpr std::size_t most_parts = 8;

// One layer, whose weights begin at `at` in those of the net.
struct Layer {
    std::size_t n_inputs = 0, n_units = 0, at = 0;
    bool has_thresholds = true;

    std::size_t n_weights() const { return n_inputs * n_units; }
    std::size_t n_numbers() const { return n_weights() + (has_thresholds ? n_units : 0); }
};

std::vector<Layer> layers_of(const NarrowNet &net) {
    std::vector<Layer> layers;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < net.widths.size(); ++i) {
        const bool is_last = i + 2 == net.widths.size();
        layers.push_back({static_cast<std::size_t>(net.widths[i]), static_cast<std::size_t>(net.widths[i + 1]), at,
                          !is_last || net.last_threshold});
        at += layers.back().n_numbers();
    }
    return layers;
}

// A unit's output for its input z, and how fast it changes there.
struct Response {
    float output, slope;
};

Response respond(Activation activation, float z) {
    if (activation == Activation::relu) return {z > 0.0F ? z : 0.0F, z > 0.0F ? 1.0F : 0.0F};
    if (activation == Activation::tanh) {
        const float output = tanh_of(z);
        return {output, 1.0F - output * output};
    }
    const float e = exp_minus(std::abs(z)), large = 1.0F / (1.0F + e), small = e * large;
    return {z < 0.0F ? small : large, large * small};
}

// The data that all parts of a step read. The step's queries are walk.queries[first] to walk.queries[last].
struct Step {
    const NarrowNet &net;
    const NetFeatures &features;
    const LabelledQueries &pairs;
    const Walk &walk;
    std::vector<Layer> layers;
    std::vector<float> first_weights; // padded
    std::size_t first = 0, last = 0;
    std::uint64_t key = 0;

    void begin(std::size_t number) {
        first = number * walk.batch_queries;
        last = std::min(first + walk.batch_queries, walk.queries.size());
        key = static_cast<std::uint64_t>(walk.keys[number]);
        first_weights = padded_rows(net.weights.first(layers[0].n_weights()), layers[0].n_inputs);
    }

    const float *weights(const Layer &layer) const { return net.weights.data() + layer.at; }
    const float *thresholds(const Layer &layer) const { return weights(layer) + layer.n_weights(); }

    // A part's sums: those of the first layer's weights, padded, then one for every other number of the net.
    std::size_t n_padded() const { return layers[0].n_units * padded_width(layers[0].n_inputs); }
    std::size_t n_sums() const { return n_padded() + net.weights.size() - layers[0].n_weights(); }
    std::size_t place_of_sum(std::size_t weight) const { return n_padded() + weight - layers[0].n_weights(); }
};

// Takes one query after another through the net and back.
class Worker {
  public:
    explicit Worker(const Step &step)
        : step_(step), pairs_(step.pairs.data, step.pairs.settings, !step.walk.cost.empty()),
          inputs_(step.layers.size()), slopes_(step.layers.size()), sums_(step.n_sums()) {}

    // Runs the queries of one of the step's `n_parts` parts; false where a score is not finite.
    bool run(std::size_t part, std::size_t n_parts) {
        std::ranges::fill(sums_, 0.0F);
        const std::size_t n = step_.last - step_.first;
        for (std::size_t k = part * n / n_parts; k < (part + 1) * n / n_parts; ++k) {
            if (!run_query(step_.first + k)) return false;
        }
        return true;
    }

    std::span<const float> sums() const { return sums_; }

  private:
    bool run_query(std::size_t k) {
        const auto start = static_cast<std::size_t>(step_.walk.starts[k]);
        n_docs_ = static_cast<std::size_t>(step_.walk.starts[k + 1]) - start;
        rows_.resize(n_docs_);
        std::iota(rows_.begin(), rows_.end(),
                  step_.pairs.data.groups.offsets[static_cast<std::size_t>(step_.walk.queries[k])]);
        const auto scores = step_.walk.scores.subspan(start, n_docs_);
        forward(scores);
        if (!std::ranges::all_of(scores, [](double score) { return std::isfinite(score); })) return false;
        find_forces(k, scores);
        backward();
        return true;
    }

    NetRows rows() const {
        return {step_.features.values, step_.layers[0].n_inputs, rows_, step_.features.shift, step_.features.factor};
    }

    // `inputs_[i]` is what layer i gets, but for the first, which reads features; `slopes_[i]` belongs to its units.
    void forward(std::span<double> scores) {
        for (std::size_t i = 0; i < step_.layers.size(); ++i) {
            const Layer &layer = step_.layers[i];
            sums_of_units_.resize(n_docs_ * layer.n_units);
            i == 0 ? first_layer_here(rows(), step_.first_weights, sums_of_units_) : multiply(layer, inputs_[i]);
            if (layer.has_thresholds) add_thresholds(layer);
            if (i + 1 < step_.layers.size()) activate(i);
        }
        std::ranges::copy(sums_of_units_, scores.begin());
    }

    void multiply(const Layer &layer, const std::vector<float> &inputs) {
        const float *weights = step_.weights(layer);
        for (std::size_t doc = 0; doc < n_docs_; ++doc) {
            for (std::size_t unit = 0; unit < layer.n_units; ++unit) {
                float sum = 0.0F;
                for (std::size_t input = 0; input < layer.n_inputs; ++input) {
                    sum += weights[unit * layer.n_inputs + input] * inputs[doc * layer.n_inputs + input];
                }
                sums_of_units_[doc * layer.n_units + unit] = sum;
            }
        }
    }

    void add_thresholds(const Layer &layer) {
        const float *thresholds = step_.thresholds(layer);
        for (std::size_t doc = 0; doc < n_docs_; ++doc) {
            for (std::size_t unit = 0; unit < layer.n_units; ++unit) {
                sums_of_units_[doc * layer.n_units + unit] += thresholds[unit];
            }
        }
    }

    void activate(std::size_t i) {
        const std::size_t n_units = step_.layers[i].n_units, n = n_docs_ * n_units;
        const double dropout = step_.net.dropout;
        const auto kept = static_cast<float>(1.0 / (1.0 - dropout)); // keeps the mean of the outputs
        const std::uint64_t stream = stream_of(step_.key, i);
        const std::size_t first_number = n_docs_ == 0 ? 0 : static_cast<std::size_t>(rows_[0]) * n_units;
        inputs_[i + 1].resize(n);
        slopes_[i].resize(n);
        for (std::size_t at = 0; at < n; ++at) {
            auto [output, slope] = respond(step_.net.activation, sums_of_units_[at]);
            if (dropout > 0.0) {
                const bool stays = unit_interval(stream_of(stream, first_number + at)) >= dropout;
                output *= stays ? kept : 0.0F;
                slope *= stays ? kept : 0.0F;
            }
            inputs_[i + 1][at] = output;
            slopes_[i][at] = slope;
        }
    }

    // Forces on the query's documents, divided by the number of the step's queries.
    void find_forces(std::size_t k, std::span<const double> scores) {
        const Batch whole{step_.walk.scores, step_.walk.queries, step_.walk.starts, step_.key};
        BatchQuery query = query_of(whole, step_.pairs.data.groups, k);
        query.start = 0; // ranks below count from the query's first row
        if (pairs_.reads_ranks()) {
            const std::int64_t offsets[] = {0, static_cast<std::int64_t>(n_docs_)};
            ranked_.resize(n_docs_);
            rank_rows(scores, offsets, ranked_, 1);
        }
        pairs_.add_pairs_of_labels(query, step_.pairs.by_label, ranked_);
        forces_.resize(n_docs_);
        curvature_.resize(n_docs_);
        pairs_.unload(forces_, curvature_);
        for (float &force : forces_) force /= static_cast<float>(step_.last - step_.first);
        if (!step_.walk.cost.empty()) step_.walk.cost[k] = pairs_.cost();
    }

    // `forces_` are those on the units of the layer at hand, document after document.
    void backward() {
        for (std::size_t i = step_.layers.size(); i-- > 0;) {
            const Layer &layer = step_.layers[i];
            if (i + 1 < step_.layers.size()) {
                for (std::size_t at = 0; at < forces_.size(); ++at) forces_[at] *= slopes_[i][at];
            }
            if (layer.has_thresholds) add_to_thresholds(layer);
            if (i == 0) {
                add_first_layer_gradient(rows(), forces_, std::span(sums_).first(step_.n_padded()));
            } else {
                add_to_weights(layer, inputs_[i]);
                hand_back(layer);
            }
        }
    }

    void add_to_thresholds(const Layer &layer) {
        float *sums = sums_.data() + step_.place_of_sum(layer.at + layer.n_weights());
        for (std::size_t doc = 0; doc < n_docs_; ++doc) {
            for (std::size_t unit = 0; unit < layer.n_units; ++unit) sums[unit] += forces_[doc * layer.n_units + unit];
        }
    }

    void add_to_weights(const Layer &layer, const std::vector<float> &inputs) {
        float *sums = sums_.data() + step_.place_of_sum(layer.at);
        for (std::size_t doc = 0; doc < n_docs_; ++doc) {
            for (std::size_t unit = 0; unit < layer.n_units; ++unit) {
                const float force = forces_[doc * layer.n_units + unit];
                for (std::size_t input = 0; input < layer.n_inputs; ++input) {
                    sums[unit * layer.n_inputs + input] += force * inputs[doc * layer.n_inputs + input];
                }
            }
        }
    }

    // Forces on a layer's units become forces on its inputs.
    void hand_back(const Layer &layer) {
        const float *weights = step_.weights(layer);
        handed_.assign(n_docs_ * layer.n_inputs, 0.0F);
        for (std::size_t doc = 0; doc < n_docs_; ++doc) {
            for (std::size_t unit = 0; unit < layer.n_units; ++unit) {
                const float force = forces_[doc * layer.n_units + unit];
                for (std::size_t input = 0; input < layer.n_inputs; ++input) {
                    handed_[doc * layer.n_inputs + input] += force * weights[unit * layer.n_inputs + input];
                }
            }
        }
        forces_.swap(handed_);
    }

    const Step &step_;
    QueryPairs<float> pairs_;
    std::size_t n_docs_ = 0;
    std::vector<std::int64_t> rows_, ranked_;
    std::vector<std::vector<float>> inputs_, slopes_;
    std::vector<float> sums_of_units_, forces_, curvature_, handed_;
    std::vector<float> sums_; // of derivatives
};

// Adds a part's sums to the derivatives.
void add_sums(const Step &step, std::span<const float> sums, std::span<float> gradient) {
    const Layer &first = step.layers[0];
    const std::size_t width = padded_width(first.n_inputs);
    for (std::size_t unit = 0; unit < first.n_units; ++unit) {
        const float *own = sums.data() + unit * width;
        float *out = gradient.data() + unit * first.n_inputs;
        for (std::size_t input = 0; input < first.n_inputs; ++input) out[input] += own[input];
    }
    const auto others = sums.subspan(step.n_padded());
    const auto out = gradient.subspan(first.n_weights());
    for (std::size_t at = 0; at < out.size(); ++at) out[at] += others[at];
}

constexpr double mean_decay = 0.9, square_decay = 0.999, smallest_divisor = 1e-8; // Adam's usual ones

void follow(const Descent &descent, std::int64_t step_number, std::span<const float> gradient,
            std::span<float> weights) {
    const auto rate = static_cast<float>(descent.learning_rate), pull = static_cast<float>(descent.pull);
    const auto decay = static_cast<float>(descent.weight_decay);
    if (descent.optimizer == Optimizer::sgd) {
        for (std::size_t i = 0; i < weights.size(); ++i) {
            weights[i] -= rate * (gradient[i] + (pull + decay) * weights[i]);
        }
        return;
    }
    const auto b1 = static_cast<float>(mean_decay), b2 = static_cast<float>(square_decay);
    // Both means begin at zero; the factors make up for it.
    const auto steps = static_cast<double>(step_number);
    const auto step_size = static_cast<float>(descent.learning_rate / (1.0 - std::pow(mean_decay, steps)));
    const auto root = static_cast<float>(std::sqrt(1.0 - std::pow(square_decay, steps)));
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const float slope = gradient[i] + pull * weights[i];
        descent.mean[i] = b1 * descent.mean[i] + (1.0F - b1) * slope;
        descent.square[i] = b2 * descent.square[i] + (1.0F - b2) * slope * slope;
        const float divisor = std::sqrt(descent.square[i]) / root + static_cast<float>(smallest_divisor);
        weights[i] -= rate * decay * weights[i] + step_size * descent.mean[i] / divisor;
    }
}

} // namespace

std::int64_t descend_narrow_net(const NarrowNet &net, const NetFeatures &features, const LabelledQueries &pairs,
                                const Descent &descent, const Walk &walk, int threads) {
    Step step{net, features, pairs, walk, layers_of(net), {}};
    std::vector<std::unique_ptr<Worker>> workers;
    for (std::size_t part = 0; part < std::min(most_parts, walk.batch_queries); ++part) {
        workers.push_back(std::make_unique<Worker>(step));
    }
    std::vector<float> gradient(net.weights.size());
    Team team(std::min(threads, static_cast<int>(workers.size())));
    for (std::size_t number = 0; number < walk.keys.size(); ++number) {
        step.begin(number);
        const std::size_t n_parts = std::min(workers.size(), step.last - step.first);
        std::atomic<std::size_t> next_part{0};
        std::atomic<bool> is_finite{true};
        team.run([&](int) {
            for (std::size_t part; (part = next_part.fetch_add(1)) < n_parts;) {
                if (!workers[part]->run(part, n_parts)) is_finite = false;
            }
        });
        if (!is_finite) return static_cast<std::int64_t>(number);
        std::ranges::fill(gradient, 0.0F);
        for (std::size_t part = 0; part < n_parts; ++part) add_sums(step, workers[part]->sums(), gradient);
        follow(descent, descent.n_steps + static_cast<std::int64_t>(number) + 1, gradient, net.weights);
    }
    return static_cast<std::int64_t>(walk.keys.size());
}

} // namespace rankwright
