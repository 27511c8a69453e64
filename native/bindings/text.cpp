#include <algorithm>

#include "bindings/define.hpp"
#include "bindings/require.hpp"
#include "core/text/delimited.hpp"
#include "core/text/json_features.hpp"
#include "core/text/svmlight.hpp"
#include "core/text/svmlight_format.hpp"

namespace rankwright {

namespace {

std::span<const char> text_view(const In<std::uint8_t> &bytes) {
    return {reinterpret_cast<const char *>(bytes.data()), bytes.shape(0)};
}

void split_lines_of(In<std::uint8_t> block, Out<std::int64_t> starts, Out<std::int64_t> counts) {
    require(starts.size() > block.size() / 2, "starts must have room for every line of two bytes");
    require_size("counts", counts.size(), 2);
    split_lines(text_view(block), fill(starts), counts.data()[0], counts.data()[1]);
}

void write_report(const SvmlightReport &found, Out<std::int64_t> report) {
    const std::int64_t entries[] = {static_cast<std::int64_t>(found.problem),
                                    found.row,
                                    found.begin,
                                    found.end,
                                    found.widest_index,
                                    found.widest_row};
    std::copy(std::begin(entries), std::end(entries), report.data());
}

void parse_sparse_svmlight_of(In<std::uint8_t> block, In<std::int64_t> starts, std::int64_t index_base,
                              bool allow_infinity, In<std::int64_t> room, Out<std::int32_t> columns, Out<float> values,
                              Out<std::int64_t> counts, Out<float> labels, Out<std::int64_t> query_spans,
                              Out<std::uint8_t> starts_query, Out<std::int64_t> document_spans,
                              Out<std::int64_t> report, int threads) {
    const std::size_t n_rows = starts.size();
    require_below("starts", view(starts), block.size());
    require_size("room", room.size(), n_rows + 1);
    for (const std::size_t size : {columns.size(), values.size()}) require_offsets("room", view(room), size);
    for (std::size_t row = 0; row < n_rows; ++row) {
        const auto begin = static_cast<std::size_t>(view(starts)[row]);
        const std::size_t end = row + 1 < n_rows ? static_cast<std::size_t>(view(starts)[row + 1]) : block.size();
        const auto *text = block.data();
        require(view(room)[row + 1] - view(room)[row] >= std::count(text + begin, text + end, std::uint8_t{':'}),
                "room must be as many places as a line has colons");
    }
    for (const std::size_t size : {labels.size(), starts_query.size(), counts.size()})
        require_size("rows", size, n_rows);
    for (const std::size_t size : {query_spans.size(), document_spans.size()}) require_size("spans", size, 2 * n_rows);
    require_size("report", report.size(), 6);
    const SvmlightRows rows{{},
                            0,
                            fill(labels),
                            fill(query_spans),
                            fill(starts_query),
                            fill(document_spans),
                            {view(room), fill(columns), fill(values), fill(counts)}};
    write_report(parse_svmlight(text_view(block), view(starts), {index_base, 0.0f, allow_infinity}, rows, threads),
                 report);
}

void parse_svmlight_of(In<std::uint8_t> block, In<std::int64_t> starts, std::int64_t index_base, float absent,
                       bool allow_infinity, OutMatrix<float> features, Out<float> labels, Out<std::int64_t> query_spans,
                       Out<std::uint8_t> starts_query, Out<std::int64_t> document_spans, Out<std::int64_t> report,
                       int threads) {
    const std::size_t n_rows = starts.size();
    require_below("starts", view(starts), block.size());
    require_size("features", features.shape(0), n_rows);
    for (const std::size_t size : {labels.size(), starts_query.size()}) require_size("rows", size, n_rows);
    for (const std::size_t size : {query_spans.size(), document_spans.size()}) require_size("spans", size, 2 * n_rows);
    require_size("report", report.size(), 6);
    const SvmlightRows rows{fill(features),
                            static_cast<std::int64_t>(features.shape(1)),
                            fill(labels),
                            fill(query_spans),
                            fill(starts_query),
                            fill(document_spans),
                            {}};
    write_report(parse_svmlight(text_view(block), view(starts), {index_base, absent, allow_infinity}, rows, threads),
                 report);
}

void format_svmlight_of(InMatrix<float> features, In<float> labels, In<std::int64_t> query_of_row,
                        In<std::uint8_t> query_text, In<std::int64_t> query_offsets, In<std::uint8_t> document_text,
                        In<std::int64_t> document_offsets, std::int64_t index_base, std::int64_t omit, bool mark_width,
                        OutMatrix<std::uint8_t> text, Out<std::int64_t> length, int threads) {
    require_size("length", length.size(), 1);
    const SvmlightTable table{view(features),
                              static_cast<std::int64_t>(features.shape(1)),
                              view(labels),
                              view(query_of_row),
                              {text_view(query_text), view(query_offsets)},
                              {text_view(document_text), view(document_offsets)}};
    format_svmlight(table, {index_base, static_cast<Omit>(omit), mark_width},
                    {reinterpret_cast<char *>(text.data()), text.size()}, static_cast<std::int64_t>(text.shape(1)),
                    length.data()[0], threads);
}

void parse_json_features_of(In<std::uint8_t> text, In<std::uint8_t> names, In<std::int64_t> name_offsets,
                            In<std::int64_t> sorted_names, OutMatrix<float> features, Out<std::int64_t> report) {
    const std::size_t n_features = sorted_names.size();
    require_size("name_offsets", name_offsets.size(), n_features + 1);
    require_offsets("name_offsets", view(name_offsets), names.size());
    require(std::is_sorted(name_offsets.data(), name_offsets.data() + name_offsets.size()),
            "name_offsets must not decrease");
    require_below("sorted_names", view(sorted_names), n_features);
    require_size("columns of features", features.shape(1), n_features);
    require_size("report", report.size(), 9);
    const JsonReport found = parse_json_features(
        text_view(text), {text_view(names), view(name_offsets), view(sorted_names)}, fill(features));
    const std::int64_t entries[] = {static_cast<std::int64_t>(found.problem),
                                    static_cast<std::int64_t>(found.shape),
                                    found.n_rows,
                                    found.value_begin,
                                    found.value_end,
                                    found.row,
                                    found.column,
                                    found.begin,
                                    found.end};
    std::copy(std::begin(entries), std::end(entries), report.data());
}

} // namespace

void bind_text(nb::module_ &module) {
    define(module, "split_lines", {"block", "starts", "counts"}, split_lines_of);
    define(module, "parse_svmlight",
           {"block", "starts", "index_base", "absent", "allow_infinity", "features", "labels", "query_spans",
            "starts_query", "document_spans", "report", "threads"},
           parse_svmlight_of);
    define(module, "parse_sparse_svmlight",
           {"block", "starts", "index_base", "allow_infinity", "room", "columns", "values", "counts", "labels",
            "query_spans", "starts_query", "document_spans", "report", "threads"},
           parse_sparse_svmlight_of);
    define(module, "format_svmlight",
           {"features", "labels", "query_of_row", "query_text", "query_offsets", "document_text", "document_offsets",
            "index_base", "omit", "mark_width", "text", "length", "threads"},
           format_svmlight_of);
    define(module, "parse_json_features", {"text", "names", "name_offsets", "sorted_names", "features", "report"},
           parse_json_features_of);
    define(module, "line_ends", {"text", "delimiter", "ends"},
           [](In<std::uint8_t> text, int delimiter, Out<std::int64_t> ends) {
               line_ends(view(text), delimiter, fill(ends));
           });
    define(module, "parse_cells",
           {"text", "starts", "ends", "delimiter", "targets", "numbers", "spans", "problem", "threads"},
           [](In<std::uint8_t> text, In<std::int64_t> starts, In<std::int64_t> ends, int delimiter,
              In<std::int64_t> targets, Out<float> numbers, Out<std::int64_t> spans, Out<std::int64_t> problem,
              int threads) {
               std::int64_t n_numbers = 0, n_texts = 0;
               for (const std::int64_t target : view(targets)) {
                   n_numbers = std::max(n_numbers, target + 1);
                   n_texts = std::max(n_texts, -1 - target);
               }
               require_size("ends", ends.size(), starts.size());
               for (std::size_t row = 0; row < starts.size(); ++row)
                   require(0 <= view(starts)[row] && view(starts)[row] <= view(ends)[row] &&
                               view(ends)[row] <= static_cast<std::int64_t>(text.size()),
                           "rows must lie within the text");
               require_size("numbers", numbers.size(), starts.size() * static_cast<std::size_t>(n_numbers));
               require_size("spans", spans.size(), 2 * starts.size() * static_cast<std::size_t>(n_texts));
               require_size("problem", problem.size(), 3);
               parse_cells(view(text), view(starts), view(ends), delimiter, view(targets), fill(numbers), fill(spans),
                           fill(problem), threads);
           });
    define(module, "format_cells", {"numbers", "n_columns", "delimiter", "text", "lengths", "threads"},
           [](In<float> numbers, std::int64_t n_columns, int delimiter, Out<std::uint8_t> text,
              Out<std::int64_t> lengths,
              int threads) { format_cells(view(numbers), n_columns, delimiter, fill(text), fill(lengths), threads); });
}

} // namespace rankwright
