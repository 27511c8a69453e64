#include "core/narrow_net.hpp"

#include "bindings/arrays.hpp"
#include "bindings/pair_settings.hpp"

namespace rankwright {

void bind_narrow_net(nb::module_ &module) {
    module.def(
        "descend_narrow_net",
        [](In<std::int64_t> widths, Out<float> weights, bool last_threshold, std::string_view activation,
           double dropout, InMatrix<float> features, In<float> shift, In<float> factor, In<std::int64_t> offsets,
           In<float> labels, In<std::int64_t> by_label, In<double> worth, In<double> discount,
           In<float> document_weights, In<float> query_weights, nb::handle settings, std::string_view optimizer,
           double learning_rate, double weight_decay, double pull, Out<float> mean, Out<float> square,
           std::int64_t n_steps, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> keys,
           std::size_t batch_queries, Out<double> scores, Out<double> cost, int threads) {
            const PairSettings pair_settings = settings_of(settings);
            const auto response = named<Activation>(
                activation, {{"relu", Activation::relu}, {"tanh", Activation::tanh}, {"sigmoid", Activation::sigmoid}});
            const auto rule = named<Optimizer>(optimizer, {{"adam", Optimizer::adam}, {"sgd", Optimizer::sgd}});
            nb::gil_scoped_release released;
            return descend_narrow_net(
                {view(widths), fill(weights), last_threshold, response, dropout},
                {{features.data(), features.size()}, view(shift), view(factor)},
                {{view(offsets), view(document_weights), view(query_weights)},
                 view(labels),
                 view(worth),
                 view(discount)},
                view(by_label), pair_settings,
                {rule, learning_rate, weight_decay, pull, fill(mean), fill(square), n_steps},
                {view(queries), view(starts), view(keys), batch_queries, fill(scores), fill(cost)}, threads);
        },
        nb::arg("widths").noconvert(), nb::arg("weights").noconvert(), nb::arg("last_threshold"), nb::arg("activation"),
        nb::arg("dropout"), nb::arg("features").noconvert(), nb::arg("shift").noconvert(),
        nb::arg("factor").noconvert(), nb::arg("offsets").noconvert(), nb::arg("labels").noconvert(),
        nb::arg("by_label").noconvert(), nb::arg("worth").noconvert(), nb::arg("discount").noconvert(),
        nb::arg("document_weights").noconvert(), nb::arg("query_weights").noconvert(), nb::arg("settings"),
        nb::arg("optimizer"), nb::arg("learning_rate"), nb::arg("weight_decay"), nb::arg("pull"),
        nb::arg("mean").noconvert(), nb::arg("square").noconvert(), nb::arg("n_steps"), nb::arg("queries").noconvert(),
        nb::arg("starts").noconvert(), nb::arg("keys").noconvert(), nb::arg("batch_queries"),
        nb::arg("scores").noconvert(), nb::arg("cost").noconvert(), nb::arg("threads"));
}

} // namespace rankwright
