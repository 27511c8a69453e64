#include "core/linear/products.hpp"

#include <cmath>
#include <vector>

#include "core/linear/combined_draws.hpp"
#include "core/linear/map_violations.hpp"
#include "core/linear/pair_margins.hpp"
#include "core/linear/perceptron.hpp"
#include "core/linear/smooth_gains.hpp"
#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

bool near(double a, double b) { return std::fabs(a - b) <= 1e-5 * (1.0 + std::fabs(b)); }

// 20,000 rows of 11 features, small whole numbers: sums of their products are exact in any order.
constexpr std::size_t n_rows = 20000, n_features = 11;

std::vector<float> whole_numbers() {
    std::vector<float> values(n_rows * n_features);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>((k * 7919) % 13) - 6.0F;
    return values;
}

void check_products() {
    const std::vector<float> values = whole_numbers();
    const Rows rows{values, n_rows, n_features};
    std::vector<double> weights(n_features), factors(n_rows);
    for (std::size_t k = 0; k < n_features; ++k) weights[k] = static_cast<double>(k) - 3.0;
    for (std::size_t row = 0; row < n_rows; ++row) factors[row] = static_cast<double>(row % 5) - 2.0;
    std::vector<double> sums(n_features), gram(n_features * n_features);
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::size_t i = 0; i < n_features; ++i) {
            sums[i] += factors[row] * values[row * n_features + i];
            for (std::size_t k = 0; k < n_features; ++k) {
                gram[i * n_features + k] += factors[row] * values[row * n_features + i] * values[row * n_features + k];
            }
        }
    }
    for (int threads : {1, 2, 7}) {
        std::vector<double> scores(n_rows), total(n_features), products(n_features * n_features);
        linear_scores(rows, weights, scores, threads);
        sum_rows(rows, factors, total, threads);
        gram_matrix(rows, factors, products, threads);
        for (std::size_t row = 0; row < n_rows; row += 997) {
            double expected = 0.0;
            for (std::size_t k = 0; k < n_features; ++k) expected += values[row * n_features + k] * weights[k];
            CHECK(scores[row] == expected);
        }
        CHECK(total == sums);
        CHECK(products == gram);
    }
}

void check_lists() {
    // Two queries: labels 0 1 with scores 0 0.5, then one document alone.
    const std::vector<std::int64_t> offsets{0, 2, 3};
    const std::vector<std::int32_t> levels{0, 1, 0};
    const std::vector<double> scores{0.0, 0.5, 9.0}, factors{2.0, 1.0}, none;
    for (int threads : {1, 2, 7}) {
        std::vector<double> below(3), sum_below(3), above(3), sum_above(3);
        pair_margins({offsets, levels, none, factors, none, 0}, scores, scores, {below, sum_below, above, sum_above},
                     threads);
        CHECK((below == std::vector<double>{0, 2, 0}));
        CHECK((above == std::vector<double>{2, 0, 0}));
        CHECK((sum_below == std::vector<double>{0, 0, 0}));
        CHECK((sum_above == std::vector<double>{1, 0, 0}));

        // One relevant, one irrelevant: swapping costs ½ of average precision and wins twice the scores' difference.
        const std::vector<std::uint8_t> relevant{0, 1, 0};
        const std::vector<double> close{0.0, 0.1, 0.0};
        std::vector<double> coefficients(3, -7.0), loss(2, -7.0);
        map_violations(close, offsets, relevant, coefficients, loss, threads);
        CHECK((coefficients == std::vector<double>{-2, 2, 0}));
        CHECK((loss == std::vector<double>{0.5, 0}));

        const std::vector<double> gains{0.0, 3.0, 1.0}, discounts{1.0};
        std::vector<double> gradient(3, -7.0), value(2, -7.0);
        smooth_gains(scores, offsets, gains, discounts, factors, 0.25, gradient, value, threads);
        const double share = 1.0 / (1.0 + std::exp(-1.0));
        CHECK(near(value[0], 2.0 * 3.0 * share));
        CHECK(near(gradient[0] + gradient[1], 0.0));
        CHECK(near(value[1], 1.0));
    }
}

void check_perceptrons() {
    const std::vector<float> values = whole_numbers();
    const Rows rows{std::span<const float>(values).first(60 * n_features), 60, n_features};
    std::vector<std::int32_t> levels(60);
    std::vector<std::int64_t> order(60);
    for (std::size_t row = 0; row < 60; ++row) {
        levels[row] = values[row * n_features] > 0 ? 1 : 0;
        order[row] = static_cast<std::int64_t>((row * 7) % 60);
    }
    const std::vector<double> none;
    const RankedRows documents{rows, levels, none, order};
    std::vector<double> first;
    for (int threads : {1, 2, 7}) {
        std::vector<double> weights(4 * n_features), thresholds(4);
        prank_pass(documents, 0.5, 3, 4, weights, thresholds, threads);
        if (first.empty()) first = weights;
        CHECK(weights == first);
    }
    // The form of all products is the quadratic kernel.
    std::vector<double> constant(1), weights(n_features), matrix(n_features * n_features), form(1), dual(1);
    std::vector<std::int64_t> support(60), count(1), few(2), few_count(1);
    std::vector<double> coefficients(60), of_few(2), other(1);
    quadratic_prank_pass(documents, 0.5, constant, weights, matrix, form);
    kernel_prank_pass(documents, "quadratic", 0.5, support, coefficients, count, dual);
    kernel_prank_pass(documents, "rbf", 0.01, few, of_few, few_count, other);
    CHECK(few_count[0] == 2);
    std::vector<float> supporting;
    for (std::int64_t place = 0; place < count[0]; ++place) {
        const float *row = rows.row(static_cast<std::size_t>(support[static_cast<std::size_t>(place)]));
        supporting.insert(supporting.end(), row, row + n_features);
    }
    std::vector<double> by_form(60), by_kernel(60);
    quadratic_scores(rows, 0.5, constant[0], weights, matrix, by_form, 2);
    kernel_scores(rows, {supporting, static_cast<std::size_t>(count[0]), n_features},
                  std::span<const double>(coefficients).first(static_cast<std::size_t>(count[0])), "quadratic", 0.5,
                  by_kernel, 2);
    CHECK(form == dual);
    for (std::size_t row = 0; row < 60; ++row) CHECK(near(by_form[row], by_kernel[row]));
}

void check_draws() {
    // Two documents whose one feature is their label: descent finds weight 1.
    const std::vector<float> values{0, 1}, labels{0, 1};
    const std::vector<std::int64_t> by_label{0, 1}, query_first{0, 0}, same_first{0, 1}, same_last{1, 2},
        before{0, 1, 2};
    std::vector<double> weights(1);
    const std::vector<double> none;
    combined_draws({{values, 2, 1}, labels, none, none}, {by_label, query_first, same_first, same_last, before},
                   {0.5, 0.0, 2.0, false, 9}, 0, 500, weights);
    CHECK(near(weights[0], 1.0));
}

// Rows without features are still rows: each has a score, and it is written.
void check_no_features() {
    const std::vector<double> none, coefficients{2.0, 3.0};
    const Rows rows{{}, 3, 0}, support{{}, 2, 0};
    std::vector<double> scores(3, -7.0);
    linear_scores(rows, none, scores, 2);
    CHECK((scores == std::vector<double>{0, 0, 0}));
    quadratic_scores(rows, 0.5, 4.0, none, none, scores, 2);
    CHECK((scores == std::vector<double>{4, 4, 4}));
    kernel_scores(rows, support, coefficients, "rbf", 0.5, scores, 2);
    CHECK((scores == std::vector<double>{5, 5, 5}));
    const std::vector<std::int32_t> levels{0, 1, 1};
    const std::vector<std::int64_t> order{0, 1, 2};
    std::vector<std::int64_t> kept(3), n_kept(1);
    std::vector<double> of_kept(3), thresholds(1), nothing;
    kernel_prank_pass({rows, levels, none, order}, "rbf", 0.5, kept, of_kept, n_kept, thresholds);
    CHECK(n_kept[0] > 0);
    prank_pass({rows, levels, none, order}, 1.0, 0, 0, nothing, nothing, 2); // no perceptron at all
}

const rankwright::Test test("linear", [] {
    check_products();
    check_no_features();
    check_lists();
    check_perceptrons();
    check_draws();
});

} // namespace
