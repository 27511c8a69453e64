#include "core/forests/forest.hpp"

#include "bindings/codes.hpp"
#include "bindings/define.hpp"

namespace rankwright {

namespace {

CompiledForest forest_of(const InMatrix<std::uint32_t> &nodes, const In<std::int64_t> &node_offsets,
                         const In<float> &leaf_values, const In<std::int64_t> &leaf_offsets) {
    static_assert(sizeof(ForestNode) == 5 * sizeof(std::uint32_t));
    const auto *first = reinterpret_cast<const ForestNode *>(nodes.data());
    return {{first, nodes.shape(0)}, view(node_offsets), view(leaf_values), view(leaf_offsets)};
}

// Calls use(lane) with a number of the type that codes and leaf numbers have.
template <typename Use> void with_lanes(int lane_bytes, Use &&use) {
    lane_bytes == 1 ? use(std::uint8_t{}) : use(std::uint16_t{});
}

// A kernel that takes raw values through a forest to an output array: body(lane, columns, forest, output, threads).
template <typename Output, typename Body>
void define_for_values(nb::module_ &module, const char *name, const char *output_name, Body body) {
    define(module, name,
           {"features", "column_features", "edges", "edge_offsets", "tables", "category_words", "categories", "nodes",
            "node_offsets", "leaf_values", "leaf_offsets", "lane_bytes", output_name, "threads"},
           [body](InMatrix<float> features, In<std::int32_t> column_features, In<float> edges,
                  In<std::int64_t> edge_offsets, InMatrix<float> tables, In<std::int64_t> category_words,
                  In<std::uint32_t> categories, InMatrix<std::uint32_t> nodes, In<std::int64_t> node_offsets,
                  In<float> leaf_values, In<std::int64_t> leaf_offsets, int lane_bytes, Output output, int threads) {
               const ValueColumns columns{{features.data(), features.shape(0), features.shape(1)},
                                          view(column_features),
                                          view(edges),
                                          view(edge_offsets),
                                          view(tables),
                                          view(category_words),
                                          view(categories)};
               const auto forest = forest_of(nodes, node_offsets, leaf_values, leaf_offsets);
               with_lanes(lane_bytes, [&](auto lane) { body(lane, columns, forest, fill(output), threads); });
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
    define(module, "score_codes",
           {"codes", "column_features", "missing", "category_words", "categories", "nodes", "node_offsets",
            "leaf_values", "leaf_offsets", "lane_bytes", "scores", "threads"},
           [](InCodes<Code> codes, In<std::int32_t> column_features, In<std::int64_t> missing,
              In<std::int64_t> category_words, In<std::uint32_t> categories, InMatrix<std::uint32_t> nodes,
              In<std::int64_t> node_offsets, In<float> leaf_values, In<std::int64_t> leaf_offsets, int lane_bytes,
              Out<double> scores, int threads) {
               const CodeColumns<Code> columns{codes_of(codes), view(column_features), view(missing),
                                               view(category_words), view(categories)};
               const auto forest = forest_of(nodes, node_offsets, leaf_values, leaf_offsets);
               if constexpr (sizeof(Code) == 1) {
                   if (lane_bytes == 1) return score_forest<std::uint8_t>(columns, forest, fill(scores), threads);
               }
               score_forest<std::uint16_t>(columns, forest, fill(scores), threads);
           });
}

} // namespace

void bind_forests(nb::module_ &module) {
    bind_values(module);
    bind_codes<std::uint8_t>(module);
    bind_codes<std::uint16_t>(module);
}

} // namespace rankwright
