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
}

} // namespace rankwright
