#include "bindings/define.hpp"
#include "bindings/objective_records.hpp"
#include "bindings/require.hpp"
#include "bindings/standardised_rows.hpp"
#include "core/nets/first_layer.hpp"
#include "core/nets/narrow_net.hpp"

namespace rankwright {

template <> struct Reader<NarrowNet> {
    static NarrowNet read(nb::handle net) {
        const auto activation = named<Activation>(
            field<std::string_view>(net, "activation"),
            {{"relu", Activation::relu}, {"tanh", Activation::tanh}, {"sigmoid", Activation::sigmoid}});
        return {.widths = view<std::int64_t>(net, "widths"),
                .weights = fill<float>(net, "weights"),
                .last_threshold = field<bool>(net, "last_threshold"),
                .activation = activation,
                .dropout = field<double>(net, "dropout")};
    }
};

template <> struct Reader<Descent> {
    static Descent read(nb::handle rule) {
        const auto optimizer = named<Optimizer>(field<std::string_view>(rule, "optimizer"),
                                                {{"adam", Optimizer::adam}, {"sgd", Optimizer::sgd}});
        return {.optimizer = optimizer,
                .learning_rate = field<double>(rule, "learning_rate"),
                .weight_decay = field<double>(rule, "weight_decay"),
                .pull = field<double>(rule, "pull"),
                .mean = fill<float>(rule, "mean"),
                .square = fill<float>(rule, "square"),
                .n_steps = field<std::int64_t>(rule, "n_steps")};
    }
};

template <> struct Reader<Walk> {
    static Walk read(nb::handle walk) {
        return {.queries = view<std::int64_t>(walk, "queries"),
                .starts = view<std::int64_t>(walk, "starts"),
                .keys = view<std::int64_t>(walk, "keys"),
                .batch_queries = field<std::size_t>(walk, "batch_queries"),
                .scores = fill<double>(walk, "scores"),
                .cost = fill<double>(walk, "cost")};
    }
};

namespace {

NetRows net_rows(const StandardisedRows &inputs, const In<std::int64_t> &rows) {
    inputs.require_rows(view(rows));
    return {inputs.features, inputs.n_features, view(rows), inputs.shift, inputs.factor};
}

std::size_t n_weights(const NarrowNet &net) {
    std::size_t found = 0;
    for (std::size_t layer = 1; layer < net.widths.size(); ++layer) {
        const auto below = static_cast<std::size_t>(net.widths[layer - 1]);
        const bool last = layer + 1 == net.widths.size();
        found += static_cast<std::size_t>(net.widths[layer]) * (below + (last && !net.last_threshold ? 0 : 1));
    }
    return found;
}

void require_descent(const NarrowNet &net, const StandardisedRows &inputs, const LabelledQueries &pairs,
                     const Descent &rule, const Walk &walk) {
    inputs.require_fit();
    require(net.widths.size() >= 2 && *std::min_element(net.widths.begin(), net.widths.end()) >= 0,
            "a net has the widths of its inputs and of a layer or more");
    require_size("the first of widths", static_cast<std::size_t>(net.widths[0]), inputs.n_features);
    require_size("weights", net.weights.size(), n_weights(net));
    const bool remembers = rule.optimizer == Optimizer::adam;
    require_size("mean", rule.mean.size(), remembers ? net.weights.size() : rule.mean.size());
    require_size("square", rule.square.size(), remembers ? net.weights.size() : rule.square.size());
    require_groups(pairs.data.groups, inputs.n_features == 0 ? pairs.data.labels.size() : inputs.n_rows());
    require_size("labels", pairs.data.labels.size(), static_cast<std::size_t>(pairs.data.groups.offsets.back()));
    require_batch(walk.queries, walk.starts, walk.scores.size(), pairs.data.groups);
    require_size_or_none("cost", walk.cost.size(), walk.queries.size());
    require(walk.batch_queries >= 1 && walk.keys.size() * walk.batch_queries >= walk.queries.size(),
            "every step needs a key");
}

} // namespace

void bind_nets(nb::module_ &module) {
    define(
        module, "first_layer", {"inputs", "rows", "weights", "out", "threads"},
        [](StandardisedRows inputs, In<std::int64_t> rows, InMatrix<float> weights, OutMatrix<float> out, int threads) {
            require_shape("weights", weights, weights.shape(0), inputs.n_features);
            require_shape("out", out, rows.size(), weights.shape(0));
            first_layer(net_rows(inputs, rows), view(weights), fill(out), threads);
        });
    define(module, "first_layer_gradient", {"inputs", "rows", "forces", "gradient", "threads"},
           [](StandardisedRows inputs, In<std::int64_t> rows, InMatrix<float> forces, OutMatrix<float> gradient,
              int threads) {
               require_shape("forces", forces, rows.size(), gradient.shape(0));
               require_shape("gradient", gradient, gradient.shape(0), inputs.n_features);
               first_layer_gradient(net_rows(inputs, rows), view(forces), fill(gradient), threads);
           });
    define(module, "descend_narrow_net", {"net", "inputs", "pairs", "rule", "walk", "threads"},
           [](NarrowNet net, StandardisedRows inputs, LabelledQueries pairs, Descent rule, Walk walk, int threads) {
               require_descent(net, inputs, pairs, rule, walk);
               return descend_narrow_net(net, {inputs.features, inputs.shift, inputs.factor}, pairs, rule, walk,
                                         threads);
           });
}

} // namespace rankwright
