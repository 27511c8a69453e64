#include <algorithm>

#include "bindings/define.hpp"
#include "bindings/forest_records.hpp"
#include "core/explanations/contributions.hpp"

namespace rankwright {

template <> struct Reader<SplitShares> {
    static SplitShares read(nb::handle shares) {
        return {.feature = view<std::int32_t>(shares, "feature"),
                .share = view<double>(shares, "share"),
                .left = view<std::int32_t>(shares, "left"),
                .right = view<std::int32_t>(shares, "right"),
                .n_features = 0}; // that of the documents, which the caller passes separately
    }
};

namespace {

// A child is an inner node after its parent, or a leaf of the tree.
void require_children(std::span<const std::int32_t> children, const CompiledForest &trees) {
    for (std::size_t tree = 0; tree < trees.n_trees(); ++tree) {
        const std::int64_t first = trees.node_offsets[tree], n_nodes = trees.node_offsets[tree + 1] - first;
        const std::int64_t n_leaves = trees.leaf_offsets[tree + 1] - trees.leaf_offsets[tree];
        require(n_nodes >= 0 && n_leaves >= 0, "trees must follow each other");
        for (std::int64_t node = 0; node < n_nodes; ++node) {
            const std::int64_t child = children[static_cast<std::size_t>(first + node)];
            require(child < n_nodes && child >= -n_leaves && (child < 0 || child > node),
                    "the children of a node must come after it, in its own tree");
        }
    }
}

void require_shares(const SplitShares &shares, const ForestTrees &forest, const FeatureColumns &columns) {
    for (const std::size_t size : {shares.feature.size(), shares.share.size(), shares.left.size(), shares.right.size()})
        require_size("shares", size, forest.trees.nodes.size());
    require_below("feature", shares.feature, shares.n_features);
    require_children(shares.left, forest.trees);
    require_children(shares.right, forest.trees);
    for (const ForestNode &node : forest.trees.nodes) {
        require(std::max(node.column[0], node.column[1]) < 2 * columns.features.size(),
                "nodes must compare columns that there are");
    }
}

// A kernel from documents to numbers for each of their features: body(lane, columns, forest, shares, output, threads).
template <typename Body> void define_for_documents(nb::module_ &module, const char *name, bool square, Body body) {
    define(module, name, {"features", "columns", "tables", "trees", "shares", "out", "threads"},
           [body, square](InMatrix<float> features, FeatureColumns columns, InMatrix<float> tables, ForestTrees forest,
                          SplitShares shares, OutMatrix<double> out, int threads) {
               require_documents(features, columns, tables, forest);
               shares.n_features = features.shape(1);
               require_shares(shares, forest, columns);
               require_shape("out", out, features.shape(0), features.shape(1) * (square ? features.shape(1) : 1));
               const ValueColumns values = value_columns(features, columns, tables);
               with_lanes(forest.lane_bytes,
                          [&](auto lane) { body(lane, values, forest.trees, shares, fill(out), threads); });
           });
}

} // namespace

void bind_explanations(nb::module_ &module) {
    define_for_documents(
        module, "tree_contributions", false,
        [](auto lane, const auto &columns, const auto &forest, const auto &shares, auto out, int threads) {
            tree_contributions<decltype(lane)>(columns, forest, shares, out, threads);
        });
    define_for_documents(module, "tree_interactions", true,
                         [](auto lane, const auto &columns, const auto &forest, const auto &shares, auto out,
                            int threads) { tree_interactions<decltype(lane)>(columns, forest, shares, out, threads); });
    define(module, "background_contributions",
           {"features", "background", "columns", "tables", "trees", "shares", "out", "threads"},
           [](InMatrix<float> features, InMatrix<float> background, FeatureColumns columns, InMatrix<float> tables,
              ForestTrees forest, SplitShares shares, OutMatrix<double> out, int threads) {
               require_documents(features, columns, tables, forest);
               require(background.shape(0) > 0, "the background needs a document");
               require_shape("background", background, background.shape(0), features.shape(1));
               shares.n_features = features.shape(1);
               require_shares(shares, forest, columns);
               require_shape("out", out, features.shape(0), features.shape(1));
               const ValueColumns values = value_columns(features, columns, tables);
               const ValueColumns others = value_columns(background, columns, tables);
               with_lanes(forest.lane_bytes, [&](auto lane) {
                   background_contributions<decltype(lane)>(values, others, forest.trees, shares, fill(out), threads);
               });
           });
}

} // namespace rankwright
