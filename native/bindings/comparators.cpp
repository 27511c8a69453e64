#include "core/comparators/comparator.hpp"

#include "bindings/define.hpp"
#include "bindings/records.hpp"

namespace rankwright {

namespace {

struct ComparedPairs {
    Documents documents;
    TrainingPairs pairs;
};

} // namespace

template <> struct Reader<ComparedPairs> {
    static ComparedPairs read(nb::handle pairs) {
        return {{view(field<InMatrix<float>>(pairs, "features")), view<std::int64_t>(pairs, "offsets")},
                {view<std::int64_t>(pairs, "pair_offsets"), view<std::int64_t>(pairs, "better"),
                 view<std::int64_t>(pairs, "worse"), view<float>(pairs, "weight")}};
    }
};

void bind_comparators(nb::module_ &module) {
    define(module, "compare_pairs", {"features", "sizes", "weights", "left", "right", "out", "threads"},
           [](InMatrix<float> features, In<std::int64_t> sizes, In<float> weights, In<std::int64_t> left,
              In<std::int64_t> right, OutMatrix<float> out, int threads) {
               compare_pairs({view(sizes), view(weights)}, view(features), view(left), view(right), fill(out), threads);
           });
    define(module, "comparator_gradient",
           {"sizes", "weights", "pairs", "queries", "logistic", "cost", "gradient", "threads"},
           [](In<std::int64_t> sizes, In<float> weights, ComparedPairs pairs, In<std::int64_t> queries, bool logistic,
              Out<double> cost, Out<double> gradient, int threads) {
               fill(cost)[0] =
                   comparator_gradient({view(sizes), view(weights)}, pairs.documents, pairs.pairs, view(queries),
                                       logistic ? PairCost::logistic : PairCost::squared, fill(gradient), threads);
           });
    define(
        module, "sort_rows",
        {"features", "offsets", "sizes", "weights", "by_heap", "presort", "rows", "tied", "n_comparisons", "threads"},
        [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights, bool by_heap,
           bool presort, Out<std::int64_t> rows, Out<bool> tied, Out<std::int64_t> n_comparisons, int threads) {
            sort_rows({view(sizes), view(weights)}, {view(features), view(offsets)},
                      by_heap ? SortAlgorithm::heap : SortAlgorithm::merge, presort, fill(rows), fill(tied),
                      fill(n_comparisons), threads);
        });
    define(module, "sort_noting_mistakes",
           {"features", "offsets", "sizes", "weights", "labels", "mistake_offsets", "rows", "n_comparisons",
            "n_mistakes", "mistakes", "threads"},
           [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights,
              In<float> labels, In<std::int64_t> mistake_offsets, Out<std::int64_t> rows,
              Out<std::int64_t> n_comparisons, Out<std::int64_t> n_mistakes, OutMatrix<std::int64_t> mistakes,
              int threads) {
               sort_noting_mistakes({view(sizes), view(weights)}, {view(features), view(offsets)}, view(labels),
                                    view(mistake_offsets), fill(rows), fill(n_comparisons), fill(n_mistakes),
                                    fill(mistakes), threads);
           });
    define(module, "count_wins", {"features", "offsets", "sizes", "weights", "wins", "threads"},
           [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights,
              Out<std::int64_t> wins, int threads) {
               count_wins({view(sizes), view(weights)}, {view(features), view(offsets)}, fill(wins), threads);
           });
}

} // namespace rankwright
