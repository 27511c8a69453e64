#include "bindings/codes.hpp"
#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "core/forests/tree_scores.hpp"
#include "core/trees/grower.hpp"
#include "core/trees/leaf_values.hpp"
#include "core/trees/quantise.hpp"

namespace rankwright {

template <> struct Reader<SplitColumns> {
    static SplitColumns read(nb::handle columns) {
        return {.n_bins = view<std::int64_t>(columns, "n_bins"),
                .categorical = view<bool>(columns, "categorical"),
                .monotone = view<std::int8_t>(columns, "monotone"),
                .asked = view<bool>(columns, "asked")};
    }
};

template <> struct Reader<TreeSettings> {
    static TreeSettings read(nb::handle settings) {
        return {.max_leaves = field<std::int64_t>(settings, "max_leaves"),
                .max_depth = field<std::int64_t>(settings, "max_depth"),
                .min_docs = field<std::int64_t>(settings, "min_docs"),
                .min_curvature = field<double>(settings, "min_curvature"),
                .l2 = field<double>(settings, "l2"),
                .min_gain = field<double>(settings, "min_gain"),
                .newton = field<bool>(settings, "newton"),
                .category_smoothing = field<double>(settings, "category_smoothing"),
                .max_split_categories = field<std::int64_t>(settings, "max_split_categories"),
                .gradient_scale = field<double>(settings, "gradient_scale"),
                .curvature_scale = field<double>(settings, "curvature_scale"),
                .learning_rate = field<double>(settings, "learning_rate")};
    }
};

template <> struct Reader<TreeScratch> {
    static TreeScratch read(nb::handle scratch) {
        return {.rows = fill<std::uint32_t>(scratch, "rows"),
                .sides = fill<std::uint8_t>(scratch, "sides"),
                .histograms = fill<std::uint64_t>(scratch, "histograms")};
    }
};

template <> struct Reader<Tree> {
    static Tree read(nb::handle nodes) {
        const auto categories = field<OutMatrix<std::uint32_t>>(nodes, "categories");
        return {.feature = fill<std::int32_t>(nodes, "feature"),
                .bin = fill<std::int32_t>(nodes, "bin"),
                .left = fill<std::int32_t>(nodes, "left"),
                .right = fill<std::int32_t>(nodes, "right"),
                .missing_left = fill<bool>(nodes, "missing_left"),
                .gain = fill<double>(nodes, "gain"),
                .value = fill<float>(nodes, "value"),
                .begin = fill<std::int64_t>(nodes, "begin"),
                .count = fill<std::int64_t>(nodes, "count"),
                .categories = fill(categories),
                .n_category_words = categories.shape(1),
                .rows = {}}; // the tree's, which the caller gives apart
    }
};

namespace {

template <typename Code> void bind_grow_tree(nb::module_ &module) {
    define(module, "grow_tree",
           {"codes", "columns", "quantised", "gradient", "curvature", "rows", "all_rows", "settings", "scratch",
            "nodes", "threads"},
           [](InCodes<Code> codes, SplitColumns columns, In<std::int32_t> quantised, In<float> gradient,
              In<float> curvature, Out<std::uint32_t> rows, bool all_rows, TreeSettings settings, TreeScratch scratch,
              Tree nodes, int threads) {
               const TreeData<Code> data{codes_of(codes), columns,         view(quantised),
                                         view(gradient),  view(curvature), all_rows};
               nodes.rows = fill(rows);
               return grow_tree<Code>(data, settings, scratch, nodes, threads);
           });
}

template <typename Code> void bind_score_tree(nb::module_ &module) {
    define(module, "score_tree",
           {"codes", "n_bins", "feature", "bin", "left", "right", "missing_left", "value", "categories", "scores",
            "threads"},
           [](InCodes<Code> codes, In<std::int64_t> n_bins, In<std::int32_t> feature, In<std::int32_t> bin,
              In<std::int32_t> left, In<std::int32_t> right, In<bool> missing_left, In<float> value,
              InMatrix<std::uint32_t> categories, Out<double> scores, int threads) {
               const GrownNodes tree{view(feature),      view(bin),   view(left),       view(right),
                                     view(missing_left), view(value), view(categories), categories.shape(1)};
               score_tree<Code>(codes_of(codes), view(n_bins), tree, fill(scores), threads);
           });
}

} // namespace

void bind_trees(nb::module_ &module) {
    define(module, "quantise_lambdas",
           {"gradient", "curvature", "gradient_scale", "curvature_scale", "seed", "quantised", "threads"},
           [](In<float> gradient, In<float> curvature, double gradient_scale, double curvature_scale,
              std::uint64_t seed, Out<std::int32_t> quantised, int threads) {
               quantise_lambdas(view(gradient), view(curvature), gradient_scale, curvature_scale, seed, fill(quantised),
                                threads);
           });
    define(module, "add_leaf_values", {"feature", "begin", "count", "value", "rows", "scores", "threads"},
           [](In<std::int32_t> feature, In<std::int64_t> begin, In<std::int64_t> count, In<float> value,
              In<std::uint32_t> rows, Out<double> scores, int threads) {
               add_leaf_values(view(feature), view(begin), view(count), view(value), view(rows), fill(scores), threads);
           });
    bind_grow_tree<std::uint8_t>(module);
    bind_grow_tree<std::uint16_t>(module);
    bind_score_tree<std::uint8_t>(module);
    bind_score_tree<std::uint16_t>(module);
}

} // namespace rankwright
