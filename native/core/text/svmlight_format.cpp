#include "core/text/svmlight_format.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/parallel.hpp"
#include "core/text/decimal.hpp"

namespace rankwright {

namespace {

using namespace std::literals;

constexpr std::size_t rows_at_a_time = 32;
constexpr std::int64_t line_overhead = 2 * longest_number + 16; // label, " qid:", " #docid = ", newline

char *append(char *at, std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
}

std::string_view text_of(const Texts &texts, std::int64_t i) {
    return {texts.bytes.data() + texts.offsets[i], static_cast<std::size_t>(texts.offsets[i + 1] - texts.offsets[i])};
}

bool is_omitted(float value, Omit omit) {
    if (omit == Omit::zero) return value == 0.0f && !std::signbit(value);
    return omit == Omit::missing && std::isnan(value);
}

// Formats rows of one table; holds the "index:" text of each column.
class RowFormatter {
  public:
    RowFormatter(const SvmlightTable &table, SvmlightStyle style) : table_(table), style_(style) {
        for (std::int64_t column = 0; column < table.n_columns; ++column) {
            index_texts_.push_back(std::to_string(column + style.index_base) + ':');
            longest_features_ += 1 + static_cast<std::int64_t>(index_texts_.back().size()) + longest_number;
        }
    }

    std::int64_t longest_line(std::int64_t row) const {
        return line_overhead + longest_features_ +
               static_cast<std::int64_t>(query_id(row).size() + document_id(row).size());
    }

    char *format(std::int64_t row, char *at) const {
        at = append_number(at, table_.labels[row]);
        at = append(append(at, " qid:"sv), query_id(row));
        const float *const values = table_.features.data() + row * table_.n_columns;
        const std::int64_t always = style_.mark_width && row == 0 ? table_.n_columns - 1 : -1;
        for (std::int64_t column = 0; column < table_.n_columns; ++column) {
            if (is_omitted(values[column], style_.omit) && column != always) continue;
            *at++ = ' ';
            at = append_number(append(at, index_texts_[column]), values[column]);
        }
        if (const auto id = document_id(row); !id.empty()) at = append(append(at, " #docid = "sv), id);
        *at++ = '\n';
        return at;
    }

  private:
    std::string_view query_id(std::int64_t row) const { return text_of(table_.query_ids, table_.query_of_row[row]); }
    std::string_view document_id(std::int64_t row) const { return text_of(table_.document_ids, row); }

    const SvmlightTable &table_;
    SvmlightStyle style_;
    std::vector<std::string> index_texts_;
    std::int64_t longest_features_ = 0;
};

} // namespace

void format_svmlight(const SvmlightTable &table, SvmlightStyle style, std::span<char> text, std::int64_t row_capacity,
                     std::int64_t &length, int threads) {
    const RowFormatter formatter(table, style);
    const std::size_t n_rows = table.labels.size();
    std::vector<std::int64_t> lengths(n_rows);
    parallel_for(n_rows, threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (auto row = static_cast<std::int64_t>(first); row < static_cast<std::int64_t>(last); ++row) {
            if (formatter.longest_line(row) > row_capacity) throw std::length_error("a row needs more bytes");
            char *const begin = text.data() + row * row_capacity;
            lengths[row] = formatter.format(row, begin) - begin;
        }
    });
    length = 0;
    for (std::size_t row = 0; row < n_rows; ++row) {
        std::memmove(text.data() + length, text.data() + row * row_capacity, lengths[row]);
        length += lengths[row];
    }
}

} // namespace rankwright
