#include "core/text/delimited.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <string_view>

#include "core/common/parallel.hpp"
#include "core/text/decimal.hpp"

namespace rankwright {

namespace {

struct Cell {
    const char *begin;
    const char *end;
    bool doubled_quote = false;
    bool closed = true;
};

bool is_blank(char letter, char delimiter) { return letter == ' ' || (letter == '\t' && delimiter != '\t'); }

const char *skip_blanks(const char *at, const char *end, char delimiter) {
    while (at != end && is_blank(*at, delimiter)) ++at;
    return at;
}

// The cell that starts at `at`, which moves to the delimiter behind it or to the end.
Cell next_cell(const char *&at, const char *end, char delimiter) {
    at = skip_blanks(at, end, delimiter);
    if (at == end || *at != '"') {
        Cell cell{at, at};
        while (at != end && *at != delimiter) ++at;
        cell.end = at;
        while (cell.end != cell.begin && is_blank(cell.end[-1], delimiter)) --cell.end;
        return cell;
    }
    Cell cell{++at, at};
    for (;; ++at) {
        if (at == end) return {cell.begin, end, cell.doubled_quote, false};
        if (*at != '"') continue;
        if (at + 1 == end || at[1] != '"') break;
        cell.doubled_quote = true;
        ++at;
    }
    cell.end = at;
    at = skip_blanks(at + 1, end, delimiter);
    cell.closed = at == end || *at == delimiter;
    return cell;
}

bool is_word(std::string_view text, std::string_view lower_case) {
    return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                      [](char letter, char wanted) { return (letter | 0x20) == wanted; });
}

bool parse_cell(const Cell &cell, float &value) {
    if (parse_number(cell.begin, cell.end, value) != Number::malformed) return true;
    const std::string_view text(cell.begin, static_cast<std::size_t>(cell.end - cell.begin));
    if (text.empty() || is_word(text, "na")) {
        value = std::numeric_limits<float>::quiet_NaN();
        return true;
    }
    const bool yes = is_word(text, "true");
    value = yes ? 1.0f : 0.0f;
    return yes || is_word(text, "false");
}

// What all rows share, and where each of them goes.
struct Table {
    const char *text;
    char delimiter;
    std::span<const std::int64_t> targets;
    std::int64_t n_numbers;
    std::int64_t n_texts;
    std::span<float> numbers;
    std::span<std::int64_t> spans;
};

struct Problem {
    std::int64_t row;
    std::int64_t column;
    CellProblem kind;
};

bool store(const Table &table, const Cell &cell, std::int64_t row, std::int64_t target) {
    if (target >= 0) {
        float &value = table.numbers[row * table.n_numbers + target];
        // The short way reads sixteen bytes back from the cell's end.
        const bool short_way = cell.begin != cell.end && cell.end - table.text >= 16;
        return (short_way && parse_short_decimal(cell.begin, cell.end, value)) || parse_cell(cell, value);
    }
    if (target <= -2) {
        const auto place = (row * table.n_texts + (-2 - target)) * 2;
        const auto length = cell.end - cell.begin;
        table.spans[place] = cell.begin - table.text;
        table.spans[place + 1] = cell.doubled_quote ? -length : length;
    }
    return true;
}

// Returns what is wrong with the row, if anything is.
Problem parse_row(const Table &table, const char *at, const char *end, std::int64_t row) {
    const auto n_columns = static_cast<std::int64_t>(table.targets.size());
    std::int64_t column = 0;
    for (;; ++column, ++at) {
        const Cell cell = next_cell(at, end, table.delimiter);
        if (!cell.closed) return {row, column, CellProblem::bad_quote};
        if (column < n_columns && !store(table, cell, row, table.targets[column]))
            return {row, column, CellProblem::no_number};
        if (at == end) break;
    }
    if (column + 1 != n_columns) return {row, column + 1, CellProblem::wrong_count};
    return {row, 0, CellProblem::none};
}

} // namespace

void line_ends(std::span<const std::uint8_t> text, int delimiter, std::span<std::int64_t> ends) {
    if (text.empty() || ends.empty()) return;
    const auto *begin = reinterpret_cast<const char *>(text.data());
    const char *end = begin + text.size();
    std::size_t found = 0;
    if (std::memchr(begin, '"', text.size()) == nullptr) {
        for (const char *at = begin; found < ends.size(); ++at) {
            at = static_cast<const char *>(std::memchr(at, '\n', end - at));
            if (at == nullptr) return;
            ends[found++] = at - begin;
        }
        return;
    }
    // A quote opens only where a cell starts, or right behind the one that closed: then the two are one plain quote.
    bool quoted = false, cell_starts = true;
    const char *reopens = nullptr;
    for (const char *at = begin; at != end && found < ends.size(); ++at) {
        if (quoted) {
            quoted = *at != '"';
            if (!quoted) reopens = at + 1;
            continue;
        }
        quoted = *at == '"' && (cell_starts || at == reopens);
        if (*at == '\n') ends[found++] = at - begin;
        cell_starts = *at == delimiter || *at == '\n' || (cell_starts && is_blank(*at, static_cast<char>(delimiter)));
    }
}

void parse_cells(std::span<const std::uint8_t> text, std::span<const std::int64_t> starts,
                 std::span<const std::int64_t> ends, int delimiter, std::span<const std::int64_t> targets,
                 std::span<float> numbers, std::span<std::int64_t> spans, std::span<std::int64_t> problem,
                 int threads) {
    constexpr std::size_t rows_at_a_time = 256;
    const Table table{reinterpret_cast<const char *>(text.data()),
                      static_cast<char>(delimiter),
                      targets,
                      std::count_if(targets.begin(), targets.end(), [](auto target) { return target >= 0; }),
                      std::count_if(targets.begin(), targets.end(), [](auto target) { return target <= -2; }),
                      numbers,
                      spans};
    Problem first{-1, 0, CellProblem::none};
    std::mutex guard;
    parallel_for(starts.size(), threads, rows_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            const Problem found =
                parse_row(table, table.text + starts[row], table.text + ends[row], static_cast<std::int64_t>(row));
            if (found.kind == CellProblem::none) continue;
            std::scoped_lock lock(guard);
            if (first.row < 0 || found.row < first.row) first = found;
            return;
        }
    });
    problem[0] = first.row;
    problem[1] = first.column;
    problem[2] = static_cast<std::int64_t>(first.kind);
}

void format_cells(std::span<const float> numbers, std::int64_t n_columns, int delimiter, std::span<std::uint8_t> text,
                  std::span<std::int64_t> lengths, int threads) {
    constexpr std::size_t rows_at_a_time = 64;
    const std::size_t n_rows = lengths.size();
    const std::size_t room = n_rows == 0 ? 0 : text.size() / n_rows;
    parallel_for(n_rows, threads, rows_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            auto *const start = reinterpret_cast<char *>(text.data()) + row * room;
            char *at = start;
            for (const float number : numbers.subspan(row * n_columns, n_columns)) {
                *at++ = static_cast<char>(delimiter);
                if (!std::isnan(number)) at = append_number(at, number);
            }
            lengths[row] = at - start;
        }
    });
}

} // namespace rankwright
