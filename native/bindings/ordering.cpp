#include "core/ordering.hpp"

#include "bindings/arrays.hpp"

namespace rankwright {

void bind_ordering(nb::module_ &module) {
    module.def(
        "rank_rows",
        [](In<double> scores, In<std::int64_t> offsets, Out<std::int64_t> rows, int threads) {
            nb::gil_scoped_release released;
            rank_rows(view(scores), view(offsets), fill(rows), threads);
        },
        nb::arg("scores").noconvert(), nb::arg("offsets").noconvert(), nb::arg("rows").noconvert(), nb::arg("threads"));
    module.def(
        "mark_ties",
        [](In<double> scores, In<std::int64_t> offsets, In<std::int64_t> rows, Out<bool> tied, int threads) {
            nb::gil_scoped_release released;
            mark_ties(view(scores), view(offsets), view(rows), fill(tied), threads);
        },
        nb::arg("scores").noconvert(), nb::arg("offsets").noconvert(), nb::arg("rows").noconvert(),
        nb::arg("tied").noconvert(), nb::arg("threads"));
    module.def(
        "order_ties",
        [](In<double> keys, In<bool> tied, Out<std::int64_t> rows, int threads) {
            nb::gil_scoped_release released;
            order_ties(view(keys), view(tied), fill(rows), threads);
        },
        nb::arg("keys").noconvert(), nb::arg("tied").noconvert(), nb::arg("rows").noconvert(), nb::arg("threads"));
}

} // namespace rankwright
