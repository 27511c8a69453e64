#include "bindings/define.hpp"
#include "bindings/pair_settings.hpp"
#include "core/nets/first_layer.hpp"
#include "core/nets/narrow_net.hpp"

namespace rankwright {

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
    define(
        module, "descend_narrow_net", {"widths",         "weights",
                                       "last_threshold", "activation",
                                       "dropout",        "features",
                                       "shift",          "factor",
                                       "offsets",        "labels",
                                       "by_label",       "worth",
                                       "discount",       "document_weights",
                                       "query_weights",  "settings",
                                       "optimizer",      "learning_rate",
                                       "weight_decay",   "pull",
                                       "mean",           "square",
                                       "n_steps",        "queries",
                                       "starts",         "keys",
                                       "batch_queries",  "scores",
                                       "cost",           "threads"},
        [](In<std::int64_t> widths, Out<float> weights, bool last_threshold, std::string_view activation,
           double dropout, InMatrix<float> features, In<float> shift, In<float> factor, In<std::int64_t> offsets,
           In<float> labels, In<std::int64_t> by_label, In<double> worth, In<double> discount,
           In<float> document_weights, In<float> query_weights, PairSettings settings, std::string_view optimizer,
           double learning_rate, double weight_decay, double pull, Out<float> mean, Out<float> square,
           std::int64_t n_steps, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> keys,
           std::size_t batch_queries, Out<double> scores, Out<double> cost, int threads) {
            const auto response = named<Activation>(
                activation, {{"relu", Activation::relu}, {"tanh", Activation::tanh}, {"sigmoid", Activation::sigmoid}});
            const auto rule = named<Optimizer>(optimizer, {{"adam", Optimizer::adam}, {"sgd", Optimizer::sgd}});
            return descend_narrow_net(
                {view(widths), fill(weights), last_threshold, response, dropout},
                {view(features), view(shift), view(factor)},
                {{view(offsets), view(document_weights), view(query_weights)},
                 view(labels),
                 view(worth),
                 view(discount)},
                view(by_label), settings, {rule, learning_rate, weight_decay, pull, fill(mean), fill(square), n_steps},
                {view(queries), view(starts), view(keys), batch_queries, fill(scores), fill(cost)}, threads);
        });
}

} // namespace rankwright
