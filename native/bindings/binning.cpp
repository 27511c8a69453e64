#include "core/binning/binning.hpp"

#include "bindings/define.hpp"

namespace rankwright {

namespace {

FloatTable table(const InMatrix<float> &features) { return {features.data(), features.shape(0), features.shape(1)}; }

template <typename Code> void bind_bin_features(nb::module_ &module) {
    define(module, "bin_features", {"features", "order", "edges", "offsets", "categorical", "first_row", "codes", "threads"},
           [](InMatrix<float> features, In<std::int64_t> order, In<float> edges, In<std::int64_t> offsets, In<bool> categorical,
              std::size_t first_row, Array<Code, 3> codes, int threads) {
               const BinEdges bins{view(edges), view(offsets), view(categorical)};
               bin_features<Code>(table(features), view(order), bins, first_row, {codes.data(), codes.shape(0), codes.shape(1)},
                                  threads);
           });
}

} // namespace

void bind_binning(nb::module_ &module) {
    define(module, "find_thresholds", {"features", "rows", "max_bins", "thresholds", "n_thresholds", "threads"},
           [](InMatrix<float> features, In<std::int64_t> rows, std::int64_t max_bins, OutMatrix<float> thresholds,
              Out<std::int64_t> n_thresholds, int threads) {
               find_thresholds(table(features), view(rows), max_bins, fill(thresholds), fill(n_thresholds), threads);
           });
    bind_bin_features<std::uint8_t>(module);
    bind_bin_features<std::uint16_t>(module);
}

} // namespace rankwright
