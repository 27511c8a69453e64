#include "core/scaling.hpp"

#include "bindings/arrays.hpp"

namespace rankwright {

void bind_scaling(nb::module_ &module) {
    const auto define = [&module](const char *name, auto scale) {
        module.def(
            name,
            [scale](InMatrix<float> features, In<std::int64_t> offsets, OutMatrix<float> out, int threads) {
                nb::gil_scoped_release released;
                scale({features.data(), features.size()}, features.shape(1), view(offsets), {out.data(), out.size()},
                      threads);
            },
            nb::arg("features").noconvert(), nb::arg("offsets").noconvert(), nb::arg("out").noconvert(),
            nb::arg("threads"));
    };
    define("scale_by_mean", scale_by_mean);
    define("scale_by_range", scale_by_range);
}

} // namespace rankwright
