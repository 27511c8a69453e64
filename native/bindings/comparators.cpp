#include "core/comparators/comparator.hpp"

#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"

namespace rankwright {

namespace {

struct ComparedPairs {
    Documents documents;
    TrainingPairs pairs;
    std::size_t n_docs, n_features;
};

// The net, once it is known to have the weights of its sizes and to compare documents of so many features.
Comparator net_of(const In<std::int64_t> &sizes, const In<float> &weights, std::size_t n_features) {
    const auto size = view(sizes);
    require(size.size() >= 2 && *std::min_element(size.begin(), size.end()) >= 0, "a net has a hidden layer or more");
    require_size("the first of sizes", static_cast<std::size_t>(size[0]), n_features);
    std::size_t wanted = 0;
    for (std::size_t layer = 1; layer <= size.size(); ++layer) {
        const auto below = static_cast<std::size_t>(size[layer - 1]);
        wanted += (2 * below + 1) * (layer == size.size() ? 1 : static_cast<std::size_t>(size[layer]));
    }
    require_size("weights", weights.size(), wanted);
    return {size, view(weights)};
}

Documents documents_of(const InMatrix<float> &features, const In<std::int64_t> &offsets) {
    require_offsets("offsets", view(offsets), features.shape(0));
    return {view(features), view(offsets)};
}

} // namespace

template <> struct Reader<ComparedPairs> {
    static ComparedPairs read(nb::handle pairs) {
        const auto features = field<InMatrix<float>>(pairs, "features");
        return {{view(features), view<std::int64_t>(pairs, "offsets")},
                {view<std::int64_t>(pairs, "pair_offsets"), view<std::int64_t>(pairs, "better"),
                 view<std::int64_t>(pairs, "worse"), view<float>(pairs, "weight")},
                features.shape(0),
                features.shape(1)};
    }
};

void bind_comparators(nb::module_ &module) {
    define(module, "compare_pairs", {"features", "sizes", "weights", "left", "right", "out", "threads"},
           [](InMatrix<float> features, In<std::int64_t> sizes, In<float> weights, In<std::int64_t> left,
              In<std::int64_t> right, OutMatrix<float> out, int threads) {
               require_size("right", right.size(), left.size());
               require_shape("out", out, left.size(), 2);
               require_below("left", view(left), features.shape(0));
               require_below("right", view(right), features.shape(0));
               compare_pairs(net_of(sizes, weights, features.shape(1)), view(features), view(left), view(right),
                             fill(out), threads);
           });
    define(module, "comparator_gradient",
           {"sizes", "weights", "pairs", "queries", "logistic", "cost", "gradient", "threads"},
           [](In<std::int64_t> sizes, In<float> weights, ComparedPairs pairs, In<std::int64_t> queries, bool logistic,
              Out<double> cost, Out<double> gradient, int threads) {
               require_offsets("offsets", pairs.documents.offsets, pairs.n_docs);
               const std::size_t n_pairs = pairs.pairs.better.size();
               require_size("pair_offsets", pairs.pairs.offsets.size(), pairs.documents.offsets.size());
               require_offsets("pair_offsets", pairs.pairs.offsets, n_pairs);
               require_size("worse", pairs.pairs.worse.size(), n_pairs);
               require_size("weight", pairs.pairs.weight.size(), n_pairs);
               require_below("queries", view(queries), pairs.documents.offsets.size() - 1);
               require_size("cost", cost.size(), 1);
               require_size_or_none("gradient", gradient.size(), weights.size());
               fill(cost)[0] = comparator_gradient(
                   net_of(sizes, weights, pairs.n_features), pairs.documents, pairs.pairs, view(queries),
                   logistic ? PairCost::logistic : PairCost::squared, fill(gradient), threads);
           });
    define(
        module, "sort_rows",
        {"features", "offsets", "sizes", "weights", "by_heap", "presort", "rows", "tied", "n_comparisons", "threads"},
        [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights, bool by_heap,
           bool presort, Out<std::int64_t> rows, Out<bool> tied, Out<std::int64_t> n_comparisons, int threads) {
            require_size("rows", rows.size(), features.shape(0));
            require_size("tied", tied.size(), features.shape(0));
            require_size("n_comparisons", n_comparisons.size(), offsets.size() - 1);
            sort_rows(net_of(sizes, weights, features.shape(1)), documents_of(features, offsets),
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
               require_size("rows", rows.size(), features.shape(0));
               require_size("labels", labels.size(), features.shape(0));
               require(mistakes.shape(1) == 2, "a mistake has two rows");
               for (const std::size_t size : {mistake_offsets.size(), n_comparisons.size(), n_mistakes.size()})
                   require_size("the values of queries", size, offsets.size() - 1);
               sort_noting_mistakes(net_of(sizes, weights, features.shape(1)), documents_of(features, offsets),
                                    view(labels), view(mistake_offsets), fill(rows), fill(n_comparisons),
                                    fill(n_mistakes), fill(mistakes), threads);
           });
    define(module, "count_wins", {"features", "offsets", "sizes", "weights", "wins", "threads"},
           [](InMatrix<float> features, In<std::int64_t> offsets, In<std::int64_t> sizes, In<float> weights,
              Out<std::int64_t> wins, int threads) {
               require_size("wins", wins.size(), features.shape(0));
               count_wins(net_of(sizes, weights, features.shape(1)), documents_of(features, offsets), fill(wins),
                          threads);
           });
}

} // namespace rankwright
