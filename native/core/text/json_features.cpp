#include "core/text/json_features.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/decimal.hpp"

namespace rankwright {

namespace {

bool is_blank(char letter) { return letter == ' ' || letter == '\n' || letter == '\r' || letter == '\t'; }
bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool ends_token(char letter) {
    return letter == ',' || static_cast<unsigned char>(letter) <= ' ' || letter == ']' || letter == '}';
}

const char *skip_digits(const char *at, const char *end) {
    while (at != end && is_digit(*at)) ++at;
    return at;
}

// Whether the text is a number by JSON's grammar, which has no plus in front, no zero in front of others, and digits on
// both sides of a point.
bool is_json_number(const char *at, const char *end) {
    if (at != end && *at == '-') ++at;
    const char *digits = at;
    at = skip_digits(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1)) return false;
    if (at != end && *at == '.') {
        digits = ++at;
        at = skip_digits(at, end);
        if (at == digits) return false;
    }
    if (at != end && (*at | 0x20) == 'e') {
        ++at;
        if (at != end && (*at == '+' || *at == '-')) ++at;
        digits = at;
        at = skip_digits(at, end);
        if (at == digits) return false;
    }
    return at == end;
}

// The end of the token that starts at `at`: what follows is a comma, a bracket or a blank.
const char *token_end(const char *at, const char *end) {
#if defined(__SSE4_1__)
    while (end - at >= 16) {
        const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i *>(at));
        const __m128i commas = _mm_cmpeq_epi8(text, _mm_set1_epi8(','));
        const __m128i brackets = _mm_cmpeq_epi8(_mm_or_si128(text, _mm_set1_epi8(0x20)), _mm_set1_epi8('}'));
        const __m128i blanks = _mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(' ')), text);
        const int found = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(commas, brackets), blanks));
        if (found != 0) return at + std::countr_zero(static_cast<std::uint32_t>(found));
        at += 16;
    }
#endif
    while (at != end && !ends_token(*at)) ++at;
    return at;
}

// Reads one member after the other; every method returns false once `report` names a problem.
class Reader {
  public:
    Reader(std::span<const char> text, const JsonNames &names, std::span<float> features)
        : begin_(text.data()), at_(begin_), end_(begin_ + text.size()), names_(names),
          n_features_(static_cast<std::int64_t>(names.sorted.size())), features_(features),
          room_(static_cast<std::int64_t>(features.size()) / std::max<std::int64_t>(n_features_, 1)),
          guessed_(names.sorted.size(), -1), row_of_feature_(names.sorted.size(), -1) {}

    // Looks for the first member that has features, and reads it.
    void read_object() {
        if (!take('{')) return;
        if (peeks('}')) return;
        do {
            std::string_view name;
            if (!take_name(name) || !take(':')) return;
            skip_blanks();
            report.value_begin = at_ - begin_;
            if (name == "rows") return finish(JsonShape::rows, read_rows());
            if (name == "columns") return finish(JsonShape::columns, read_columns());
            if (name == "documents") return finish(JsonShape::documents, read_documents());
            if (!skip_value()) return;
        } while (takes(','));
        report.value_begin = 0;
    }

    JsonReport report;

  private:
    void finish(JsonShape shape, bool is_good) {
        report.shape = shape;
        report.value_end = is_good ? at_ - begin_ : report.value_begin;
    }

    bool fail(JsonProblem problem, std::int64_t row = 0, std::int64_t column = 0) {
        return fail_at(problem, at_, at_, row, column);
    }

    bool fail_at(JsonProblem problem, const char *from, const char *to, std::int64_t row = 0, std::int64_t column = 0) {
        report.problem = problem;
        report.row = row;
        report.column = column;
        report.begin = from - begin_;
        report.end = to - begin_;
        return false;
    }

    void skip_blanks() {
        while (at_ != end_ && is_blank(*at_)) ++at_;
    }

    bool peeks(char letter) {
        skip_blanks();
        return at_ != end_ && *at_ == letter;
    }

    bool takes(char letter) {
        if (!peeks(letter)) return false;
        ++at_;
        return true;
    }

    bool take(char letter) { return takes(letter) || fail(JsonProblem::not_json); }

    // A name in quotes, as it stands there; `escaped_` says whether it has an escape.
    bool take_name(std::string_view &name) {
        if (!take('"')) return false;
        const char *first = at_;
        escaped_ = false;
        while (at_ != end_ && *at_ != '"') {
            if (static_cast<unsigned char>(*at_) < ' ') return fail(JsonProblem::not_json);
            if (*at_ == '\\') {
                escaped_ = true;
                if (++at_ == end_) break;
            }
            ++at_;
        }
        if (at_ == end_) return fail(JsonProblem::not_json);
        name = {first, static_cast<std::size_t>(at_ - first)};
        ++at_;
        return true;
    }

    // Moves behind any value, without looking at it more closely than is needed to find its end.
    bool skip_value() {
        std::int64_t depth = 0;
        std::string_view ignored;
        do {
            skip_blanks();
            if (at_ == end_) return fail(JsonProblem::not_json);
            if (*at_ == '"') {
                if (!take_name(ignored)) return false;
            } else if (*at_ == '[' || *at_ == '{') {
                ++depth;
                ++at_;
            } else if (*at_ == ']' || *at_ == '}') {
                if (--depth < 0) return fail(JsonProblem::not_json);
                ++at_;
            } else if (*at_ == ',' || *at_ == ':') {
                if (depth == 0) return fail(JsonProblem::not_json);
                ++at_;
            } else {
                const char *const from = at_;
                while (at_ != end_ && !ends_token(*at_) && *at_ != ':' && *at_ != '"' && *at_ != '[' && *at_ != '{')
                    ++at_;
                if (at_ == from) return fail(JsonProblem::not_json);
            }
        } while (depth > 0);
        return true;
    }

    bool read_number(std::int64_t row, std::int64_t column, float &value) {
        skip_blanks();
        const char *const from = at_, *const to = token_end(at_, end_);
        at_ = to;
        const char *first = from;
        if (first != to && *first == '-') ++first;
        if (first == to || !is_digit(*first)) {
            if (std::string_view(from, static_cast<std::size_t>(to - from)) != "null")
                return fail_at(JsonProblem::not_a_number, from, to, row, column);
            value = std::numeric_limits<float>::quiet_NaN();
            return true;
        }
        const bool zero_in_front = *first == '0' && to - first > 1 && is_digit(first[1]);
        // The short way reads sixteen bytes back from the number's end, and knows no exponents.
        if (!zero_in_front && is_digit(to[-1]) && to - begin_ >= 16 && parse_short_decimal(from, to, value))
            return true;
        if (!is_json_number(from, to)) return fail_at(JsonProblem::not_a_number, from, to, row, column);
        if (parse_number(from, to, value) == Number::infinite)
            return fail_at(JsonProblem::number_too_large, from, to, row, column);
        return true;
    }

    float &place_of(std::int64_t row, std::int64_t column) { return features_[row * n_features_ + column]; }

    bool read_rows() {
        if (!take('[')) return false;
        if (takes(']')) return true;
        do {
            const std::int64_t row = report.n_rows;
            if (row == room_) return fail(JsonProblem::too_many_rows, row);
            if (!take('[') || !read_row(row)) return false;
            ++report.n_rows;
        } while (takes(','));
        return take(']');
    }

    bool read_row(std::int64_t row) {
        std::int64_t column = 0;
        if (!peeks(']')) {
            do {
                if (column == n_features_) return fail(JsonProblem::wrong_width, row, column + 1);
                if (!read_number(row, column, place_of(row, column))) return false;
                ++column;
            } while (takes(','));
        }
        if (!take(']')) return false;
        return column == n_features_ || fail(JsonProblem::wrong_width, row, column);
    }

    bool read_columns() {
        if (!take('{')) return false;
        if (!peeks('}')) {
            std::int64_t n_read = 0;
            do {
                std::int64_t column = 0;
                if (!take_feature(0, n_read, column) || !take(':') || !read_column(column, n_read == 0)) return false;
                ++n_read;
            } while (takes(','));
        }
        return take('}') && has_all(0);
    }

    bool read_column(std::int64_t column, bool is_first) {
        if (!take('[')) return false;
        std::int64_t row = 0;
        if (!peeks(']')) {
            do {
                if (!is_first && row == report.n_rows) return fail(JsonProblem::uneven_columns, row + 1, column);
                if (row == room_) return fail(JsonProblem::too_many_rows, row, column);
                if (!read_number(row, column, place_of(row, column))) return false;
                ++row;
            } while (takes(','));
        }
        if (!take(']')) return false;
        if (is_first) report.n_rows = row;
        return row == report.n_rows || fail(JsonProblem::uneven_columns, row, column);
    }

    bool read_documents() {
        if (!take('[')) return false;
        if (takes(']')) return true;
        do {
            const std::int64_t row = report.n_rows;
            if (row == room_) return fail(JsonProblem::too_many_rows, row);
            if (!take('{') || !read_document(row)) return false;
            ++report.n_rows;
        } while (takes(','));
        return take(']');
    }

    bool read_document(std::int64_t row) {
        if (!peeks('}')) {
            std::int64_t n_read = 0;
            do {
                std::int64_t column = 0;
                if (!take_feature(row, n_read, column) || !take(':')) return false;
                if (!read_number(row, column, place_of(row, column))) return false;
                ++n_read;
            } while (takes(','));
        }
        return take('}') && has_all(row);
    }

    bool has_all(std::int64_t row) {
        const auto missing = std::find_if(row_of_feature_.begin(), row_of_feature_.end(),
                                          [row](std::int64_t seen) { return seen != row; });
        if (missing == row_of_feature_.end()) return true;
        return fail(JsonProblem::missing_feature, row, missing - row_of_feature_.begin());
    }

    // A name in quotes, which must be a feature's that this row does not have yet.
    bool take_feature(std::int64_t row, std::int64_t n_read, std::int64_t &column) {
        std::string_view name;
        skip_blanks();
        if (!take_name(name)) return false;
        const char *const from = name.data(), *const to = from + name.size();
        if (escaped_) return fail_at(JsonProblem::escaped_name, from, to, row);
        column = column_named(name, n_read);
        if (column < 0) return fail_at(JsonProblem::unknown_feature, from, to, row);
        if (row_of_feature_[column] == row) return fail_at(JsonProblem::repeated_feature, from, to, row, column);
        row_of_feature_[column] = row;
        return true;
    }

    // Documents mostly name their features in the same order, so the last one's is tried first.
    std::int64_t column_named(std::string_view name, std::int64_t n_read) {
        if (n_read >= n_features_) return found_column(name);
        std::int64_t &guess = guessed_[n_read];
        if (guess < 0 || name_of(guess) != name) guess = found_column(name);
        return guess;
    }

    std::int64_t found_column(std::string_view name) const {
        const auto &sorted = names_.sorted;
        const auto found =
            std::lower_bound(sorted.begin(), sorted.end(), name,
                             [this](std::int64_t one, std::string_view other) { return name_of(one) < other; });
        return found != sorted.end() && name_of(*found) == name ? *found : -1;
    }

    std::string_view name_of(std::int64_t feature) const {
        const auto first = names_.offsets[feature];
        return {names_.text.data() + first, static_cast<std::size_t>(names_.offsets[feature + 1] - first)};
    }

    const char *begin_;
    const char *at_;
    const char *end_;
    const JsonNames &names_;
    std::int64_t n_features_;
    std::span<float> features_;
    std::int64_t room_;
    std::vector<std::int64_t> guessed_;        // the feature that was named n-th in the last document
    std::vector<std::int64_t> row_of_feature_; // the last row that had the feature
    bool escaped_ = false;
};

} // namespace

JsonReport parse_json_features(std::span<const char> text, const JsonNames &names, std::span<float> features) {
    Reader reader(text, names, features);
    reader.read_object();
    return reader.report;
}

} // namespace rankwright
