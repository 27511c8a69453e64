#include "core/objectives/lambdas.hpp"

#include <nanobind/stl/string_view.h>

#include <string_view>

#include "bindings/define.hpp"
#include "bindings/pair_settings.hpp"
#include "core/objectives/list_lambdas.hpp"

namespace rankwright {

namespace {

template <typename T> void bind_label_pairs(nb::module_ &module) {
    define(module, "label_pair_lambdas",
           {"scores", "queries", "starts", "offsets", "labels", "by_label", "worth", "discount", "document_weights",
            "query_weights", "settings", "key", "gradient", "curvature", "cost", "threads"},
           [](In<double> scores, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> offsets,
              In<float> labels, In<std::int64_t> by_label, In<double> worth, In<double> discount,
              In<float> document_weights, In<float> query_weights, PairSettings settings, std::uint64_t key,
              Out<T> gradient, Out<T> curvature, Out<double> cost, int threads) {
               label_pair_lambdas<T>({{{view(offsets), view(document_weights), view(query_weights)},
                                       view(labels),
                                       view(worth),
                                       view(discount)},
                                      view(by_label),
                                      settings},
                                     {view(scores), view(queries), view(starts), key},
                                     {fill(gradient), fill(curvature), fill(cost)}, threads);
           });
}

template <typename T> void bind_preferences(nb::module_ &module) {
    define(module, "preference_lambdas",
           {"scores", "queries", "starts", "offsets", "first_pair", "better", "worse", "probability", "weight", "worth",
            "discount", "document_weights", "query_weights", "settings", "key", "gradient", "curvature", "cost",
            "threads"},
           [](In<double> scores, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> offsets,
              In<std::int64_t> first_pair, In<std::int64_t> better, In<std::int64_t> worse, In<float> probability,
              In<float> weight, In<double> worth, In<double> discount, In<float> document_weights,
              In<float> query_weights, PairSettings settings, std::uint64_t key, Out<T> gradient, Out<T> curvature,
              Out<double> cost, int threads) {
               preference_lambdas<T>(
                   {{view(offsets), view(document_weights), view(query_weights)}, {}, view(worth), view(discount)},
                   {view(first_pair), view(better), view(worse), view(probability), view(weight)}, settings,
                   {view(scores), view(queries), view(starts), key}, {fill(gradient), fill(curvature), fill(cost)},
                   threads);
           });
}

template <typename T> void bind_points(nb::module_ &module) {
    define(module, "point_lambdas",
           {"scores", "queries", "starts", "offsets", "targets", "document_weights", "query_weights", "loss",
            "gradient", "curvature", "cost", "threads"},
           [](In<double> scores, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> offsets,
              In<float> targets, In<float> document_weights, In<float> query_weights, std::string_view loss,
              Out<T> gradient, Out<T> curvature, Out<double> cost, int threads) {
               const auto point_loss =
                   named<PointLoss>(loss, {{"squared", PointLoss::squared}, {"logistic", PointLoss::logistic}});
               point_lambdas<T>({view(offsets), view(document_weights), view(query_weights)}, view(targets), point_loss,
                                {view(scores), view(queries), view(starts)},
                                {fill(gradient), fill(curvature), fill(cost)}, threads);
           });
}

template <typename T> void bind_softmax(nb::module_ &module) {
    define(module, "softmax_lambdas",
           {"scores", "queries", "starts", "offsets", "shares", "document_weights", "query_weights", "exponential",
            "noise", "key", "gradient", "curvature", "cost", "threads"},
           [](In<double> scores, In<std::int64_t> queries, In<std::int64_t> starts, In<std::int64_t> offsets,
              In<double> shares, In<float> document_weights, In<float> query_weights, bool exponential, bool noise,
              std::uint64_t key, Out<T> gradient, Out<T> curvature, Out<double> cost, int threads) {
               softmax_lambdas<T>({view(offsets), view(document_weights), view(query_weights)},
                                  {view(shares), exponential, noise}, {view(scores), view(queries), view(starts), key},
                                  {fill(gradient), fill(curvature), fill(cost)}, threads);
           });
}

template <typename T> void bind_for(nb::module_ &module) {
    bind_label_pairs<T>(module);
    bind_preferences<T>(module);
    bind_points<T>(module);
    bind_softmax<T>(module);
}

} // namespace

void bind_objectives(nb::module_ &module) {
    bind_for<float>(module);
    bind_for<double>(module); // for diagnostics
}

} // namespace rankwright
