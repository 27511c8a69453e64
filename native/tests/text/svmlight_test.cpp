#include "core/text/svmlight.hpp"

#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/svmlight_format.hpp"
#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

struct Parsed {
    std::vector<float> features, labels;
    std::vector<std::int64_t> queries, documents;
    std::vector<std::uint8_t> starts_query;
    SvmlightReport report;
};

Parsed parse(std::string_view text, std::int64_t n_columns, int threads = 1) {
    const std::vector<char> block(text.begin(), text.end()); // of exactly its size, for the address sanitizer
    std::vector<std::int64_t> starts(block.size() / 2 + 1);
    std::int64_t n_rows = 0, n_newlines = 0;
    split_lines(block, starts, n_rows, n_newlines);
    starts.resize(n_rows);
    Parsed result;
    result.features.resize(n_rows * n_columns);
    result.labels.resize(n_rows);
    result.queries.resize(2 * n_rows);
    result.documents.resize(2 * n_rows);
    result.starts_query.resize(n_rows);
    const SvmlightRows rows{result.features, n_columns,           result.labels,
                            result.queries,  result.starts_query, result.documents};
    result.report = parse_svmlight(block, starts, {1, 0.0f, false}, rows, threads);
    return result;
}

void a_line_becomes_a_row() {
    const auto found = parse("# top\n\n2 qid:7 1:0.5 3:-2e1 #docid = X9 inc = 1\r\n0 qid:7\t2:NULL\n1 qid:8", 3);
    CHECK(found.report.problem == SvmlightProblem::none);
    CHECK((found.labels == std::vector<float>{2, 0, 1}));
    CHECK((std::vector<float>(found.features.begin(), found.features.begin() + 4) ==
           std::vector<float>{0.5f, 0, -20, 0}));
    CHECK(std::isnan(found.features[4]));
    CHECK((found.starts_query == std::vector<std::uint8_t>{1, 0, 1}));
    CHECK(found.documents[1] - found.documents[0] == 2);
    CHECK(found.documents[3] == 0);
    CHECK(found.report.widest_index == 3 && found.report.widest_row == 0);
}

void threads_do_not_matter() {
    std::string text;
    for (int row = 0; row < 2000; ++row) {
        text += std::to_string(row % 5) + " qid:" + std::to_string(row / 30);
        for (int index = 1; index <= 20; ++index) {
            text += " " + std::to_string(index) + ":" + std::to_string(0.37 * row * index);
        }
        text += row % 3 ? "\n" : " #docid = D" + std::to_string(row) + "\n";
    }
    const auto expected = parse(text, 20, 1);
    CHECK(expected.report.problem == SvmlightProblem::none);
    for (int threads : {2, 7}) {
        const auto found = parse(text, 20, threads);
        CHECK(found.features == expected.features && found.labels == expected.labels);
        CHECK(found.queries == expected.queries && found.documents == expected.documents);
        CHECK(found.starts_query == expected.starts_query);
    }
    text += "x\ny\n";
    for (int threads : {1, 2, 7}) {
        const auto report = parse(text, 20, threads).report;
        CHECK(report.problem == SvmlightProblem::label_not_a_number && report.row == 2000);
    }
}

void problems_are_told_apart() {
    const auto problem_of = [](std::string_view line) { return parse(line, 3).report.problem; };
    CHECK(problem_of("x") == SvmlightProblem::label_not_a_number);
    CHECK(problem_of("-1") == SvmlightProblem::label_out_of_range);
    CHECK(problem_of("inf") == SvmlightProblem::label_out_of_range);
    CHECK(problem_of("1 qid:") == SvmlightProblem::query_id_empty);
    CHECK(problem_of("1 qid:1 2") == SvmlightProblem::pair_without_colon);
    CHECK(problem_of("1 qid:1 x:2") == SvmlightProblem::index_not_a_number);
    CHECK(problem_of("1 qid:1 4000000000:2") == SvmlightProblem::index_too_large);
    CHECK(problem_of("1 qid:1 0:2") == SvmlightProblem::index_below_base);
    CHECK(problem_of("1 qid:1 1:") == SvmlightProblem::value_not_a_number);
    CHECK(problem_of("1 qid:1 1:inf") == SvmlightProblem::value_infinite);
    CHECK(problem_of("1 qid:1 2:1 1:1 2:1") == SvmlightProblem::index_repeated);
    CHECK(problem_of("1 qid:1 2:1 1:1 3:1") == SvmlightProblem::none);
}

void rows_become_lines() {
    const std::vector<float> features{0.1f, 0, NAN, -0.0f, 1e-6f, 3e38f}, labels{0, NAN};
    const std::vector<std::int64_t> query_of_row{0, 1}, query_offsets{0, 1, 3}, document_offsets{0, 0, 2};
    const std::string_view queries = "abc", documents = "d1";
    const SvmlightTable table{
        features, 3, labels, query_of_row, {queries, query_offsets}, {documents, document_offsets}};
    const auto written = [&](Omit omit, std::int64_t capacity, int threads) {
        std::vector<char> text(2 * capacity);
        std::int64_t length = 0;
        format_svmlight(table, {1, omit, true}, text, capacity, length, threads);
        return std::string(text.data(), length);
    };
    for (int threads : {1, 2, 7}) {
        CHECK(written(Omit::nothing, 200, threads) ==
              "0 qid:a 1:0.1 2:0 3:nan\nnan qid:bc 1:-0 2:1e-06 3:3e+38 #docid = d1\n");
        CHECK(written(Omit::zero, 200, threads) ==
              "0 qid:a 1:0.1 3:nan\nnan qid:bc 1:-0 2:1e-06 3:3e+38 #docid = d1\n");
        CHECK(written(Omit::missing, 200, threads) ==
              "0 qid:a 1:0.1 2:0 3:nan\nnan qid:bc 1:-0 2:1e-06 3:3e+38 #docid = d1\n");
    }
    bool refused = false;
    try {
        written(Omit::nothing, 50, 1);
    } catch (const std::length_error &) {
        refused = true;
    }
    CHECK(refused);
}

const rankwright::Test test("svmlight", [] {
    a_line_becomes_a_row();
    threads_do_not_matter();
    problems_are_told_apart();
    rows_become_lines();
});

} // namespace
