#include "core/comparator.hpp"

#include "bindings/arrays.hpp"

namespace rankwright {

namespace {

std::span<const float> flat(const InMatrix<float> &matrix) { return {matrix.data(), matrix.size()}; }

} // namespace

void bind_comparator(nb::module_ &module) {
    module.def(
        "compare_pairs",
        [](InMatrix<float> features, In<std::int64_t> sizes, In<float> weights, In<std::int64_t> left,
           In<std::int64_t> right, OutMatrix<float> out, int threads) {
            nb::gil_scoped_release released;
            compare_pairs({view(sizes), view(weights)}, flat(features), view(left), view(right), fill(out), threads);
        },
        nb::arg("features").noconvert(), nb::arg("sizes").noconvert(), nb::arg("weights").noconvert(),
        nb::arg("left").noconvert(), nb::arg("right").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));
    module.def(
        "comparator_gradient",
        [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights,
           In<std::int64_t> pair_offsets, In<std::int64_t> better, In<std::int64_t> worse, In<float> pair_weights,
           In<std::int64_t> queries, bool logistic, Out<double> cost, Out<double> gradient, int threads) {
            nb::gil_scoped_release released;
            const TrainingPairs pairs{view(pair_offsets), view(better), view(worse), view(pair_weights)};
            fill(cost)[0] =
                comparator_gradient({view(sizes), view(weights)}, {flat(features), view(offsets)}, pairs, view(queries),
                                    logistic ? PairCost::logistic : PairCost::squared, fill(gradient), threads);
        },
        nb::arg("features").noconvert(), nb::arg("offsets").noconvert(), nb::arg("sizes").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("pair_offsets").noconvert(), nb::arg("better").noconvert(),
        nb::arg("worse").noconvert(), nb::arg("pair_weights").noconvert(), nb::arg("queries").noconvert(),
        nb::arg("logistic"), nb::arg("cost").noconvert(), nb::arg("gradient").noconvert(), nb::arg("threads"));
    module.def(
        "sort_rows",
        [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights, bool by_heap,
           bool presort, Out<std::int64_t> rows, Out<bool> tied, Out<std::int64_t> n_comparisons, int threads) {
            nb::gil_scoped_release released;
            sort_rows({view(sizes), view(weights)}, {flat(features), view(offsets)},
                      by_heap ? SortAlgorithm::heap : SortAlgorithm::merge, presort, fill(rows), fill(tied),
                      fill(n_comparisons), threads);
        },
        nb::arg("features").noconvert(), nb::arg("offsets").noconvert(), nb::arg("sizes").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("by_heap"), nb::arg("presort"), nb::arg("rows").noconvert(),
        nb::arg("tied").noconvert(), nb::arg("n_comparisons").noconvert(), nb::arg("threads"));
    module.def(
        "sort_noting_mistakes",
        [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights,
           In<float> labels, In<std::int64_t> mistake_offsets, Out<std::int64_t> rows, Out<std::int64_t> n_comparisons,
           Out<std::int64_t> n_mistakes, OutMatrix<std::int64_t> mistakes, int threads) {
            nb::gil_scoped_release released;
            sort_noting_mistakes({view(sizes), view(weights)}, {flat(features), view(offsets)}, view(labels),
                                 view(mistake_offsets), fill(rows), fill(n_comparisons), fill(n_mistakes),
                                 fill(mistakes), threads);
        },
        nb::arg("features").noconvert(), nb::arg("offsets").noconvert(), nb::arg("sizes").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("labels").noconvert(), nb::arg("mistake_offsets").noconvert(),
        nb::arg("rows").noconvert(), nb::arg("n_comparisons").noconvert(), nb::arg("n_mistakes").noconvert(),
        nb::arg("mistakes").noconvert(), nb::arg("threads"));
    module.def(
        "count_wins",
        [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights,
           Out<std::int64_t> wins, int threads) {
            nb::gil_scoped_release released;
            count_wins({view(sizes), view(weights)}, {flat(features), view(offsets)}, fill(wins), threads);
        },
        nb::arg("features").noconvert(), nb::arg("offsets").noconvert(), nb::arg("sizes").noconvert(),
        nb::arg("weights").noconvert(), nb::arg("wins").noconvert(), nb::arg("threads"));
}

} // namespace rankwright
