// Rows as SVMlight/LETOR text that reads back to the same bits.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Texts one after the other: text i is bytes offsets[i] to offsets[i + 1].
struct Texts {
    std::span<const char> bytes;
    std::span<const std::int64_t> offsets;
};

// Values that a line leaves out because the reader puts them back. The numbers are part of the kernel's interface.
enum class Omit : std::int64_t { nothing = 0, zero = 1, missing = 2 };

struct SvmlightTable {
    std::span<const float> features; // row-major
    std::int64_t n_columns;
    std::span<const float> labels;
    std::span<const std::int64_t> query_of_row; // a place among the query ids
    Texts query_ids;
    Texts document_ids; // one per row; an empty one is not written
};

struct SvmlightStyle {
    std::int64_t index_base; // 0 or 1: the index of the first column
    Omit omit;
    bool mark_width; // whether the first row names its last column even where it could be left out
};

// Formats every row and sets `length` to the bytes of all lines, which fill the beginning of `text` without gaps. On
// the way, row r is written from byte r · row_capacity on; throws std::length_error where a row may need more bytes.
void format_svmlight(const SvmlightTable &table, SvmlightStyle style, std::span<char> text, std::int64_t row_capacity,
                     std::int64_t &length, int threads);

} // namespace rankwright
