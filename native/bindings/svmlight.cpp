#include "core/svmlight.hpp"

#include "bindings/arrays.hpp"
#include "core/svmlight_format.hpp"

namespace rankwright {

namespace {

template <typename T> using InMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const char> text_view(const In<std::uint8_t> &bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.shape(0)};
}

void split_lines_of(In<std::uint8_t> block, Out<std::int64_t> starts, Out<std::int64_t> counts) {
    nb::gil_scoped_release released;
    split_lines(text_view(block), fill(starts), counts.data()[0], counts.data()[1]);
}

void parse_svmlight_of(In<std::uint8_t> block, In<std::int64_t> starts, std::int64_t index_base, float absent,
                       bool allow_infinity, OutMatrix<float> features, Out<float> labels, Out<std::int64_t> query_spans,
                       Out<std::uint8_t> starts_query, Out<std::int64_t> document_spans, Out<std::int64_t> report,
                       int threads) {
    nb::gil_scoped_release released;
    const SvmlightRows rows{{features.data(), features.size()},
                            static_cast<std::int64_t>(features.shape(1)),
                            fill(labels),
                            fill(query_spans),
                            fill(starts_query),
                            fill(document_spans)};
    const SvmlightReport found =
        parse_svmlight(text_view(block), view(starts), {index_base, absent, allow_infinity}, rows, threads);
    const std::int64_t entries[] = {static_cast<std::int64_t>(found.problem),
                                    found.row,
                                    found.begin,
                                    found.end,
                                    found.widest_index,
                                    found.widest_row};
    std::copy(std::begin(entries), std::end(entries), report.data());
}

void format_svmlight_of(InMatrix<float> features, In<float> labels, In<std::int64_t> query_of_row,
                        In<std::uint8_t> query_text, In<std::int64_t> query_offsets, In<std::uint8_t> document_text,
                        In<std::int64_t> document_offsets, std::int64_t index_base, std::int64_t omit, bool mark_width,
                        OutMatrix<std::uint8_t> text, Out<std::int64_t> length, int threads) {
    nb::gil_scoped_release released;
    const SvmlightTable table{{features.data(), features.size()},
                              static_cast<std::int64_t>(features.shape(1)),
                              view(labels),
                              view(query_of_row),
                              {text_view(query_text), view(query_offsets)},
                              {text_view(document_text), view(document_offsets)}};
    format_svmlight(table, {index_base, static_cast<Omit>(omit), mark_width},
                    {reinterpret_cast<char *>(text.data()), text.size()}, static_cast<std::int64_t>(text.shape(1)),
                    length.data()[0], threads);
}

} // namespace

void bind_svmlight(nb::module_ &module) {
    module.def("split_lines", split_lines_of, nb::arg("block").noconvert(), nb::arg("starts").noconvert(),
               nb::arg("counts").noconvert());
    module.def("parse_svmlight", parse_svmlight_of, nb::arg("block").noconvert(), nb::arg("starts").noconvert(),
               nb::arg("index_base"), nb::arg("absent"), nb::arg("allow_infinity"), nb::arg("features").noconvert(),
               nb::arg("labels").noconvert(), nb::arg("query_spans").noconvert(), nb::arg("starts_query").noconvert(),
               nb::arg("document_spans").noconvert(), nb::arg("report").noconvert(), nb::arg("threads"));
    module.def("format_svmlight", format_svmlight_of, nb::arg("features").noconvert(), nb::arg("labels").noconvert(),
               nb::arg("query_of_row").noconvert(), nb::arg("query_text").noconvert(),
               nb::arg("query_offsets").noconvert(), nb::arg("document_text").noconvert(),
               nb::arg("document_offsets").noconvert(), nb::arg("index_base"), nb::arg("omit"), nb::arg("mark_width"),
               nb::arg("text").noconvert(), nb::arg("length").noconvert(), nb::arg("threads"));
}

} // namespace rankwright
