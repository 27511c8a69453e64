#include "core/forests/forest.hpp"

#include "bindings/codes.hpp"
#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"
#include "core/binning/column_codes.hpp"

namespace rankwright {

namespace {

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

} // namespace

template <> struct Reader<ForestTrees> {
    static ForestTrees read(nb::handle trees) {
        static_assert(sizeof(ForestNode) == 5 * sizeof(std::uint32_t));
        const auto nodes = field<InMatrix<std::uint32_t>>(trees, "nodes");
        require(nodes.shape(1) * sizeof(std::uint32_t) == sizeof(ForestNode), "a node has five numbers");
        const auto *first = reinterpret_cast<const ForestNode *>(nodes.data());
        return {.trees = {.nodes = {first, nodes.shape(0)},
                          .node_offsets = view<std::int64_t>(trees, "node_offsets"),
                          .leaf_values = view<float>(trees, "leaf_values"),
                          .leaf_offsets = view<std::int64_t>(trees, "leaf_offsets")},
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

namespace {

constexpr std::size_t readable_after = 64; // numbers from any leaf's value on

void require_trees(const CompiledForest &trees) {
    require(!trees.node_offsets.empty() && trees.node_offsets.front() >= 0 &&
                static_cast<std::size_t>(trees.node_offsets.back()) <= trees.nodes.size(),
            "the trees have more nodes than there are");
    require(trees.leaf_offsets.size() == trees.node_offsets.size() && trees.leaf_offsets.front() >= 0 &&
                static_cast<std::size_t>(trees.leaf_offsets.back()) + readable_after <= trees.leaf_values.size(),
            "the trees have more leaves than there are");
}

void require_columns(const FeatureColumns &columns, std::size_t n_features) {
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

// Calls use(lane) with a number of the type that codes and leaf numbers have.
template <typename Use> void with_lanes(int lane_bytes, Use &&use) {
    lane_bytes == 1 ? use(std::uint8_t{}) : use(std::uint16_t{});
}

// A kernel that takes raw values through a forest to an output array: body(lane, columns, forest, output, threads).
template <typename Output, typename Body>
void define_for_values(nb::module_ &module, const char *name, const char *output_name, Body body) {
    define(module, name, {"features", "columns", "tables", "trees", output_name, "threads"},
           [body, output_name](InMatrix<float> features, FeatureColumns columns, InMatrix<float> tables,
                               ForestTrees forest, Output output, int threads) {
               require_trees(forest.trees);
               require_columns(columns, features.shape(1));
               require(forest.lane_bytes != 1 || tables.size() == columns.features.size() * table_size,
                       "every column of bytes needs a search table");
               require_size(output_name, output.size(),
                            features.shape(0) * (is_matrix<Output> ? forest.trees.n_trees() : 1));
               const ValueColumns values{{features.data(), features.shape(0), features.shape(1)},
                                         columns.features,
                                         columns.edges,
                                         columns.offsets,
                                         view(tables),
                                         columns.category_words,
                                         columns.categories};
               with_lanes(forest.lane_bytes,
                          [&](auto lane) { body(lane, values, forest.trees, fill(output), threads); });
           });
}

void bind_values(nb::module_ &module) {
    define_for_values<Out<double>>(module, "score_forest", "scores",
                                   [](auto lane, const auto &columns, const auto &forest, auto scores, int threads) {
                                       score_forest<decltype(lane)>(columns, forest, scores, threads);
                                   });
    define_for_values<OutMatrix<std::uint16_t>>(
        module, "find_leaves", "leaves",
        [](auto lane, const auto &columns, const auto &forest, auto leaves, int threads) {
            find_leaves<decltype(lane)>(columns, forest, leaves, threads);
        });
}

template <typename Code> void bind_codes(nb::module_ &module) {
    define(module, "score_codes", {"codes", "columns", "missing", "trees", "scores", "threads"},
           [](InCodes<Code> codes, FeatureColumns columns, In<std::int64_t> missing, ForestTrees forest,
              Out<double> scores, int threads) {
               require_trees(forest.trees);
               require_columns(columns, codes.shape(0) * codes.shape(2));
               require_size("missing", missing.size(), columns.features.size());
               require_size("scores", scores.size(), codes.shape(1));
               const CodeColumns<Code> values{codes_of(codes), columns.features, view(missing), columns.category_words,
                                              columns.categories};
               if constexpr (sizeof(Code) == 1) {
                   if (forest.lane_bytes == 1)
                       return score_forest<std::uint8_t>(values, forest.trees, fill(scores), threads);
               }
               score_forest<std::uint16_t>(values, forest.trees, fill(scores), threads);
           });
}

} // namespace

void bind_forests(nb::module_ &module) {
    bind_values(module);
    bind_codes<std::uint8_t>(module);
    bind_codes<std::uint16_t>(module);
}

} // namespace rankwright
