#include "core/binning/binning.hpp"

#include "bindings/define.hpp"
#include "bindings/require.hpp"

namespace rankwright {

namespace {

FloatTable table(const InMatrix<float> &features) { return {features.data(), features.shape(0), features.shape(1)}; }

template <typename Code> void bind_bin_features(nb::module_ &module) {
    define(module, "bin_features",
           {"features", "order", "edges", "offsets", "categorical", "first_row", "codes", "threads"},
           [](InMatrix<float> features, In<std::int64_t> order, In<float> edges, In<std::int64_t> offsets,
              In<bool> categorical, std::size_t first_row, Array<Code, 3> codes, int threads) {
               require(order.size() == 0 || order.size() == features.shape(0), "order must name every row, or none");
               require_below("order", view(order), features.shape(0));
               require_size("offsets", offsets.size(), features.shape(1) + 1);
               require_offsets("offsets", view(offsets), edges.size());
               require_size("categorical", categorical.size(), features.shape(1));
               require(codes.shape(0) * codes.shape(2) >= features.shape(1) &&
                           first_row + features.shape(0) <= codes.shape(1),
                       "codes must hold every feature of every row");
               const BinEdges bins{view(edges), view(offsets), view(categorical)};
               bin_features<Code>(table(features), view(order), bins, first_row,
                                  {codes.data(), codes.shape(0), codes.shape(1)}, threads);
           });
}

} // namespace

void bind_binning(nb::module_ &module) {
    define(module, "find_thresholds", {"features", "rows", "max_bins", "thresholds", "n_thresholds", "threads"},
           [](InMatrix<float> features, In<std::int64_t> rows, std::int64_t max_bins, OutMatrix<float> thresholds,
              Out<std::int64_t> n_thresholds, int threads) {
               require_below("rows", view(rows), features.shape(0));
               require(max_bins >= 2 && thresholds.shape(0) == features.shape(1) &&
                           thresholds.shape(1) + 1 >= static_cast<std::size_t>(max_bins),
                       "thresholds must hold one less than max_bins for each feature");
               require_size("n_thresholds", n_thresholds.size(), features.shape(1));
               find_thresholds(table(features), view(rows), max_bins, fill(thresholds), fill(n_thresholds), threads);
           });
    bind_bin_features<std::uint8_t>(module);
    bind_bin_features<std::uint16_t>(module);
}

} // namespace rankwright
