// Passes of rank perceptrons (Crammer and Singer 2002) over documents, one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/linear/products.hpp"

namespace rankwright {

// Documents to learn from, in the order of `order`. Levels count from 0. A document's weight (empty: 1) multiplies its
// step. There is a threshold between each level and the next.
struct RankedRows {
    Rows features;
    std::span<const std::int32_t> levels;
    std::span<const double> document_weights;
    std::span<const std::int64_t> order;
};

// Each of several linear perceptrons sees each document with probability `share`, drawn from `key`. Perceptron m has
// weights[m · n_features …] and thresholds[m · n_thresholds …].
void prank_pass(const RankedRows &documents, double share, std::uint64_t key, std::size_t n_members,
                std::span<double> weights, std::span<double> thresholds, int threads);

// One perceptron in the space of the kernel (1 + γ x·z)², as weights of all products of two features:
// its score is constant + 2γ weights·x + γ² xᵀ matrix x.
void quadratic_prank_pass(const RankedRows &documents, double gamma, std::span<double> constant,
                          std::span<double> weights, std::span<double> matrix, std::span<double> thresholds);

// Fills `out` with the scores of such a perceptron.
void quadratic_scores(const Rows &features, double gamma, double constant, std::span<const double> weights,
                      std::span<const double> matrix, std::span<double> out, int threads);

// One perceptron whose score is the sum over its support of coefficient · kernel(support, x); the support are rows of
// `features`, the first n_support[0] of `support`. Where all places are taken, a new row replaces the one with the
// smallest coefficient, the first among equals. `kernel` is rbf, quadratic or cubic.
void kernel_prank_pass(const RankedRows &documents, std::string_view kernel, double gamma,
                       std::span<std::int64_t> support, std::span<double> coefficients,
                       std::span<std::int64_t> n_support, std::span<double> thresholds);

// Fills `out` with the sum over supporting rows of coefficient · kernel(support, x).
void kernel_scores(const Rows &features, const Rows &support, std::span<const double> coefficients,
                   std::string_view kernel, double gamma, std::span<double> out, int threads);

} // namespace rankwright
