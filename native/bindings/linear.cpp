#include "core/linear.hpp"

#include <nanobind/stl/string_view.h>

#include "bindings/arrays.hpp"
#include "core/combined_draws.hpp"
#include "core/map_violations.hpp"
#include "core/pair_margins.hpp"
#include "core/perceptron.hpp"
#include "core/smooth_gains.hpp"

namespace rankwright {

namespace {

Rows rows_of(const InMatrix<float> &features) { return {{features.data(), features.size()}, features.shape(1)}; }

RankedRows ranked_rows(const InMatrix<float> &features, const In<std::int32_t> &levels,
                       const In<double> &document_weights, const In<std::int64_t> &order) {
    return {rows_of(features), view(levels), view(document_weights), view(order)};
}

void bind_matrix_products(nb::module_ &module) {
    module.def(
        "linear_scores",
        [](InMatrix<float> features, In<double> weights, Out<double> out, int threads) {
            nb::gil_scoped_release released;
            linear_scores(rows_of(features), view(weights), fill(out), threads);
        },
        nb::arg("features").noconvert(), nb::arg("weights").noconvert(), nb::arg("out").noconvert(),
        nb::arg("threads"));
    module.def(
        "sum_rows",
        [](InMatrix<float> features, In<double> factors, Out<double> out, int threads) {
            nb::gil_scoped_release released;
            sum_rows(rows_of(features), view(factors), fill(out), threads);
        },
        nb::arg("features").noconvert(), nb::arg("factors").noconvert(), nb::arg("out").noconvert(),
        nb::arg("threads"));
    module.def(
        "gram_matrix",
        [](InMatrix<float> features, In<double> factors, OutMatrix<double> out, int threads) {
            nb::gil_scoped_release released;
            gram_matrix(rows_of(features), view(factors), fill(out), threads);
        },
        nb::arg("features").noconvert(), nb::arg("factors").noconvert(), nb::arg("out").noconvert(),
        nb::arg("threads"));
}

void bind_lists(nb::module_ &module) {
    module.def(
        "pair_margins",
        [](In<double> scores, In<double> values, In<std::int64_t> offsets, In<std::int32_t> levels,
           In<double> document_weights, In<double> query_factors, InMatrix<double> level_weights,
           Out<double> weight_below, Out<double> sum_below, Out<double> weight_above, Out<double> sum_above,
           int threads) {
            nb::gil_scoped_release released;
            const MarginPairs pairs{view(offsets),
                                    view(levels),
                                    view(document_weights),
                                    view(query_factors),
                                    {level_weights.data(), level_weights.size()},
                                    level_weights.shape(1)};
            pair_margins(pairs, view(scores), view(values), fill(weight_below), fill(sum_below), fill(weight_above),
                         fill(sum_above), threads);
        },
        nb::arg("scores").noconvert(), nb::arg("values").noconvert(), nb::arg("offsets").noconvert(),
        nb::arg("levels").noconvert(), nb::arg("document_weights").noconvert(), nb::arg("query_factors").noconvert(),
        nb::arg("level_weights").noconvert(), nb::arg("weight_below").noconvert(), nb::arg("sum_below").noconvert(),
        nb::arg("weight_above").noconvert(), nb::arg("sum_above").noconvert(), nb::arg("threads"));
    module.def(
        "map_violations",
        [](In<double> scores, In<std::int64_t> offsets, In<std::uint8_t> relevant, Out<double> coefficients,
           Out<double> loss, int threads) {
            nb::gil_scoped_release released;
            map_violations(view(scores), view(offsets), view(relevant), fill(coefficients), fill(loss), threads);
        },
        nb::arg("scores").noconvert(), nb::arg("offsets").noconvert(), nb::arg("relevant").noconvert(),
        nb::arg("coefficients").noconvert(), nb::arg("loss").noconvert(), nb::arg("threads"));
    module.def(
        "smooth_gains",
        [](In<double> scores, In<std::int64_t> offsets, In<double> gains, In<double> discounts,
           In<double> query_factors, double sigma, Out<double> gradient, Out<double> value, int threads) {
            nb::gil_scoped_release released;
            smooth_gains(view(scores), view(offsets), view(gains), view(discounts), view(query_factors), sigma,
                         fill(gradient), fill(value), threads);
        },
        nb::arg("scores").noconvert(), nb::arg("offsets").noconvert(), nb::arg("gains").noconvert(),
        nb::arg("discounts").noconvert(), nb::arg("query_factors").noconvert(), nb::arg("sigma"),
        nb::arg("gradient").noconvert(), nb::arg("value").noconvert(), nb::arg("threads"));
}

void bind_perceptrons(nb::module_ &module) {
    module.def(
        "prank_pass",
        [](InMatrix<float> features, In<std::int32_t> levels, In<double> document_weights, In<std::int64_t> order,
           double share, std::uint64_t key, OutMatrix<double> weights, OutMatrix<double> thresholds, int threads) {
            nb::gil_scoped_release released;
            prank_pass(ranked_rows(features, levels, document_weights, order), share, key, weights.shape(0),
                       fill(weights), fill(thresholds), threads);
        },
        nb::arg("features").noconvert(), nb::arg("levels").noconvert(), nb::arg("document_weights").noconvert(),
        nb::arg("order").noconvert(), nb::arg("share"), nb::arg("key"), nb::arg("weights").noconvert(),
        nb::arg("thresholds").noconvert(), nb::arg("threads"));
    module.def(
        "quadratic_prank_pass",
        [](InMatrix<float> features, In<std::int32_t> levels, In<double> document_weights, In<std::int64_t> order,
           double gamma, Out<double> constant, Out<double> weights, OutMatrix<double> matrix, Out<double> thresholds,
           int) {
            nb::gil_scoped_release released;
            quadratic_prank_pass(ranked_rows(features, levels, document_weights, order), gamma, fill(constant),
                                 fill(weights), fill(matrix), fill(thresholds));
        },
        nb::arg("features").noconvert(), nb::arg("levels").noconvert(), nb::arg("document_weights").noconvert(),
        nb::arg("order").noconvert(), nb::arg("gamma"), nb::arg("constant").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("matrix").noconvert(), nb::arg("thresholds").noconvert(), nb::arg("threads"));
    module.def(
        "quadratic_scores",
        [](InMatrix<float> features, double gamma, double constant, In<double> weights, InMatrix<double> matrix,
           Out<double> out, int threads) {
            nb::gil_scoped_release released;
            quadratic_scores(rows_of(features), gamma, constant, view(weights), {matrix.data(), matrix.size()},
                             fill(out), threads);
        },
        nb::arg("features").noconvert(), nb::arg("gamma"), nb::arg("constant"), nb::arg("weights").noconvert(),
        nb::arg("matrix").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));
    module.def(
        "kernel_prank_pass",
        [](InMatrix<float> features, In<std::int32_t> levels, In<double> document_weights, In<std::int64_t> order,
           std::string_view kernel, double gamma, Out<std::int64_t> support, Out<double> coefficients,
           Out<std::int64_t> n_support, Out<double> thresholds, int) {
            nb::gil_scoped_release released;
            kernel_prank_pass(ranked_rows(features, levels, document_weights, order), kernel, gamma, fill(support),
                              fill(coefficients), fill(n_support), fill(thresholds));
        },
        nb::arg("features").noconvert(), nb::arg("levels").noconvert(), nb::arg("document_weights").noconvert(),
        nb::arg("order").noconvert(), nb::arg("kernel"), nb::arg("gamma"), nb::arg("support").noconvert(),
        nb::arg("coefficients").noconvert(), nb::arg("n_support").noconvert(), nb::arg("thresholds").noconvert(),
        nb::arg("threads"));
    module.def(
        "kernel_scores",
        [](InMatrix<float> features, InMatrix<float> support, In<double> coefficients, std::string_view kernel,
           double gamma, Out<double> out, int threads) {
            nb::gil_scoped_release released;
            kernel_scores(rows_of(features), rows_of(support), view(coefficients), kernel, gamma, fill(out), threads);
        },
        nb::arg("features").noconvert(), nb::arg("support").noconvert(), nb::arg("coefficients").noconvert(),
        nb::arg("kernel"), nb::arg("gamma"), nb::arg("out").noconvert(), nb::arg("threads"));
}

void bind_draws(nb::module_ &module) {
    module.def(
        "combined_draws",
        [](InMatrix<float> features, In<float> labels, In<double> document_weights, In<double> partner_weights,
           In<std::int64_t> by_label, In<std::int64_t> query_first, In<std::int64_t> same_first,
           In<std::int64_t> same_last, In<std::int64_t> pairs_before, double regression_share, double l2,
           double stiffness, bool logistic, std::uint64_t key, std::int64_t first, std::int64_t last,
           Out<double> weights, int) {
            nb::gil_scoped_release released;
            const DrawnPairs pairs{view(by_label), view(query_first), view(same_first), view(same_last),
                                   view(pairs_before)};
            combined_draws(rows_of(features), view(labels), {view(document_weights), view(partner_weights)}, pairs,
                           {regression_share, l2, stiffness, logistic, key}, first, last, fill(weights));
        },
        nb::arg("features").noconvert(), nb::arg("labels").noconvert(), nb::arg("document_weights").noconvert(),
        nb::arg("partner_weights").noconvert(), nb::arg("by_label").noconvert(), nb::arg("query_first").noconvert(),
        nb::arg("same_first").noconvert(), nb::arg("same_last").noconvert(), nb::arg("pairs_before").noconvert(),
        nb::arg("regression_share"), nb::arg("l2"), nb::arg("stiffness"), nb::arg("logistic"), nb::arg("key"),
        nb::arg("first"), nb::arg("last"), nb::arg("weights").noconvert(), nb::arg("threads"));
}

} // namespace

void bind_linear(nb::module_ &module) {
    bind_matrix_products(module);
    bind_lists(module);
    bind_perceptrons(module);
    bind_draws(module);
}

} // namespace rankwright
