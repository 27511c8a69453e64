#include "bindings/arrays.hpp"
#include "core/grower.hpp"
#include "core/leaf_values.hpp"
#include "core/quantise.hpp"
#include "core/tree_scores.hpp"

namespace rankwright {

namespace {

template <typename Code> using InCodes = nb::ndarray<const Code, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <typename Code> void bind_grow_tree(nb::module_ &module) {
    module.def(
        "grow_tree",
        [](InCodes<Code> codes, In<std::int64_t> n_bins, In<bool> categorical, In<std::int8_t> monotone, In<bool> asked,
           In<std::int32_t> quantised, In<float> gradient, In<float> curvature, bool all_rows, std::int64_t max_leaves,
           std::int64_t max_depth, std::int64_t min_docs, double min_curvature, double l2, double min_gain, bool newton,
           double category_smoothing, std::int64_t max_split_categories, double gradient_scale, double curvature_scale,
           double learning_rate, Out<std::uint32_t> rows, Out<std::uint32_t> spare_rows, Out<std::uint8_t> sides,
           Out<std::uint64_t> histograms, Out<std::int32_t> feature, Out<std::int32_t> bin, Out<std::int32_t> left,
           Out<std::int32_t> right, Out<bool> missing_left, Out<double> gain, Out<float> value, Out<std::int64_t> begin,
           Out<std::int64_t> count, OutMatrix<std::uint32_t> categories, int threads) {
            nb::gil_scoped_release released;
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
        },
        nb::arg("codes").noconvert(), nb::arg("n_bins").noconvert(), nb::arg("categorical").noconvert(),
        nb::arg("monotone").noconvert(), nb::arg("asked").noconvert(), nb::arg("quantised").noconvert(),
        nb::arg("gradient").noconvert(), nb::arg("curvature").noconvert(), nb::arg("all_rows"), nb::arg("max_leaves"),
        nb::arg("max_depth"), nb::arg("min_docs"), nb::arg("min_curvature"), nb::arg("l2"), nb::arg("min_gain"),
        nb::arg("newton"), nb::arg("category_smoothing"), nb::arg("max_split_categories"), nb::arg("gradient_scale"),
        nb::arg("curvature_scale"), nb::arg("learning_rate"), nb::arg("rows").noconvert(),
        nb::arg("spare_rows").noconvert(), nb::arg("sides").noconvert(), nb::arg("histograms").noconvert(),
        nb::arg("feature").noconvert(), nb::arg("bin").noconvert(), nb::arg("left").noconvert(),
        nb::arg("right").noconvert(), nb::arg("missing_left").noconvert(), nb::arg("gain").noconvert(),
        nb::arg("value").noconvert(), nb::arg("begin").noconvert(), nb::arg("count").noconvert(),
        nb::arg("categories").noconvert(), nb::arg("threads"));
}

template <typename Code> void bind_score_tree(nb::module_ &module) {
    module.def(
        "score_tree",
        [](InCodes<Code> codes, In<std::int64_t> n_bins, In<std::int32_t> feature, In<std::int32_t> bin,
           In<std::int32_t> left, In<std::int32_t> right, In<bool> missing_left, In<float> value,
           InMatrix<std::uint32_t> categories, Out<double> scores, int threads) {
            nb::gil_scoped_release released;
            const GrownNodes tree{view(feature),
                                  view(bin),
                                  view(left),
                                  view(right),
                                  view(missing_left),
                                  view(value),
                                  {categories.data(), categories.size()},
                                  categories.shape(1)};
            score_tree<Code>({codes.data(), codes.shape(0), codes.shape(1)}, view(n_bins), tree, fill(scores), threads);
        },
        nb::arg("codes").noconvert(), nb::arg("n_bins").noconvert(), nb::arg("feature").noconvert(),
        nb::arg("bin").noconvert(), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
        nb::arg("missing_left").noconvert(), nb::arg("value").noconvert(), nb::arg("categories").noconvert(),
        nb::arg("scores").noconvert(), nb::arg("threads"));
}

} // namespace

void bind_trees(nb::module_ &module) {
    module.def(
        "quantise_lambdas",
        [](In<float> gradient, In<float> curvature, double gradient_scale, double curvature_scale, std::uint64_t seed,
           Out<std::int32_t> quantised, int threads) {
            nb::gil_scoped_release released;
            quantise_lambdas(view(gradient), view(curvature), gradient_scale, curvature_scale, seed, fill(quantised),
                             threads);
        },
        nb::arg("gradient").noconvert(), nb::arg("curvature").noconvert(), nb::arg("gradient_scale"),
        nb::arg("curvature_scale"), nb::arg("seed"), nb::arg("quantised").noconvert(), nb::arg("threads"));
    module.def(
        "add_leaf_values",
        [](In<std::int32_t> feature, In<std::int64_t> begin, In<std::int64_t> count, In<float> value,
           In<std::uint32_t> rows, Out<double> scores, int threads) {
            nb::gil_scoped_release released;
            add_leaf_values(view(feature), view(begin), view(count), view(value), view(rows), fill(scores), threads);
        },
        nb::arg("feature").noconvert(), nb::arg("begin").noconvert(), nb::arg("count").noconvert(),
        nb::arg("value").noconvert(), nb::arg("rows").noconvert(), nb::arg("scores").noconvert(), nb::arg("threads"));
    bind_grow_tree<std::uint8_t>(module);
    bind_grow_tree<std::uint16_t>(module);
    bind_score_tree<std::uint8_t>(module);
    bind_score_tree<std::uint16_t>(module);
}

} // namespace rankwright
