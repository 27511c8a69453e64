#include "core/binning/sparse_binning.hpp"

#include "bindings/define.hpp"
#include "bindings/require.hpp"
#include "bindings/sparse_records.hpp"

namespace rankwright {

namespace {

void require_table(const SparseTable &table) {
    require_offsets("starts", table.starts, table.values.size());
    require_size("columns", table.columns.size(), table.values.size());
    require_below("columns", table.columns, table.n_columns);
}

BinEdges edges_of(const SparseTable &table, In<float> edges, In<std::int64_t> offsets, In<bool> categorical) {
    require_size("offsets", offsets.size(), table.n_columns + 1);
    require_offsets("offsets", view(offsets), edges.size());
    require_size("categorical", categorical.size(), table.n_columns);
    return {view(edges), view(offsets), view(categorical)};
}

SparseCodesOut columns_of(const SparseTable &table, In<std::uint32_t> first, In<std::uint32_t> usual,
                          In<std::int32_t> bundle, In<std::uint32_t> bases) {
    for (const std::size_t size : {first.size(), usual.size(), bundle.size()})
        require_size("what is known of features", size, table.n_columns);
    for (const std::int32_t number : view(bundle))
        require(number < static_cast<std::int32_t>(bases.size()), "every bundle must have a base");
    return {view(first), view(usual), view(bundle), view(bases)};
}

void require_order(const SparseTable &table, In<std::int64_t> order) {
    require_size_or_none("order", order.size(), table.n_rows());
    require_below("order", view(order), table.n_rows());
}

} // namespace

void bind_sparse_binning(nb::module_ &module) {
    define(module, "hash_sparse_rows", {"features", "out", "threads"},
           [](SparseTable features, Out<std::uint64_t> out, int threads) {
               require_table(features);
               require_size("out", out.size(), features.n_rows());
               hash_sparse_rows(features, fill(out), threads);
           });
    define(module, "find_sparse_thresholds",
           {"features", "rows", "max_bins", "offsets", "thresholds", "n_thresholds", "threads"},
           [](SparseTable features, In<std::int64_t> rows, std::int64_t max_bins, In<std::int64_t> offsets,
              Out<float> thresholds, Out<std::int64_t> n_thresholds, int threads) {
               require_table(features);
               require_below("rows", view(rows), features.n_rows());
               require(max_bins >= 2, "max_bins must be 2 or more");
               require_size("offsets", offsets.size(), features.n_columns + 1);
               require_offsets("offsets", view(offsets), thresholds.size());
               require_size("n_thresholds", n_thresholds.size(), features.n_columns);
               find_sparse_thresholds(features, view(rows), max_bins, view(offsets), fill(thresholds),
                                      fill(n_thresholds), threads);
           });
    define(module, "count_sparse_codes",
           {"features", "edges", "offsets", "categorical", "usual", "n_set", "any_missing", "threads"},
           [](SparseTable features, In<float> edges, In<std::int64_t> offsets, In<bool> categorical,
              Out<std::uint32_t> usual, Out<std::int64_t> n_set, Out<bool> any_missing, int threads) {
               require_table(features);
               for (const std::size_t size : {usual.size(), n_set.size(), any_missing.size()})
                   require_size("what is known of features", size, features.n_columns);
               count_sparse_codes(features, edges_of(features, edges, offsets, categorical), fill(usual), fill(n_set),
                                  fill(any_missing), threads);
           });
    define(module, "bundle_features",
           {"features", "edges", "offsets", "categorical", "usual", "n_set", "n_places", "bundle", "threads"},
           [](SparseTable features, In<float> edges, In<std::int64_t> offsets, In<bool> categorical,
              In<std::uint32_t> usual, In<std::int64_t> n_set, In<std::uint32_t> n_places, Out<std::int32_t> bundle,
              int threads) {
               require_table(features);
               for (const std::size_t size : {usual.size(), n_set.size(), n_places.size(), bundle.size()})
                   require_size("what is known of features", size, features.n_columns);
               return bundle_features(features, edges_of(features, edges, offsets, categorical), view(usual),
                                      view(n_set), view(n_places), fill(bundle), threads);
           });
    define(module, "count_listed",
           {"features", "order", "edges", "offsets", "categorical", "first", "usual", "bundle", "bases", "counts",
            "threads"},
           [](SparseTable features, In<std::int64_t> order, In<float> edges, In<std::int64_t> offsets,
              In<bool> categorical, In<std::uint32_t> first, In<std::uint32_t> usual, In<std::int32_t> bundle,
              In<std::uint32_t> bases, Out<std::int64_t> counts, int threads) {
               require_table(features);
               require_order(features, order);
               require_size("counts", counts.size(), features.n_rows());
               count_listed(features, view(order), edges_of(features, edges, offsets, categorical),
                            columns_of(features, first, usual, bundle, bases), fill(counts), threads);
           });
    define(module, "pack_sparse_codes",
           {"features", "order", "edges", "offsets", "categorical", "first", "usual", "bundle", "bases", "starts",
            "bundled", "listed", "threads"},
           [](SparseTable features, In<std::int64_t> order, In<float> edges, In<std::int64_t> offsets,
              In<bool> categorical, In<std::uint32_t> first, In<std::uint32_t> usual, In<std::int32_t> bundle,
              In<std::uint32_t> bases, In<std::int64_t> starts, OutMatrix<std::uint16_t> bundled,
              Out<std::uint32_t> listed, int threads) {
               require_table(features);
               require_order(features, order);
               require_size("starts", starts.size(), features.n_rows() + 1);
               require_offsets("starts", view(starts), listed.size());
               require_shape("bundled", bundled, features.n_rows(), bases.size());
               pack_sparse_codes(features, view(order), edges_of(features, edges, offsets, categorical),
                                 columns_of(features, first, usual, bundle, bases), view(starts), fill(bundled),
                                 fill(listed), threads);
           });
}

} // namespace rankwright
