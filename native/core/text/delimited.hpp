// CSV and TSV text: where its lines end, what its cells hold, and how numbers become cells.
//
// A cell may stand in double quotes, inside which delimiters and line ends are plain text and "" is one quote.
// Blanks around a cell do not count.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// What can be wrong with a cell. The numbers are part of the kernel's interface: kernels/shared_codes.py has their
// twins.
enum class CellProblem : std::int64_t {
    none = 0,
    wrong_count = 1, // the row has `column` cells, not one per target
    no_number = 2,
    bad_quote = 3, // one that does not close, or closes before the cell's end
};

// Fills `ends` with the place of each line's end ('\n'), those inside quotes left out; entries left over keep what
// they held. The text must begin at a line's start.
void line_ends(std::span<const std::uint8_t> text, int delimiter, std::span<std::int64_t> ends);

// Reads rows [starts[r], ends[r]) of cells. targets[c] says what becomes of column c:
//   n >= 0   a number, stored at numbers[r * n_numbers + n]: float32, NaN for an empty cell, NA, NaN or NULL
//   -1       skipped
//   n <= -2  text, whose place (first, length) is stored at spans[(r * n_texts + (-2 - n)) * 2]; the length is
//            negative where a quote in it is doubled
// problem = (row, column, CellProblem) of the first wrong cell, row -1 where there is none.
void parse_cells(std::span<const std::uint8_t> text, std::span<const std::int64_t> starts,
                 std::span<const std::int64_t> ends, int delimiter, std::span<const std::int64_t> targets,
                 std::span<float> numbers, std::span<std::int64_t> spans, std::span<std::int64_t> problem, int threads);

// Writes each row of `n_columns` numbers as cells with the delimiter in front of each: the fewest digits that give
// the number back, nothing for NaN. Row r starts at text[r * (text.size() / lengths.size())] and has lengths[r]
// characters; a cell needs `longest_number` of them and one.
void format_cells(std::span<const float> numbers, std::int64_t n_columns, int delimiter, std::span<std::uint8_t> text,
                  std::span<std::int64_t> lengths, int threads);

} // namespace rankwright
