// SVMlight/LETOR text: `label qid:ID index:value … # comment`, one line per document.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// What can be wrong with a line. The numbers are part of the kernel's interface: kernels/shared_codes.py has their
// twins.
enum class SvmlightProblem : std::int64_t {
    none = 0,
    label_not_a_number = 1,
    label_out_of_range = 2,
    query_id_empty = 3,
    pair_without_colon = 4,
    index_not_a_number = 5,
    index_too_large = 6,
    index_below_base = 7,
    value_not_a_number = 8,
    value_infinite = 9,
    index_repeated = 10,
};

// Feature indices above this are refused while reading, whatever the matrix could hold.
inline constexpr std::int64_t largest_feature_index = 2'147'483'647;

struct SvmlightRules {
    std::int64_t index_base; // 0 or 1: the index of the first column
    float absent;            // the value of a feature that a line does not name
    bool allow_infinity;
};

// Where features go that have no columns: those of row r from room[r] on, of which there are at most as many as fit
// before room[r + 1], in ascending order of columns; counts[r] is how many there are.
struct SvmlightPairs {
    std::span<const std::int64_t> room;
    std::span<std::int32_t> columns;
    std::span<float> values;
    std::span<std::int64_t> counts;
};

// The arrays to fill, with one entry per row. A span is two places in the block, begin and end; both are 0 where there
// is nothing.
struct SvmlightRows {
    std::span<float> features; // row-major
    std::int64_t n_columns;
    std::span<float> labels;
    std::span<std::int64_t> query_spans;
    std::span<std::uint8_t> starts_query; // whether the query id differs from the row before in this block
    std::span<std::int64_t> document_spans;
    SvmlightPairs pairs = {}; // filled where it has room, in place of features
};

// The first line that is wrong, where in the block the mistake is, and the largest index of all rows.
struct SvmlightReport {
    SvmlightProblem problem = SvmlightProblem::none;
    std::int64_t row = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t widest_index = 0; // one less than the index base where no row has a feature
    std::int64_t widest_row = 0;
};

// Finds the lines that hold a document, which are neither blank nor only a comment. Sets `starts` to where each one's
// first word begins, n_rows to how many there are, and n_newlines to the newlines of the block. `starts` needs one
// place more than the block has pairs of bytes.
void split_lines(std::span<const char> block, std::span<std::int64_t> starts, std::int64_t &n_rows,
                 std::int64_t &n_newlines);

// Parses the lines that begin at `starts`. An index beyond the columns is counted in the report and its value dropped:
// the caller widens the matrix and parses the block again. Where there is a problem the rows' content is unspecified.
SvmlightReport parse_svmlight(std::span<const char> block, std::span<const std::int64_t> starts, SvmlightRules rules,
                              SvmlightRows rows, int threads);

} // namespace rankwright
