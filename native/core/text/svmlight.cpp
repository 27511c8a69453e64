#include "core/text/svmlight.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/common/parallel.hpp"
#include "core/text/decimal.hpp"
#include "core/text/tokens.hpp"

namespace rankwright {

namespace {

using Problem = SvmlightProblem;
using namespace std::literals;

constexpr std::size_t lines_at_a_time = 64;
constexpr bool little_endian = std::endian::native == std::endian::little;

// A problem and the words it is in.
struct Trouble {
    Problem problem = Problem::none;
    Word where{};
    explicit operator bool() const { return problem != Problem::none; }
};

// An index:value word, taken apart.
struct Pair {
    std::int64_t index;
    const char *value;
};

std::uint64_t load_word(const char *place) {
    std::uint64_t word;
    std::memcpy(&word, place, sizeof word);
    return word;
}

Problem split_pair_slowly(Word word, Pair &pair) {
    const auto *colon = static_cast<const char *>(std::memchr(word.begin, ':', word.end - word.begin));
    if (colon == nullptr) return Problem::pair_without_colon;
    if (colon == word.begin) return Problem::index_not_a_number;
    std::int64_t index = 0;
    for (const char *at = word.begin; at != colon; ++at) {
        if (*at < '0' || *at > '9') return Problem::index_not_a_number;
        index = std::min(index * 10 + (*at - '0'), largest_feature_index + 1);
    }
    pair = {index, colon + 1};
    return index > largest_feature_index ? Problem::index_too_large : Problem::none;
}

// Indices of up to seven digits in one 64-bit word, without a branch on their length.
inline Problem split_pair(Word word, const char *block_end, Pair &pair) {
    constexpr std::uint64_t ones = 0x0101010101010101u, highs = ones << 7;
    if (!little_endian || block_end - word.begin < 8) return split_pair_slowly(word, pair);
    const std::uint64_t text = load_word(word.begin);
    const std::uint64_t differs = text ^ (ones * ':');
    const std::uint64_t colons = (differs - ones) & ~differs & highs;        // the lowest bit set is right
    const int bits = std::countr_zero(colons | std::uint64_t{1} << 63) & ~7; // 8 for each digit
    if (colons == 0 || bits == 0 || word.begin + bits / 8 >= word.end) return split_pair_slowly(word, pair);
    // Digits move to the high end, zeros before them.
    const std::uint64_t digits = (text ^ (ones * '0')) << (64 - bits);
    if (((digits + ones * 0x76) | digits) & highs) return split_pair_slowly(word, pair);
    // Every other byte becomes a pair of digits, 0 to 99. Of the four pairs a b c d the first product's upper half is
    // a · 10^6 + c · 10^2 and the second's b · 10^4 + d.
    constexpr std::uint64_t one_of_four = 0x000000FF000000FFu;
    constexpr std::uint64_t scale_ac = (std::uint64_t{1'000'000} << 32) + 100;
    constexpr std::uint64_t scale_bd = (std::uint64_t{10'000} << 32) + 1;
    const std::uint64_t pairs = digits * 10 + (digits >> 8);
    const std::uint64_t index = ((pairs & one_of_four) * scale_ac + ((pairs >> 16) & one_of_four) * scale_bd) >> 32;
    pair = {static_cast<std::int64_t>(index), word.begin + bits / 8 + 1};
    return Problem::none;
}

// The text of small indices with their colon, at the high end of a 64-bit word.
struct IndexText {
    std::uint64_t text;
    std::uint32_t length;
    std::uint32_t shift; // 64 - 8 · length
};

constexpr std::int64_t n_known_indices = 1024;

constexpr auto index_texts = [] {
    std::array<IndexText, n_known_indices> texts{};
    for (std::uint64_t index = 0; index < texts.size(); ++index) {
        std::uint64_t text = ':';
        std::uint32_t length = 1;
        std::uint64_t rest = index;
        do {
            text = text << 8 | ('0' + rest % 10);
            ++length;
        } while ((rest /= 10) != 0);
        texts[index] = {text << (64 - 8 * length), length, 64 - 8 * length};
    }
    return texts;
}();

// Parses lines one after another and keeps what has to be reported of them.
class LineParser {
  public:
    LineParser(std::span<const char> block, const SvmlightRules &rules, const SvmlightRows &rows)
        : begin_(block.data()), end_(block.data() + block.size()), rules_(rules), rows_(rows),
          known_stop_(little_endian ? std::min(n_known_indices, rules.index_base + rows.n_columns) : 0) {
        report_.widest_index = rules.index_base - 1;
    }

    void parse(std::int64_t row, std::int64_t start) {
        Words words(begin_ + start, end_);
        Word word{};
        words.next(word);
        Trouble trouble = read_label(word, rows_.labels[row]);
        bool more = words.next(word);
        if (!trouble) trouble = read_query(words, word, more, &rows_.query_spans[2 * row]);
        if (!trouble) trouble = read_features(words, word, more, row);
        if (trouble) return report_problem(row, trouble);
        read_document(words.skip_to_end(), &rows_.document_spans[2 * row]);
    }

    const SvmlightReport &report() const { return report_; }

  private:
    Number number(const char *begin, const char *end, float &value) const {
        if (begin != end && end - begin_ >= 16 && parse_short_decimal(begin, end, value)) return Number::finite;
        return parse_number(begin, end, value);
    }

    Trouble read_label(Word word, float &label) const {
        const Number kind = number(word.begin, word.end, label);
        if (kind == Number::malformed) return {Problem::label_not_a_number, word};
        if (kind == Number::infinite || label < 0) return {Problem::label_out_of_range, word};
        return {};
    }

    // Reads the word after the label if it is the query's id.
    Trouble read_query(Words &words, Word &word, bool &more, std::int64_t *span) const {
        span[0] = span[1] = 0;
        if (!more || !std::string_view(word.begin, word.end - word.begin).starts_with("qid:"sv)) return {};
        if (word.end - word.begin == 4) return {Problem::query_id_empty, word};
        set_span(word.begin + 4, word.end, span);
        more = words.next(word);
        return {};
    }

    Trouble read_features(Words &words, Word word, bool more, std::int64_t row) {
        float *const values = rows_.features.data() + row * rows_.n_columns;
        std::fill_n(values, rows_.n_columns, rules_.absent);
        next_pair_ = rows_.pairs.room.empty() ? -1 : rows_.pairs.room[row];
        const Word first = word;
        std::int64_t last_index = rules_.index_base - 1;
        bool increasing = true;
        Trouble trouble;
        while (more) {
            more = read_run(words, word, values, last_index);
            if (!more) break;
            note_index(last_index, row);
            const std::int64_t index_before = last_index;
            trouble = read_pair(word, values, last_index);
            if (trouble) break;
            increasing &= last_index > index_before;
            note_index(last_index, row);
            more = words.next(word);
        }
        note_index(last_index, row);
        if (!rows_.pairs.room.empty()) finish_pairs(row, increasing);
        if (!increasing) {
            if (const Trouble repeat = find_repeat(first, trouble ? word.begin : nullptr)) return repeat;
        }
        return trouble;
    }

    // Reads words whose indices follow `last_index` one by one, as in dense files; false where the line ends.
    // Works on copies, which the compiler keeps in registers.
    bool read_run(Words &words, Word &word, float *values, std::int64_t &last_index) const {
        Words run = words;
        Word next = word;
        std::int64_t index = last_index + 1;
        bool more = true;
        while (more && index < known_stop_ && end_ - next.begin >= 8 && next.end - begin_ >= 16) {
            const IndexText &expected = index_texts[index];
            if (load_word(next.begin) << expected.shift != expected.text) break;
            if (!parse_short_decimal(next.begin + expected.length, next.end, values[index - rules_.index_base])) break;
            ++index;
            more = run.next(next);
        }
        last_index = index - 1;
        word = next;
        words = run;
        return more;
    }

    Trouble read_pair(Word word, float *values, std::int64_t &last_index) {
        Pair pair{};
        if (const Problem problem = split_pair(word, end_, pair); problem != Problem::none) return {problem, word};
        const std::int64_t column = pair.index - rules_.index_base;
        if (column < 0) return {Problem::index_below_base, word};
        float value = 0;
        const Number kind = number(pair.value, word.end, value);
        if (kind == Number::malformed) return {Problem::value_not_a_number, word};
        if (kind == Number::infinite && !rules_.allow_infinity) return {Problem::value_infinite, word};
        if (column < rows_.n_columns) values[column] = value;
        if (next_pair_ >= 0) {
            rows_.pairs.columns[next_pair_] = static_cast<std::int32_t>(column);
            rows_.pairs.values[next_pair_++] = value;
        }
        last_index = pair.index;
        return {};
    }

    void finish_pairs(std::int64_t row, bool increasing) {
        const std::int64_t first = rows_.pairs.room[row];
        rows_.pairs.counts[row] = next_pair_ - first;
        if (increasing) return;
        std::vector<std::pair<std::int32_t, float>> pairs;
        for (std::int64_t place = first; place < next_pair_; ++place) {
            pairs.emplace_back(rows_.pairs.columns[place], rows_.pairs.values[place]);
        }
        std::ranges::sort(pairs, {}, &std::pair<std::int32_t, float>::first);
        for (std::size_t i = 0; i < pairs.size(); ++i) {
            std::tie(rows_.pairs.columns[first + i], rows_.pairs.values[first + i]) = pairs[i];
        }
    }

    // The first word before `stop` whose index an earlier word has; `stop` is null for all words of the line.
    Trouble find_repeat(Word first, const char *stop) const {
        std::vector<std::pair<std::int64_t, const char *>> seen;
        Words words(first.begin, end_);
        for (Word word{}; words.next(word) && word.begin != stop;) {
            Pair pair{};
            split_pair(word, end_, pair);
            seen.emplace_back(pair.index, word.begin);
        }
        std::sort(seen.begin(), seen.end());
        const char *repeat = nullptr;
        for (std::size_t i = 1; i < seen.size(); ++i) {
            const auto [index, place] = seen[i];
            if (index == seen[i - 1].first && (repeat == nullptr || place < repeat)) repeat = place;
        }
        if (repeat == nullptr) return {};
        Word word{};
        Words(repeat, end_).next(word);
        return {Problem::index_repeated, word};
    }

    // Takes the X of a comment that begins with `docid = X`; other comments are ignored.
    void read_document(const char *at, std::int64_t *span) const {
        span[0] = span[1] = 0;
        const auto skip = [&](std::string_view text) {
            if (!std::string_view(at, end_ - at).starts_with(text)) return false;
            at += text.size();
            while (at != end_ && *at != '\n' && is_space(*at)) ++at;
            return true;
        };
        if (!skip("#"sv) || !skip("docid"sv) || !skip("="sv)) return;
        const char *const begin = at;
        while (at != end_ && !is_space(*at)) ++at;
        if (at != begin) set_span(begin, at, span);
    }

    void set_span(const char *begin, const char *end, std::int64_t *span) const {
        span[0] = begin - begin_;
        span[1] = end - begin_;
    }

    void note_index(std::int64_t index, std::int64_t row) {
        if (index > report_.widest_index) report_.widest_index = index, report_.widest_row = row;
    }

    void report_problem(std::int64_t row, const Trouble &trouble) {
        if (report_.problem != Problem::none) return; // lines come in order: the first one counts
        report_.problem = trouble.problem;
        report_.row = row;
        report_.begin = trouble.where.begin - begin_;
        report_.end = trouble.where.end - begin_;
    }

    const char *begin_;
    const char *end_;
    SvmlightRules rules_;
    SvmlightRows rows_;
    std::int64_t known_stop_; // of the indices that have a column and a known text
    SvmlightReport report_;
    std::int64_t next_pair_ = -1;
};

// Joins the reports of two blocks of lines. The result does not depend on how lines were divided: it has the first
// problem, and the first row with the largest index.
void merge(SvmlightReport &all, const SvmlightReport &part) {
    if (part.problem != Problem::none && (all.problem == Problem::none || part.row < all.row)) {
        all.problem = part.problem;
        all.row = part.row;
        all.begin = part.begin;
        all.end = part.end;
    }
    if (std::pair(part.widest_index, -part.widest_row) > std::pair(all.widest_index, -all.widest_row)) {
        all.widest_index = part.widest_index;
        all.widest_row = part.widest_row;
    }
}

void mark_query_starts(std::span<const char> block, const SvmlightRows &rows) {
    std::string_view previous;
    for (std::size_t row = 0; row < rows.labels.size(); ++row) {
        const auto *span = &rows.query_spans[2 * row];
        const std::string_view id(block.data() + span[0], span[1] - span[0]);
        rows.starts_query[row] = row == 0 || id != previous;
        previous = id;
    }
}

} // namespace

void split_lines(std::span<const char> block, std::span<std::int64_t> starts, std::int64_t &n_rows,
                 std::int64_t &n_newlines) {
    const char *const begin = block.data(), *const end = begin + block.size();
    n_rows = n_newlines = 0;
    for (const char *line = begin; line != end;) {
        while (line != end && *line != '\n' && is_space(*line)) ++line;
        if (line == end) break;
        if (!ends_words(*line)) starts[n_rows++] = line - begin;
        const auto *newline = static_cast<const char *>(std::memchr(line, '\n', end - line));
        if (newline == nullptr) break;
        ++n_newlines;
        line = newline + 1;
    }
}

SvmlightReport parse_svmlight(std::span<const char> block, std::span<const std::int64_t> starts, SvmlightRules rules,
                              SvmlightRows rows, int threads) {
    SvmlightReport report;
    report.widest_index = rules.index_base - 1;
    std::mutex report_guard;
    parallel_for(starts.size(), threads, lines_at_a_time, [&](std::size_t first, std::size_t last) {
        LineParser parser(block, rules, rows);
        for (std::size_t row = first; row < last; ++row) parser.parse(static_cast<std::int64_t>(row), starts[row]);
        std::scoped_lock lock(report_guard);
        merge(report, parser.report());
    });
    if (report.problem == Problem::none) mark_query_starts(block, rows);
    return report;
}

} // namespace rankwright
