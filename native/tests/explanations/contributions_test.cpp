#include "core/explanations/contributions.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/binning/column_codes.hpp"
#include "core/explanations/quadrature.hpp"
#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

constexpr std::size_t n_rows = 150, n_edges = 20;
constexpr std::uint32_t n_features = 40;

// A tree that splits all features in turn, along its right side and back again, so that features repeat on a path.
struct DeepForest {
    std::vector<ForestNode> nodes;
    std::vector<std::int32_t> feature, left, right;
    std::vector<double> share;
    std::vector<float> leaf_values;
    std::vector<std::int64_t> node_offsets{0}, leaf_offsets{0};

    DeepForest(std::size_t depth, std::uint32_t repeat) {
        std::mt19937 random(4);
        for (std::size_t tree = 0; tree < 2; ++tree) {
            for (std::size_t node = 0; node < depth; ++node) {
                const auto column = static_cast<std::uint32_t>((node * 7 + tree) % n_features);
                const auto code = static_cast<std::uint32_t>(random() % n_edges);
                const auto number = static_cast<std::uint32_t>(node);
                nodes.push_back({{column, column + n_features}, number * repeat, code * repeat, (number + 1) * repeat});
                feature.push_back(static_cast<std::int32_t>(column));
                share.push_back(static_cast<double>(random() % 101) / 100);
                left.push_back(-1 - static_cast<std::int32_t>(node));
                right.push_back(node + 1 < depth ? static_cast<std::int32_t>(node + 1)
                                                 : -1 - static_cast<std::int32_t>(depth));
            }
            for (std::size_t leaf = 0; leaf <= depth; ++leaf) leaf_values.push_back(static_cast<float>(random() % 100));
            node_offsets.push_back(static_cast<std::int64_t>(nodes.size()));
            leaf_offsets.push_back(static_cast<std::int64_t>(leaf_values.size()));
        }
        leaf_values.resize(leaf_values.size() + 64);
    }
    CompiledForest view() const { return {nodes, node_offsets, leaf_values, leaf_offsets, false}; }
    SplitShares shares() const { return {feature, share, left, right, n_features}; }
};

struct Documents {
    std::vector<float> values, edges, tables;
    std::vector<std::int32_t> feature;
    std::vector<std::int64_t> offsets{0}, category_words;

    Documents() {
        std::mt19937 random(2);
        for (std::size_t column = 0; column < n_features; ++column) {
            feature.push_back(static_cast<std::int32_t>(column));
            for (std::size_t edge = 0; edge < n_edges; ++edge) edges.push_back(static_cast<float>(edge));
            offsets.push_back(static_cast<std::int64_t>(edges.size()));
            category_words.push_back(-1);
        }
        tables.resize(n_features * table_size);
        for (std::size_t column = 0; column < n_features; ++column) {
            fill_search_table(std::span(edges).first(n_edges), tables.data() + column * table_size);
        }
        for (std::size_t i = 0; i < n_rows * n_features; ++i) {
            values.push_back(random() % 20 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                : static_cast<float>(random() % 44) / 2 - 1);
        }
    }
    ValueColumns columns(std::size_t n) const {
        return {{values.data(), n, n_features}, feature, edges, offsets, tables, category_words, {}};
    }
};

template <typename Lane> void contributions_add_up_and_depend_on_nothing_else(std::size_t depth, std::uint32_t repeat) {
    const DeepForest forest(depth, repeat);
    const Documents documents;
    const auto columns = documents.columns(n_rows), few = documents.columns(9);
    std::vector<double> expected(n_rows * n_features), against(9 * n_features), pairs(9 * n_features * n_features);
    tree_contributions<Lane>(columns, forest.view(), forest.shares(), expected, 1, Simd::baseline);
    background_contributions<Lane>(few, few, forest.view(), forest.shares(), against, 1, Simd::baseline);
    tree_interactions<Lane>(few, forest.view(), forest.shares(), pairs, 1, Simd::baseline);
    for (const Simd simd : simd_levels()) {
        for (const int threads : {1, 3}) {
            std::vector<double> found(expected.size()), other(against.size()), square(pairs.size());
            tree_contributions<Lane>(columns, forest.view(), forest.shares(), found, threads, simd);
            background_contributions<Lane>(few, few, forest.view(), forest.shares(), other, threads, simd);
            tree_interactions<Lane>(few, forest.view(), forest.shares(), square, threads, simd);
            CHECK(found == expected);
            CHECK(other == against);
            CHECK(square == pairs);
        }
    }
    std::vector<double> scores(n_rows);
    score_forest<Lane>(columns, forest.view(), scores, 1);
    double base = 0.0, first = 0.0;
    for (std::size_t row = 0; row < n_rows; ++row) { // score less contributions is the same for all documents
        double rest = scores[row];
        for (std::size_t f = 0; f < n_features; ++f) rest -= expected[row * n_features + f];
        if (row == 0) base = rest;
        CHECK(std::abs(rest - base) < 1e-9);
    }
    for (std::size_t f = 0; f < n_features; ++f) first += pairs[f]; // the first row of the first square
    CHECK(std::abs(first - expected[0]) < 1e-9);
}

const rankwright::Test test("contributions", [] {
    for (const std::size_t n : {1, 2, 5, 8, 21}) { // the rule is exact for powers up to 2n - 1
        const Quadrature rule = gauss_legendre(n);
        for (std::size_t power = 0; power < 2 * n; ++power) {
            double sum = 0.0;
            for (std::size_t i = 0; i < n; ++i) {
                sum += rule.weights[i] * std::pow(rule.points[i], static_cast<double>(power));
            }
            CHECK(std::abs(sum * static_cast<double>(power + 1) - 1.0) < 1e-12);
        }
    }
    for (const std::size_t depth : {1, 5, 60}) {
        contributions_add_up_and_depend_on_nothing_else<std::uint8_t>(depth, 0x01010101u);
        contributions_add_up_and_depend_on_nothing_else<std::uint16_t>(depth, 0x00010001u);
    }
});

} // namespace
