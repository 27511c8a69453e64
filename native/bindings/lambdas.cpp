#include "core/lambdas.hpp"

#include <nanobind/stl/string_view.h>

#include <string_view>

#include "bindings/arrays.hpp"
#include "bindings/pair_settings.hpp"
#include "core/list_lambdas.hpp"

namespace rankwright {

namespace {

template <typename T> void bind_label_pairs(nb::module_ &module) {
    module.def(
        "label_pair_lambdas",
        [](In<double> scores, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> offsets,
           In<float> labels, In<std::int64_t> by_label, In<double> worth, In<double> discount,
           In<float> document_weights, In<float> query_weights, nb::handle settings, std::uint64_t key, Out<T> gradient,
           Out<T> curvature, Out<double> cost, int threads) {
            const PairSettings pair_settings = settings_of(settings);
            nb::gil_scoped_release released;
            label_pair_lambdas<T>({{view(offsets), view(document_weights), view(query_weights)},
                                   view(labels),
                                   view(worth),
                                   view(discount)},
                                  view(by_label), pair_settings, {view(scores), view(queries), view(starts), key},
                                  {fill(gradient), fill(curvature), fill(cost)}, threads);
        },
        nb::arg("scores").noconvert(), nb::arg("queries").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("offsets").noconvert(), nb::arg("labels").noconvert(), nb::arg("by_label").noconvert(),
        nb::arg("worth").noconvert(), nb::arg("discount").noconvert(), nb::arg("document_weights").noconvert(),
        nb::arg("query_weights").noconvert(), nb::arg("settings"), nb::arg("key"), nb::arg("gradient").noconvert(),
        nb::arg("curvature").noconvert(), nb::arg("cost").noconvert(), nb::arg("threads"));
}

template <typename T> void bind_preferences(nb::module_ &module) {
    module.def(
        "preference_lambdas",
        [](In<double> scores, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> offsets,
           In<std::int64_t> first_pair, In<std::int64_t> better, In<std::int64_t> worse, In<float> probability,
           In<float> weight, In<double> worth, In<double> discount, In<float> document_weights, In<float> query_weights,
           nb::handle settings, std::uint64_t key, Out<T> gradient, Out<T> curvature, Out<double> cost, int threads) {
            const PairSettings pair_settings = settings_of(settings);
            nb::gil_scoped_release released;
            preference_lambdas<T>(
                {{view(offsets), view(document_weights), view(query_weights)}, {}, view(worth), view(discount)},
                {view(first_pair), view(better), view(worse), view(probability), view(weight)}, pair_settings,
                {view(scores), view(queries), view(starts), key}, {fill(gradient), fill(curvature), fill(cost)},
                threads);
        },
        nb::arg("scores").noconvert(), nb::arg("queries").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("offsets").noconvert(), nb::arg("first_pair").noconvert(), nb::arg("better").noconvert(),
        nb::arg("worse").noconvert(), nb::arg("probability").noconvert(), nb::arg("weight").noconvert(),
        nb::arg("worth").noconvert(), nb::arg("discount").noconvert(), nb::arg("document_weights").noconvert(),
        nb::arg("query_weights").noconvert(), nb::arg("settings"), nb::arg("key"), nb::arg("gradient").noconvert(),
        nb::arg("curvature").noconvert(), nb::arg("cost").noconvert(), nb::arg("threads"));
}

template <typename T> void bind_points(nb::module_ &module) {
    module.def(
        "point_lambdas",
        [](In<double> scores, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> offsets,
           In<float> targets, In<float> document_weights, In<float> query_weights, std::string_view loss,
           Out<T> gradient, Out<T> curvature, Out<double> cost, int threads) {
            const auto point_loss =
                named<PointLoss>(loss, {{"squared", PointLoss::squared}, {"logistic", PointLoss::logistic}});
            nb::gil_scoped_release released;
            point_lambdas<T>({view(offsets), view(document_weights), view(query_weights)}, view(targets), point_loss,
                             {view(scores), view(queries), view(starts)}, {fill(gradient), fill(curvature), fill(cost)},
                             threads);
        },
        nb::arg("scores").noconvert(), nb::arg("queries").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("offsets").noconvert(), nb::arg("targets").noconvert(), nb::arg("document_weights").noconvert(),
        nb::arg("query_weights").noconvert(), nb::arg("loss"), nb::arg("gradient").noconvert(),
        nb::arg("curvature").noconvert(), nb::arg("cost").noconvert(), nb::arg("threads"));
}

template <typename T> void bind_softmax(nb::module_ &module) {
    module.def(
        "softmax_lambdas",
        [](In<double> scores, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> offsets,
           In<double> shares, In<float> document_weights, In<float> query_weights, bool exponential, bool noise,
           std::uint64_t key, Out<T> gradient, Out<T> curvature, Out<double> cost, int threads) {
            nb::gil_scoped_release released;
            softmax_lambdas<T>({view(offsets), view(document_weights), view(query_weights)},
                               {view(shares), exponential, noise}, {view(scores), view(queries), view(starts), key},
                               {fill(gradient), fill(curvature), fill(cost)}, threads);
        },
        nb::arg("scores").noconvert(), nb::arg("queries").noconvert(), nb::arg("starts").noconvert(),
        nb::arg("offsets").noconvert(), nb::arg("shares").noconvert(), nb::arg("document_weights").noconvert(),
        nb::arg("query_weights").noconvert(), nb::arg("exponential"), nb::arg("noise"), nb::arg("key"),
        nb::arg("gradient").noconvert(), nb::arg("curvature").noconvert(), nb::arg("cost").noconvert(),
        nb::arg("threads"));
}

template <typename T> void bind_for(nb::module_ &module) {
    bind_label_pairs<T>(module);
    bind_preferences<T>(module);
    bind_points<T>(module);
    bind_softmax<T>(module);
}

} // namespace

void bind_lambdas(nb::module_ &module) {
    bind_for<float>(module);
    bind_for<double>(module); // for diagnostics
}

} // namespace rankwright
