#include "core/text/delimited.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

using Places = std::vector<std::int64_t>;

std::span<const std::uint8_t> bytes(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}

Places ends_of(std::string_view text, char delimiter, std::size_t most) {
    Places ends(most, -1);
    rankwright::line_ends(bytes(text), delimiter, ends);
    return ends;
}

struct Parsed {
    std::vector<float> numbers;
    Places spans, problem{0, 0, 0};
};

// Parses one row whose columns have the given targets.
Parsed parse(std::string_view row, char delimiter, const Places &targets, int threads = 1) {
    // A copy that ends with the row, so that reading beyond it is seen.
    const std::vector<char> exact(row.begin(), row.end());
    Parsed parsed;
    std::size_t n_texts = 0;
    for (auto target : targets) {
        if (target >= 0) parsed.numbers.push_back(-1.0f);
        n_texts += target <= -2;
    }
    parsed.spans.resize(2 * n_texts);
    const Places starts{0}, ends{static_cast<std::int64_t>(row.size())};
    rankwright::parse_cells(bytes({exact.data(), exact.size()}), starts, ends, delimiter, targets, parsed.numbers,
                            parsed.spans, parsed.problem, threads);
    return parsed;
}

void test_lines() {
    CHECK((ends_of("", ',', 1) == Places{-1}));
    CHECK((ends_of("a\nb\n", ',', 3) == Places{1, 3, -1}));
    CHECK((ends_of("\"a\n\"\nb\n", ',', 3) == Places{4, 6, -1}));
    CHECK((ends_of("x, \"a\"\"\n\"\nb\n", ',', 3) == Places{9, 11, -1}));
    CHECK((ends_of("5\" disk\nb\n", ',', 3) == Places{7, 9, -1})); // a quote within a cell is plain
    CHECK((ends_of("\"a\nb\n", ',', 2) == Places{-1, -1}));        // not closed
    CHECK((ends_of("a\nb\n", ',', 1) == Places{1}));               // no room for more
}

void test_cells() {
    const auto row = parse("7, 1.5 ,\"x\"\"y\",,NA,\"-3\",true", ',', {0, 1, -2, 2, 3, 4, 5});
    CHECK(row.problem[0] == -1);
    CHECK(row.numbers[0] == 7.0f && row.numbers[1] == 1.5f && row.numbers[4] == -3.0f && row.numbers[5] == 1.0f);
    CHECK(std::isnan(row.numbers[2]) && std::isnan(row.numbers[3]));
    CHECK((row.spans == Places{9, -4}));
    CHECK((parse(" a b \tc", '\t', {-2, -3}).spans == Places{1, 3, 6, 1}));
    CHECK((parse("", ',', {-2}).spans == Places{0, 0}));
    CHECK(parse("123456789012345678901234567890.5,1", ',', {0, -1}).numbers[0] == 123456789012345678901234567890.5f);
}

void test_problems() {
    for (int threads : {1, 2, 7}) {
        CHECK((parse("1,2", ',', {0}, threads).problem == Places{0, 2, 1}));
        CHECK((parse("1", ',', {0, 1}, threads).problem == Places{0, 1, 1}));
        CHECK((parse("1,x", ',', {0, 1}, threads).problem == Places{0, 1, 2}));
        CHECK((parse("1,\"x\"y", ',', {0, -1}, threads).problem == Places{0, 1, 3}));
        CHECK((parse("1,\"x", ',', {0, -1}, threads).problem == Places{0, 1, 3}));
    }
}

void test_first_problem_of_many_rows() {
    std::string text;
    Places starts, ends;
    for (int row = 0; row < 5000; ++row) {
        starts.push_back(static_cast<std::int64_t>(text.size()));
        text += row % 700 == 699 ? "x" : "1";
        ends.push_back(static_cast<std::int64_t>(text.size()));
    }
    const Places targets{0};
    for (int threads : {1, 2, 7}) {
        std::vector<float> numbers(starts.size());
        Places spans, problem(3);
        rankwright::parse_cells(bytes(text), starts, ends, ',', targets, numbers, spans, problem, threads);
        CHECK((problem == Places{699, 0, 2}));
    }
}

void test_format() {
    const float missing = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> numbers{1.0f, missing, -0.1f, 1e-45f, 3.4028235e38f, -0.0000123456789f};
    for (int threads : {1, 2, 7}) {
        std::vector<std::uint8_t> text(2 * 3 * 17);
        Places lengths(2);
        rankwright::format_cells(numbers, 3, ';', text, lengths, threads);
        const std::string first(text.begin(), text.begin() + lengths[0]);
        const std::string second(text.begin() + 51, text.begin() + 51 + lengths[1]);
        CHECK(first == ";1;;-0.1");
        CHECK(second == ";1e-45;3.4028235e+38;-0.000012345679");
    }
    rankwright::format_cells({}, 3, ',', {}, {}, 1);
}

const rankwright::Test test("delimited", [] {
    test_lines();
    test_cells();
    test_problems();
    test_first_problem_of_many_rows();
    test_format();
});

} // namespace
