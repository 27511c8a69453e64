#include "bindings/define.hpp"
#include "bindings/objective_records.hpp"
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
    return {inputs.features, inputs.n_features, view(rows), inputs.shift, inputs.factor};
}

} // namespace

void bind_nets(nb::module_ &module) {
    define(module, "first_layer", {"inputs", "rows", "weights", "out", "threads"},
           [](StandardisedRows inputs, In<std::int64_t> rows, InMatrix<float> weights, OutMatrix<float> out,
              int threads) { first_layer(net_rows(inputs, rows), view(weights), fill(out), threads); });
    define(module, "first_layer_gradient", {"inputs", "rows", "forces", "gradient", "threads"},
           [](StandardisedRows inputs, In<std::int64_t> rows, InMatrix<float> forces, OutMatrix<float> gradient,
              int threads) { first_layer_gradient(net_rows(inputs, rows), view(forces), fill(gradient), threads); });
    define(module, "descend_narrow_net", {"net", "inputs", "pairs", "rule", "walk", "threads"},
           [](NarrowNet net, StandardisedRows inputs, LabelledQueries pairs, Descent rule, Walk walk, int threads) {
               return descend_narrow_net(net, {inputs.features, inputs.shift, inputs.factor}, pairs, rule, walk,
                                         threads);
           });
}

} // namespace rankwright
