#include "core/forests/forest.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "core/binning/column_codes.hpp"
#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

constexpr std::size_t n_rows = 700, n_features = 5, n_edges = 200, n_trees = 7;

// Random trees over every feature, the last of them categorical, in the form kernels take.
struct RandomForest {
    std::mt19937 random{1};
    std::uint32_t repeat; // of a number in the lanes of a word
    std::vector<ForestNode> nodes;
    std::vector<std::int64_t> node_offsets{0}, leaf_offsets{0};
    std::vector<float> leaf_values;

    RandomForest(std::size_t n_leaves, std::uint32_t lanes) : repeat(lanes) {
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            const std::size_t size = tree == 3 ? 1 : n_leaves - tree; // a tree may be a single leaf
            grow(0, static_cast<std::uint32_t>(size));
            node_offsets.push_back(static_cast<std::int64_t>(nodes.size()));
            for (std::size_t leaf = 0; leaf < size; ++leaf) leaf_values.push_back(static_cast<float>(random() % 1000));
            leaf_offsets.push_back(static_cast<std::int64_t>(leaf_values.size()));
        }
        leaf_values.resize(leaf_values.size() + 64);
    }
    void grow(std::uint32_t first, std::uint32_t n_leaves) {
        if (n_leaves < 2) return;
        const auto n_left = static_cast<std::uint32_t>(1 + random() % (n_leaves - 1));
        const auto column = static_cast<std::uint32_t>(random() % n_features);
        const bool category = column == n_features - 1;
        const auto code = static_cast<std::uint32_t>(category ? 0 : random() % n_edges);
        const std::uint32_t sided = column + (!category && random() % 2 ? n_features : 0);
        nodes.push_back({{column, sided}, first * repeat, code * repeat, (first + n_left) * repeat});
        grow(first, n_left);
        grow(first + n_left, n_leaves - n_left);
    }
    CompiledForest view() const { return {nodes, node_offsets, leaf_values, leaf_offsets, false}; }

    // The same nodes as splits of trees by bits, so many of each tree.
    RandomForest by_bits(std::size_t n_splits) const {
        RandomForest other = *this;
        other.nodes.clear();
        other.node_offsets = other.leaf_offsets = {0};
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            const std::span<const ForestNode> own = view().nodes_of(tree);
            const std::size_t n = std::min(n_splits, own.size());
            for (std::size_t split = 0; split < n; ++split) {
                ForestNode node = own[split];
                node.first = 0;
                node.right = (1u << split) * repeat;
                other.nodes.push_back(node);
            }
            other.node_offsets.push_back(static_cast<std::int64_t>(other.nodes.size()));
            other.leaf_offsets.push_back(other.leaf_offsets.back() + (std::int64_t{1} << n));
        }
        other.leaf_values.resize(static_cast<std::size_t>(other.leaf_offsets.back()) + 64);
        for (float &value : other.leaf_values) value = static_cast<float>(other.random() % 1000);
        return other;
    }
    CompiledForest view_by_bits() const { return {nodes, node_offsets, leaf_values, leaf_offsets, true}; }
};

struct Documents {
    std::vector<float> values, edges, tables;
    std::vector<std::int32_t> feature;
    std::vector<std::int64_t> offsets{0}, category_words, missing;
    std::vector<std::uint32_t> categories{0x5A5A5A5Au, 0x12345678u, 0u, 0xFFFFFFFFu, 3u, 0xABCDu, 77u};

    explicit Documents(bool with_missing) {
        std::mt19937 random(2);
        for (std::size_t column = 0; column < n_features; ++column) {
            feature.push_back(static_cast<std::int32_t>(column));
            for (std::size_t edge = 0; edge < n_edges; ++edge) edges.push_back(static_cast<float>(edge));
            offsets.push_back(static_cast<std::int64_t>(edges.size()));
            category_words.push_back(column == n_features - 1 ? 0 : -1);
            missing.push_back(n_edges);
        }
        tables.resize(n_features * table_size);
        for (std::size_t column = 0; column < n_features; ++column) {
            fill_search_table(std::span(edges).first(n_edges), tables.data() + column * table_size);
        }
        for (std::size_t i = 0; i < n_rows * n_features; ++i) {
            const bool lacking = with_missing && random() % 20 == 0;
            values.push_back(lacking ? std::numeric_limits<float>::quiet_NaN()
                                     : static_cast<float>(random() % 410) / 2 - 2);
        }
    }
    ValueColumns columns() const {
        return {{values.data(), n_rows, n_features}, feature, edges, offsets, tables, category_words, categories};
    }
};

template <typename Lane, typename Columns>
void scores_depend_on_nothing_else(const Columns &columns, std::size_t n_leaves) {
    const RandomForest forest(n_leaves, sizeof(Lane) == 1 ? 0x01010101u : 0x00010001u);
    for (const std::size_t n : {n_rows, std::size_t{1}, std::size_t{70}}) {
        std::vector<double> expected(n, 0.5);
        score_forest<Lane>(columns, forest.view(), expected, 1, Simd::baseline);
        for (const Simd simd : simd_levels()) {
            for (const int threads : {1, 2, 7}) {
                std::vector<double> scores(n, 0.5);
                score_forest<Lane>(columns, forest.view(), scores, threads, simd);
                CHECK(scores == expected);
            }
        }
    }
}

template <typename Lane> void leaves_depend_on_nothing_else(const Documents &documents, std::size_t n_leaves) {
    const RandomForest forest(n_leaves, sizeof(Lane) == 1 ? 0x01010101u : 0x00010001u);
    std::vector<std::uint16_t> expected(n_rows * n_trees);
    find_leaves<Lane>(documents.columns(), forest.view(), expected, 1, Simd::baseline);
    for (const Simd simd : simd_levels()) {
        std::vector<std::uint16_t> leaves(n_rows * n_trees);
        find_leaves<Lane>(documents.columns(), forest.view(), leaves, 7, simd);
        CHECK(leaves == expected);
    }
}

// The bits of a document's number say, split by split, where trees of that split alone send it.
template <typename Lane> void bits_are_what_single_splits_say(const Documents &documents) {
    const RandomForest forest = RandomForest(60, sizeof(Lane) == 1 ? 0x01010101u : 0x00010001u).by_bits(8);
    std::vector<std::uint16_t> expected(n_rows * n_trees);
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        for (const ForestNode &node : forest.view().nodes_of(tree)) {
            const std::vector<std::int64_t> node_offsets{0, 1}, leaf_offsets{0, 2};
            const CompiledForest alone{{&node, 1}, node_offsets, forest.leaf_values, leaf_offsets, false};
            std::vector<std::uint16_t> sides(n_rows);
            find_leaves<Lane>(documents.columns(), alone, sides, 1, Simd::baseline);
            for (std::size_t row = 0; row < n_rows; ++row) expected[row * n_trees + tree] |= sides[row];
        }
    }
    for (const Simd simd : simd_levels()) {
        std::vector<std::uint16_t> leaves(n_rows * n_trees);
        find_leaves<Lane>(documents.columns(), forest.view_by_bits(), leaves, 2, simd);
        CHECK(leaves == expected);
        std::vector<double> scores(n_rows), sums(n_rows);
        score_forest<Lane>(documents.columns(), forest.view_by_bits(), scores, 2, simd);
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            const std::span<const float> values = forest.view().values_of(tree);
            for (std::size_t row = 0; row < n_rows; ++row) sums[row] += values[expected[row * n_trees + tree]];
        }
        CHECK(scores == sums);
    }
}

template <typename Code> std::vector<Code> random_codes() {
    std::mt19937 random(3);
    std::vector<Code> codes(n_rows * Codes<Code>::slots);
    for (Code &code : codes) code = static_cast<Code>(random() % (n_edges + 1));
    return codes;
}

template <typename Code> CodeColumns<Code> code_columns(const std::vector<Code> &codes, const Documents &documents) {
    return {{codes.data(), 1, n_rows},
            documents.feature,
            documents.missing,
            documents.category_words,
            documents.categories};
}

const rankwright::Test test("forest", [] {
    for (const bool with_missing : {false, true}) {
        const Documents documents(with_missing);
        for (const std::size_t n_leaves : {16, 60, 250}) {
            scores_depend_on_nothing_else<std::uint8_t>(documents.columns(), n_leaves);
            leaves_depend_on_nothing_else<std::uint8_t>(documents, n_leaves);
        }
        scores_depend_on_nothing_else<std::uint16_t>(documents.columns(), 400);
        leaves_depend_on_nothing_else<std::uint16_t>(documents, 400);
        bits_are_what_single_splits_say<std::uint8_t>(documents);
        bits_are_what_single_splits_say<std::uint16_t>(documents);
    }
    const Documents documents(false);
    const auto bytes = random_codes<std::uint8_t>();
    scores_depend_on_nothing_else<std::uint8_t>(code_columns(bytes, documents), 60);
    scores_depend_on_nothing_else<std::uint16_t>(code_columns(bytes, documents), 400);
    const auto halves = random_codes<std::uint16_t>();
    scores_depend_on_nothing_else<std::uint16_t>(code_columns(halves, documents), 400);
});

} // namespace
