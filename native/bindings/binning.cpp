#include "core/binning.hpp"

#include "bindings/arrays.hpp"

namespace rankwright {

namespace {

FloatTable table(const InMatrix<float> &features) { return {features.data(), features.shape(0), features.shape(1)}; }

template <typename Code> void bind_bin_features(nb::module_ &module) {
    using OutCodes = nb::ndarray<Code, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
    module.def(
        "bin_features",
        [](InMatrix<float> features, In<float> edges, In<std::int64_t> offsets, In<bool> categorical,
           std::size_t first_row, OutCodes codes, int threads) {
            nb::gil_scoped_release released;
            const BinEdges bins{view(edges), view(offsets), view(categorical)};
            bin_features<Code>(table(features), bins, first_row, {codes.data(), codes.shape(0), codes.shape(1)},
                               threads);
        },
        nb::arg("features").noconvert(), nb::arg("edges").noconvert(), nb::arg("offsets").noconvert(),
        nb::arg("categorical").noconvert(), nb::arg("first_row"), nb::arg("codes").noconvert(), nb::arg("threads"));
}

} // namespace

void bind_binning(nb::module_ &module) {
    module.def(
        "find_thresholds",
        [](InMatrix<float> features, In<std::int64_t> rows, std::int64_t max_bins, OutMatrix<float> thresholds,
           Out<std::int64_t> n_thresholds, int threads) {
            nb::gil_scoped_release released;
            find_thresholds(table(features), view(rows), max_bins, fill(thresholds), fill(n_thresholds), threads);
        },
        nb::arg("features").noconvert(), nb::arg("rows").noconvert(), nb::arg("max_bins"),
        nb::arg("thresholds").noconvert(), nb::arg("n_thresholds").noconvert(), nb::arg("threads"));
    bind_bin_features<std::uint8_t>(module);
    bind_bin_features<std::uint16_t>(module);
}

} // namespace rankwright
