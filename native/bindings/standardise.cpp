#include "core/standardise.hpp"

#include "bindings/arrays.hpp"
#include "core/first_layer.hpp"

namespace rankwright {

namespace {

NetRows net_rows(const InMatrix<float> &features, const In<std::int64_t> &rows, const In<float> &shift,
                 const In<float> &factor) {
    return {{features.data(), features.size()}, features.shape(1), view(rows), view(shift), view(factor)};
}

} // namespace

void bind_standardise(nb::module_ &module) {
    module.def(
        "first_layer",
        [](InMatrix<float> features, In<std::int64_t> rows, In<float> shift, In<float> factor, InMatrix<float> weights,
           OutMatrix<float> out, int threads) {
            nb::gil_scoped_release released;
            first_layer(net_rows(features, rows, shift, factor), {weights.data(), weights.size()}, fill(out), threads);
        },
        nb::arg("features").noconvert(), nb::arg("rows").noconvert(), nb::arg("shift").noconvert(),
        nb::arg("factor").noconvert(), nb::arg("weights").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));
    module.def(
        "first_layer_gradient",
        [](InMatrix<float> features, In<std::int64_t> rows, In<float> shift, In<float> factor, InMatrix<float> forces,
           OutMatrix<float> gradient, int threads) {
            nb::gil_scoped_release released;
            first_layer_gradient(net_rows(features, rows, shift, factor), {forces.data(), forces.size()},
                                 fill(gradient), threads);
        },
        nb::arg("features").noconvert(), nb::arg("rows").noconvert(), nb::arg("shift").noconvert(),
        nb::arg("factor").noconvert(), nb::arg("forces").noconvert(), nb::arg("gradient").noconvert(),
        nb::arg("threads"));
    module.def(
        "standardise_rows",
        [](InMatrix<float> features, In<std::int64_t> rows, In<float> shift, In<float> factor, OutMatrix<float> out,
           int threads) {
            nb::gil_scoped_release released;
            standardise_rows({features.data(), features.size()}, features.shape(1), view(rows), view(shift),
                             view(factor), fill(out), threads);
        },
        nb::arg("features").noconvert(), nb::arg("rows").noconvert(), nb::arg("shift").noconvert(),
        nb::arg("factor").noconvert(), nb::arg("out").noconvert(), nb::arg("threads"));
    module.def(
        "sum_moments",
        [](InMatrix<float> features, In<double> centre, Out<double> count, Out<double> total, Out<double> squares,
           int threads) {
            nb::gil_scoped_release released;
            sum_moments({features.data(), features.size()}, features.shape(1), view(centre), fill(count), fill(total),
                        fill(squares), threads);
        },
        nb::arg("features").noconvert(), nb::arg("centre").noconvert(), nb::arg("count").noconvert(),
        nb::arg("total").noconvert(), nb::arg("squares").noconvert(), nb::arg("threads"));
}

} // namespace rankwright
