#include "core/forests/forest.hpp"

#include "bindings/codes.hpp"
#include "bindings/define.hpp"
#include "bindings/forest_records.hpp"

namespace rankwright {

namespace {

// A kernel that takes raw values through a forest to an output array: body(lane, columns, forest, output, threads).
template <typename Output, typename Body>
void define_for_values(nb::module_ &module, const char *name, const char *output_name, Body body) {
    define(module, name, {"features", "columns", "tables", "trees", output_name, "threads"},
           [body, output_name](InMatrix<float> features, FeatureColumns columns, InMatrix<float> tables,
                               ForestTrees forest, Output output, int threads) {
               require_documents(features, columns, tables, forest);
               require_size(output_name, output.size(),
                            features.shape(0) * (is_matrix<Output> ? forest.trees.n_trees() : 1));
               const ValueColumns values = value_columns(features, columns, tables);
               with_lanes(forest.lane_bytes,
                          [&](auto lane) { body(lane, values, forest.trees, fill(output), threads); });
           });
}

void bind_values(nb::module_ &module) {
    define_for_values<Out<double>>(module, "score_forest", "scores",
                                   [](auto lane, const auto &columns, const auto &forest, auto scores, int threads) {
                                       score_forest<decltype(lane)>(columns, forest, scores, threads);
                                   });
    define_for_values<Out<double>>(module, "score_by_bits", "scores",
                                   [](auto lane, const auto &columns, CompiledForest forest, auto scores, int threads) {
                                       forest.by_bits = true;
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
