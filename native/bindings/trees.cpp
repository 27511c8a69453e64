#include "bindings/define.hpp"
#include "core/forests/tree_scores.hpp"
#include "core/trees/grower.hpp"
#include "core/trees/leaf_values.hpp"
#include "core/trees/quantise.hpp"

namespace rankwright {

namespace {

template <typename Code> void bind_grow_tree(nb::module_ &module) {
    define(
        module, "grow_tree",
        {"codes",
         "n_bins",
         "categorical",
         "monotone",
         "asked",
         "quantised",
         "gradient",
         "curvature",
         "all_rows",
         "max_leaves",
         "max_depth",
         "min_docs",
         "min_curvature",
         "l2",
         "min_gain",
         "newton",
         "category_smoothing",
         "max_split_categories",
         "gradient_scale",
         "curvature_scale",
         "learning_rate",
         "rows",
         "spare_rows",
         "sides",
         "histograms",
         "feature",
         "bin",
         "left",
         "right",
         "missing_left",
         "gain",
         "value",
         "begin",
         "count",
         "categories",
         "threads"},
        [](InCodes<Code> codes, In<std::int64_t> n_bins, In<bool> categorical, In<std::int8_t> monotone, In<bool> asked,
           In<std::int32_t> quantised, In<float> gradient, In<float> curvature, bool all_rows, std::int64_t max_leaves,
           std::int64_t max_depth, std::int64_t min_docs, double min_curvature, double l2, double min_gain, bool newton,
           double category_smoothing, std::int64_t max_split_categories, double gradient_scale, double curvature_scale,
           double learning_rate, Out<std::uint32_t> rows, Out<std::uint32_t> spare_rows, Out<std::uint8_t> sides,
           Out<std::uint64_t> histograms, Out<std::int32_t> feature, Out<std::int32_t> bin, Out<std::int32_t> left,
           Out<std::int32_t> right, Out<bool> missing_left, Out<double> gain, Out<float> value, Out<std::int64_t> begin,
           Out<std::int64_t> count, OutMatrix<std::uint32_t> categories, int threads) {
            const TreeData<Code> data{{codes.data(), codes.shape(0), codes.shape(1)},
                                      view(n_bins),
                                      view(categorical),
                                      view(monotone),
                                      view(asked),
                                      view(quantised),
                                      view(gradient),
                                      view(curvature),
                                      all_rows};
            const TreeSettings settings{
                max_leaves,      max_depth,    min_docs,           min_curvature,        l2,
                min_gain,        newton,       category_smoothing, max_split_categories, gradient_scale,
                curvature_scale, learning_rate};
            const Tree tree{fill(feature), fill(bin),   fill(left),  fill(right),      fill(missing_left),  fill(gain),
                            fill(value),   fill(begin), fill(count), fill(categories), categories.shape(1), fill(rows)};
            return grow_tree<Code>(data, settings, {fill(spare_rows), fill(sides), fill(histograms)}, tree, threads);
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
               score_tree<Code>({codes.data(), codes.shape(0), codes.shape(1)}, view(n_bins), tree, fill(scores),
                                threads);
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
