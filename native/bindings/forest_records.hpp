// What kernels of forests read: compiled trees and the columns they compare.
#pragma once

#include "bindings/records.hpp"
#include "bindings/require.hpp"
#include "core/binning/column_codes.hpp"
#include "core/forests/forest.hpp"

namespace rankwright {

struct ForestTrees {
    CompiledForest trees;
    int lane_bytes = 0;
};

struct FeatureColumns {
    std::span<const std::int32_t> features;
    std::span<const float> edges;
    std::span<const std::int64_t> offsets, category_words;
    std::span<const std::uint32_t> categories;
};

template <> struct Reader<ForestTrees> {
    static ForestTrees read(nb::handle trees) {
        static_assert(sizeof(ForestNode) == 5 * sizeof(std::uint32_t));
        const auto nodes = field<InMatrix<std::uint32_t>>(trees, "nodes");
        require(nodes.shape(1) * sizeof(std::uint32_t) == sizeof(ForestNode), "a node has five numbers");
        const auto *first = reinterpret_cast<const ForestNode *>(nodes.data());
        return {.trees = {.nodes = {first, nodes.shape(0)},
                          .node_offsets = view<std::int64_t>(trees, "node_offsets"),
                          .leaf_values = view<float>(trees, "leaf_values"),
                          .leaf_offsets = view<std::int64_t>(trees, "leaf_offsets"),
                          .by_bits = false},
                .lane_bytes = field<int>(trees, "lane_bytes")};
    }
};

template <> struct Reader<FeatureColumns> {
    static FeatureColumns read(nb::handle columns) {
        return {.features = view<std::int32_t>(columns, "features"),
                .edges = view<float>(columns, "edges"),
                .offsets = view<std::int64_t>(columns, "offsets"),
                .category_words = view<std::int64_t>(columns, "category_words"),
                .categories = view<std::uint32_t>(columns, "categories")};
    }
};

inline constexpr std::size_t readable_after = 64; // numbers from any leaf's value on

inline void require_trees(const CompiledForest &trees) {
    require(!trees.node_offsets.empty() && trees.node_offsets.front() >= 0 &&
                static_cast<std::size_t>(trees.node_offsets.back()) <= trees.nodes.size(),
            "the trees have more nodes than there are");
    require(trees.leaf_offsets.size() == trees.node_offsets.size() && trees.leaf_offsets.front() >= 0 &&
                static_cast<std::size_t>(trees.leaf_offsets.back()) + readable_after <= trees.leaf_values.size(),
            "the trees have more leaves than there are");
}

inline void require_columns(const FeatureColumns &columns, std::size_t n_features) {
    const std::size_t n_columns = columns.features.size();
    require_size("offsets", columns.offsets.size(), n_columns + 1);
    require_offsets("offsets", columns.offsets, columns.edges.size());
    require_size("category_words", columns.category_words.size(), n_columns);
    require_below("features", columns.features, n_features);
    for (std::size_t column = 0; column < n_columns; ++column) {
        const std::int64_t n_edges = columns.offsets[column + 1] - columns.offsets[column];
        const std::int64_t words = columns.category_words[column];
        require(n_edges >= 0 &&
                    (words < 0 || static_cast<std::size_t>(words + n_edges / 32) < columns.categories.size()),
                "a column needs more words of categories than there are");
    }
}

// The columns of these documents.
inline ValueColumns value_columns(const InMatrix<float> &features, const FeatureColumns &columns,
                                  const InMatrix<float> &tables) {
    return {{features.data(), features.shape(0), features.shape(1)},
            columns.features,
            columns.edges,
            columns.offsets,
            view(tables),
            columns.category_words,
            columns.categories};
}

inline void require_documents(const InMatrix<float> &features, const FeatureColumns &columns,
                              const InMatrix<float> &tables, const ForestTrees &forest) {
    require_trees(forest.trees);
    require_columns(columns, features.shape(1));
    require(forest.lane_bytes != 1 || tables.size() == columns.features.size() * table_size,
            "every column of bytes needs a search table");
}

// Calls use(lane) with a number of the type that codes and leaf numbers have.
template <typename Use> void with_lanes(int lane_bytes, Use &&use) {
    lane_bytes == 1 ? use(std::uint8_t{}) : use(std::uint16_t{});
}

} // namespace rankwright
