#include "core/delimited.hpp"

#include "bindings/arrays.hpp"

namespace rankwright {

void bind_delimited(nb::module_ &module) {
    module.def(
        "line_ends",
        [](In<std::uint8_t> text, int delimiter, Out<std::int64_t> ends) {
            nb::gil_scoped_release released;
            line_ends(view(text), delimiter, fill(ends));
        },
        nb::arg("text").noconvert(), nb::arg("delimiter"), nb::arg("ends").noconvert());
    module.def(
        "parse_cells",
        [](In<std::uint8_t> text, In<std::int64_t> starts, In<std::int64_t> ends, int delimiter,
           In<std::int64_t> targets, Out<float> numbers, Out<std::int64_t> spans, Out<std::int64_t> problem,
           int threads) {
            nb::gil_scoped_release released;
            parse_cells(view(text), view(starts), view(ends), delimiter, view(targets), fill(numbers), fill(spans),
                        fill(problem), threads);
        },
        nb::arg("text").noconvert(), nb::arg("starts").noconvert(), nb::arg("ends").noconvert(), nb::arg("delimiter"),
        nb::arg("targets").noconvert(), nb::arg("numbers").noconvert(), nb::arg("spans").noconvert(),
        nb::arg("problem").noconvert(), nb::arg("threads"));
    module.def(
        "format_cells",
        [](In<float> numbers, std::int64_t n_columns, int delimiter, Out<std::uint8_t> text, Out<std::int64_t> lengths,
           int threads) {
            nb::gil_scoped_release released;
            format_cells(view(numbers), n_columns, delimiter, fill(text), fill(lengths), threads);
        },
        nb::arg("numbers").noconvert(), nb::arg("n_columns"), nb::arg("delimiter"), nb::arg("text").noconvert(),
        nb::arg("lengths").noconvert(), nb::arg("threads"));
}

} // namespace rankwright
