#include "bindings/define.hpp"
#include "bindings/pair_settings.hpp"
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

template <> struct Reader<NetFeatures> {
    static NetFeatures read(nb::handle inputs) {
        return {.values = view(field<InMatrix<float>>(inputs, "features")),
                .shift = view<float>(inputs, "shift"),
                .factor = view<float>(inputs, "factor")};
    }
};

template <> struct Reader<LabelledQueries> {
    static LabelledQueries read(nb::handle pairs) {
        const WeighedGroups groups{.offsets = view<std::int64_t>(pairs, "offsets"),
                                   .document_weights = view<float>(pairs, "document_weights"),
                                   .query_weights = view<float>(pairs, "query_weights")};
        return {.data = {.groups = groups,
                         .labels = view<float>(pairs, "labels"),
                         .worth = view<double>(pairs, "worth"),
                         .discount = view<double>(pairs, "discount")},
                .by_label = view<std::int64_t>(pairs, "by_label"),
                .settings = Reader<PairSettings>::read(pairs.attr("settings"))};
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

NetRows net_rows(const InMatrix<float> &features, const In<std::int64_t> &rows, const In<float> &shift,
                 const In<float> &factor) {
    return {view(features), features.shape(1), view(rows), view(shift), view(factor)};
}

} // namespace

void bind_nets(nb::module_ &module) {
    define(module, "first_layer", {"features", "rows", "shift", "factor", "weights", "out", "threads"},
           [](InMatrix<float> features, In<std::int64_t> rows, In<float> shift, In<float> factor,
              InMatrix<float> weights, OutMatrix<float> out, int threads) {
               first_layer(net_rows(features, rows, shift, factor), view(weights), fill(out), threads);
           });
    define(module, "first_layer_gradient", {"features", "rows", "shift", "factor", "forces", "gradient", "threads"},
           [](InMatrix<float> features, In<std::int64_t> rows, In<float> shift, In<float> factor,
              InMatrix<float> forces, OutMatrix<float> gradient, int threads) {
               first_layer_gradient(net_rows(features, rows, shift, factor), view(forces), fill(gradient), threads);
           });
    define(module, "descend_narrow_net", {"net", "inputs", "pairs", "rule", "walk", "threads"}, descend_narrow_net);
}

} // namespace rankwright
