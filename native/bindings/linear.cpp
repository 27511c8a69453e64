#include "core/linear/products.hpp"

#include <nanobind/stl/string_view.h>

#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"
#include "core/linear/combined_draws.hpp"
#include "core/linear/map_violations.hpp"
#include "core/linear/pair_margins.hpp"
#include "core/linear/perceptron.hpp"
#include "core/linear/smooth_gains.hpp"

namespace rankwright {

namespace {

Rows rows_of(const InMatrix<float> &features) { return {view(features), features.shape(0), features.shape(1)}; }

struct LevelledRows {
    Rows features;
    std::span<const std::int32_t> levels;
    std::span<const double> weights;

    // The rows in that order, once their perceptron is known to have as many weights as they have features.
    RankedRows in(const In<std::int64_t> &order, std::size_t n_weights) const {
        require_size("weights", n_weights, features.n_features);
        require_size("levels", levels.size(), features.n_rows);
        require_size_or_none("the weights of documents", weights.size(), features.n_rows);
        require_below("order", view(order), features.n_rows);
        return {features, levels, weights, view(order)};
    }
};

// One value for each document, and one for each query.
void require_lists(const In<std::int64_t> &offsets, std::size_t n_docs, std::size_t n_queries) {
    require_offsets("offsets", view(offsets), n_docs);
    require_size("the values of queries", n_queries, offsets.size() - 1);
}

} // namespace

template <> struct Reader<LevelledRows> {
    static LevelledRows read(nb::handle documents) {
        return {rows_of(field<InMatrix<float>>(documents, "features")), view<std::int32_t>(documents, "levels"),
                view<double>(documents, "weights")};
    }
};

template <> struct Reader<MarginPairs> {
    static MarginPairs read(nb::handle pairs) {
        const auto level_weights = field<InMatrix<double>>(pairs, "level_weights");
        return {view<std::int64_t>(pairs, "offsets"),
                view<std::int32_t>(pairs, "levels"),
                view<double>(pairs, "document_weights"),
                view<double>(pairs, "query_factors"),
                view(level_weights),
                level_weights.shape(1)};
    }
};

template <> struct Reader<PairSums> {
    static PairSums read(nb::handle sums) {
        return {fill<double>(sums, "weight_below"), fill<double>(sums, "sum_below"), fill<double>(sums, "weight_above"),
                fill<double>(sums, "sum_above")};
    }
};

template <> struct Reader<DrawnRows> {
    static DrawnRows read(nb::handle documents) {
        return {rows_of(field<InMatrix<float>>(documents, "features")), view<float>(documents, "labels"),
                view<double>(documents, "weights"), view<double>(documents, "partner_weights")};
    }
};

template <> struct Reader<DrawnPairs> {
    static DrawnPairs read(nb::handle pairs) {
        return {view<std::int64_t>(pairs, "by_label"), view<std::int64_t>(pairs, "query_first"),
                view<std::int64_t>(pairs, "same_first"), view<std::int64_t>(pairs, "same_last"),
                view<std::int64_t>(pairs, "pairs_before")};
    }
};

template <> struct Reader<DrawSettings> {
    static DrawSettings read(nb::handle settings) {
        return {.regression_share = field<double>(settings, "regression_share"),
                .l2 = field<double>(settings, "l2"),
                .stiffness = field<double>(settings, "stiffness"),
                .logistic = field<bool>(settings, "logistic"),
                .key = field<std::uint64_t>(settings, "key")};
    }
};

namespace {

void bind_matrix_products(nb::module_ &module) {
    define(module, "linear_scores", {"features", "weights", "out", "threads"},
           [](InMatrix<float> features, In<double> weights, Out<double> out, int threads) {
               require_size("weights", weights.size(), features.shape(1));
               require_size("out", out.size(), features.shape(0));
               linear_scores(rows_of(features), view(weights), fill(out), threads);
           });
    define(module, "sum_rows", {"features", "factors", "out", "threads"},
           [](InMatrix<float> features, In<double> factors, Out<double> out, int threads) {
               require_size("factors", factors.size(), features.shape(0));
               require_size("out", out.size(), features.shape(1));
               sum_rows(rows_of(features), view(factors), fill(out), threads);
           });
    define(module, "gram_matrix", {"features", "factors", "out", "threads"},
           [](InMatrix<float> features, In<double> factors, OutMatrix<double> out, int threads) {
               require_size("factors", factors.size(), features.shape(0));
               require_shape("out", out, features.shape(1), features.shape(1));
               gram_matrix(rows_of(features), view(factors), fill(out), threads);
           });
}

void bind_lists(nb::module_ &module) {
    define(module, "pair_margins", {"pairs", "scores", "values", "sums", "threads"},
           [](MarginPairs pairs, In<double> scores, In<double> values, PairSums sums, int threads) {
               const std::size_t n_docs = scores.size();
               require_offsets("offsets", pairs.offsets, n_docs);
               require_size("levels", pairs.levels.size(), n_docs);
               require_size("values", values.size(), n_docs);
               require_size_or_none("document_weights", pairs.document_weights.size(), n_docs);
               require_size("query_factors", pairs.query_factors.size(), pairs.offsets.size() - 1);
               for (const auto &sum : {sums.weight_below, sums.sum_below, sums.weight_above, sums.sum_above})
                   require_size("sums", sum.size(), n_docs);
               pair_margins(pairs, view(scores), view(values), sums, threads);
           });
    define(module, "map_violations", {"scores", "offsets", "relevant", "coefficients", "loss", "threads"},
           [](In<double> scores, In<std::int64_t> offsets, In<std::uint8_t> relevant, Out<double> coefficients,
              Out<double> loss, int threads) {
               require_lists(offsets, scores.size(), loss.size());
               require_size("relevant", relevant.size(), scores.size());
               require_size("coefficients", coefficients.size(), scores.size());
               map_violations(view(scores), view(offsets), view(relevant), fill(coefficients), fill(loss), threads);
           });
    define(module, "smooth_gains",
           {"scores", "offsets", "gains", "discounts", "query_factors", "sigma", "gradient", "value", "threads"},
           [](In<double> scores, In<std::int64_t> offsets, In<double> gains, In<double> discounts,
              In<double> query_factors, double sigma, Out<double> gradient, Out<double> value, int threads) {
               require_lists(offsets, scores.size(), value.size());
               require_size("query_factors", query_factors.size(), value.size());
               require_size("gains", gains.size(), scores.size());
               require_size("gradient", gradient.size(), scores.size());
               smooth_gains(view(scores), view(offsets), view(gains), view(discounts), view(query_factors), sigma,
                            fill(gradient), fill(value), threads);
           });
}

void bind_perceptrons(nb::module_ &module) {
    define(module, "prank_pass", {"documents", "order", "share", "key", "weights", "thresholds", "threads"},
           [](LevelledRows documents, In<std::int64_t> order, double share, std::uint64_t key,
              OutMatrix<double> weights, OutMatrix<double> thresholds, int threads) {
               require_size("thresholds", thresholds.shape(0), weights.shape(0));
               prank_pass(documents.in(order, weights.shape(1)), share, key, weights.shape(0), fill(weights),
                          fill(thresholds), threads);
           });
    define(module, "quadratic_prank_pass",
           {"documents", "order", "gamma", "constant", "weights", "matrix", "thresholds", "threads"},
           [](LevelledRows documents, In<std::int64_t> order, double gamma, Out<double> constant, Out<double> weights,
              OutMatrix<double> matrix, Out<double> thresholds, int) {
               require_size("constant", constant.size(), 1);
               require_shape("matrix", matrix, weights.size(), weights.size());
               quadratic_prank_pass(documents.in(order, weights.size()), gamma, fill(constant), fill(weights),
                                    fill(matrix), fill(thresholds));
           });
    define(module, "quadratic_scores", {"features", "gamma", "constant", "weights", "matrix", "out", "threads"},
           [](InMatrix<float> features, double gamma, double constant, In<double> weights, InMatrix<double> matrix,
              Out<double> out, int threads) {
               require_size("weights", weights.size(), features.shape(1));
               require_shape("matrix", matrix, features.shape(1), features.shape(1));
               require_size("out", out.size(), features.shape(0));
               quadratic_scores(rows_of(features), gamma, constant, view(weights), view(matrix), fill(out), threads);
           });
    define(module, "kernel_prank_pass",
           {"documents", "order", "kernel", "gamma", "support", "coefficients", "n_support", "thresholds", "threads"},
           [](LevelledRows documents, In<std::int64_t> order, std::string_view kernel, double gamma,
              Out<std::int64_t> support, Out<double> coefficients, Out<std::int64_t> n_support, Out<double> thresholds,
              int) {
               require_size("coefficients", coefficients.size(), support.size());
               require_size("n_support", n_support.size(), 1);
               require(n_support.data()[0] >= 0 && static_cast<std::size_t>(n_support.data()[0]) <= support.size(),
                       "n_support must lie between 0 and the places of support");
               require(support.size() > 0, "support must have a place or more");
               require_below<std::int64_t>("support", fill(support), documents.features.n_rows);
               kernel_prank_pass(documents.in(order, documents.features.n_features), kernel, gamma, fill(support),
                                 fill(coefficients), fill(n_support), fill(thresholds));
           });
    define(module, "kernel_scores", {"features", "support", "coefficients", "kernel", "gamma", "out", "threads"},
           [](InMatrix<float> features, InMatrix<float> support, In<double> coefficients, std::string_view kernel,
              double gamma, Out<double> out, int threads) {
               require_shape("support", support, coefficients.size(), features.shape(1));
               require_size("out", out.size(), features.shape(0));
               kernel_scores(rows_of(features), rows_of(support), view(coefficients), kernel, gamma, fill(out),
                             threads);
           });
}

void bind_draws(nb::module_ &module) {
    define(module, "combined_draws", {"documents", "pairs", "settings", "first", "last", "weights", "threads"},
           [](DrawnRows documents, DrawnPairs pairs, DrawSettings settings, std::int64_t first, std::int64_t last,
              Out<double> weights, int) {
               const std::size_t n_docs = documents.features.n_rows;
               require(n_docs > 0 || first >= last, "draws need a document or more");
               require_size("labels", documents.labels.size(), n_docs);
               require_size("weights", weights.size(), documents.features.n_features);
               require_size_or_none("document weights", documents.weights.size(), n_docs);
               require_size_or_none("partner_weights", documents.partner_weights.size(), n_docs);
               for (const auto &places : {pairs.by_label, pairs.query_first, pairs.same_first, pairs.same_last})
                   require_size("pairs", places.size(), n_docs);
               require_size("pairs_before", pairs.pairs_before.size(), n_docs + 1);
               combined_draws(documents, pairs, settings, first, last, fill(weights));
           });
}

} // namespace

void bind_linear(nb::module_ &module) {
    bind_matrix_products(module);
    bind_lists(module);
    bind_perceptrons(module);
    bind_draws(module);
}

} // namespace rankwright
