#include "core/forest.hpp"

#include "bindings/arrays.hpp"

namespace rankwright {

namespace {

CompiledForest forest_of(const InMatrix<std::uint32_t> &nodes, const In<std::int64_t> &node_offsets,
                         const In<float> &leaf_values, const In<std::int64_t> &leaf_offsets) {
    static_assert(sizeof(ForestNode) == 5 * sizeof(std::uint32_t));
    const auto *first = reinterpret_cast<const ForestNode *>(nodes.data());
    return {{first, nodes.shape(0)}, view(node_offsets), view(leaf_values), view(leaf_offsets)};
}

ValueColumns columns_of(const InMatrix<float> &features, const In<std::int32_t> &column_features,
                        const In<float> &edges, const In<std::int64_t> &edge_offsets, const InMatrix<float> &tables,
                        const In<std::int64_t> &category_words, const In<std::uint32_t> &categories) {
    return {{features.data(), features.shape(0), features.shape(1)},
            view(column_features),
            view(edges),
            view(edge_offsets),
            {tables.data(), tables.size()},
            view(category_words),
            view(categories)};
}

void bind_values(nb::module_ &module) {
    module.def(
        "score_forest",
        [](InMatrix<float> features, In<std::int32_t> column_features, In<float> edges, In<std::int64_t> edge_offsets,
           InMatrix<float> tables, In<std::int64_t> category_words, In<std::uint32_t> categories,
           InMatrix<std::uint32_t> nodes, In<std::int64_t> node_offsets, In<float> leaf_values,
           In<std::int64_t> leaf_offsets, int lane_bytes, Out<double> scores, int threads) {
            nb::gil_scoped_release released;
            const auto columns =
                columns_of(features, column_features, edges, edge_offsets, tables, category_words, categories);
            const auto forest = forest_of(nodes, node_offsets, leaf_values, leaf_offsets);
            if (lane_bytes == 1) {
                score_forest<std::uint8_t>(columns, forest, fill(scores), threads);
            } else {
                score_forest<std::uint16_t>(columns, forest, fill(scores), threads);
            }
        },
        nb::arg("features").noconvert(), nb::arg("column_features").noconvert(), nb::arg("edges").noconvert(),
        nb::arg("edge_offsets").noconvert(), nb::arg("tables").noconvert(), nb::arg("category_words").noconvert(),
        nb::arg("categories").noconvert(), nb::arg("nodes").noconvert(), nb::arg("node_offsets").noconvert(),
        nb::arg("leaf_values").noconvert(), nb::arg("leaf_offsets").noconvert(), nb::arg("lane_bytes"),
        nb::arg("scores").noconvert(), nb::arg("threads"));
    module.def(
        "find_leaves",
        [](InMatrix<float> features, In<std::int32_t> column_features, In<float> edges, In<std::int64_t> edge_offsets,
           InMatrix<float> tables, In<std::int64_t> category_words, In<std::uint32_t> categories,
           InMatrix<std::uint32_t> nodes, In<std::int64_t> node_offsets, In<float> leaf_values,
           In<std::int64_t> leaf_offsets, int lane_bytes, OutMatrix<std::uint16_t> leaves, int threads) {
            nb::gil_scoped_release released;
            const auto columns =
                columns_of(features, column_features, edges, edge_offsets, tables, category_words, categories);
            const auto forest = forest_of(nodes, node_offsets, leaf_values, leaf_offsets);
            if (lane_bytes == 1) {
                find_leaves<std::uint8_t>(columns, forest, fill(leaves), threads);
            } else {
                find_leaves<std::uint16_t>(columns, forest, fill(leaves), threads);
            }
        },
        nb::arg("features").noconvert(), nb::arg("column_features").noconvert(), nb::arg("edges").noconvert(),
        nb::arg("edge_offsets").noconvert(), nb::arg("tables").noconvert(), nb::arg("category_words").noconvert(),
        nb::arg("categories").noconvert(), nb::arg("nodes").noconvert(), nb::arg("node_offsets").noconvert(),
        nb::arg("leaf_values").noconvert(), nb::arg("leaf_offsets").noconvert(), nb::arg("lane_bytes"),
        nb::arg("leaves").noconvert(), nb::arg("threads"));
}

template <typename Code> void bind_codes(nb::module_ &module) {
    using InCodes = nb::ndarray<const Code, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
    module.def(
        "score_codes",
        [](InCodes codes, In<std::int32_t> column_features, In<std::int64_t> missing, In<std::int64_t> category_words,
           In<std::uint32_t> categories, InMatrix<std::uint32_t> nodes, In<std::int64_t> node_offsets,
           In<float> leaf_values, In<std::int64_t> leaf_offsets, int lane_bytes, Out<double> scores, int threads) {
            nb::gil_scoped_release released;
            const CodeColumns<Code> columns{{codes.data(), codes.shape(0), codes.shape(1)},
                                            view(column_features),
                                            view(missing),
                                            view(category_words),
                                            view(categories)};
            const auto forest = forest_of(nodes, node_offsets, leaf_values, leaf_offsets);
            if constexpr (sizeof(Code) == 1) {
                if (lane_bytes == 1) return score_forest<std::uint8_t>(columns, forest, fill(scores), threads);
            }
            score_forest<std::uint16_t>(columns, forest, fill(scores), threads);
        },
        nb::arg("codes").noconvert(), nb::arg("column_features").noconvert(), nb::arg("missing").noconvert(),
        nb::arg("category_words").noconvert(), nb::arg("categories").noconvert(), nb::arg("nodes").noconvert(),
        nb::arg("node_offsets").noconvert(), nb::arg("leaf_values").noconvert(), nb::arg("leaf_offsets").noconvert(),
        nb::arg("lane_bytes"), nb::arg("scores").noconvert(), nb::arg("threads"));
}

} // namespace

void bind_forest(nb::module_ &module) {
    bind_values(module);
    bind_codes<std::uint8_t>(module);
    bind_codes<std::uint16_t>(module);
}

} // namespace rankwright
