// Any bytes: parsing must not overrun, must not depend on threads or on the lines around, and what was parsed must
// survive being written and parsed again.
#include <bit>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/text/svmlight.hpp"
#include "core/text/svmlight_format.hpp"
#include "fuzz/standalone.hpp"
#include "tests/check.hpp"

namespace {

using namespace rankwright;

constexpr std::int64_t n_columns = 7;

struct Parsed {
    std::vector<std::int64_t> starts;
    std::vector<std::uint32_t> features, labels; // as bits, so that equal means equal
    std::vector<std::string> queries, documents;
    std::vector<std::uint8_t> starts_query;
    SvmlightReport report;
};

std::vector<std::uint32_t> bits_of(const std::vector<float> &values) {
    std::vector<std::uint32_t> bits;
    bits.reserve(values.size());
    for (float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value));
    return bits;
}

std::vector<std::string> texts_of(std::span<const char> block, const std::vector<std::int64_t> &spans) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < spans.size(); i += 2) {
        CHECK(0 <= spans[i] && spans[i] <= spans[i + 1] && spans[i + 1] <= static_cast<std::int64_t>(block.size()));
        texts.emplace_back(block.data() + spans[i], block.data() + spans[i + 1]);
    }
    return texts;
}

Parsed parse(std::span<const char> block, int threads) {
    Parsed result;
    std::int64_t n_rows = 0, n_newlines = 0;
    result.starts.resize(block.size() / 2 + 1);
    split_lines(block, result.starts, n_rows, n_newlines);
    result.starts.resize(n_rows);
    std::vector<float> features(n_rows * n_columns), labels(n_rows);
    std::vector<std::int64_t> queries(2 * n_rows), documents(2 * n_rows);
    result.starts_query.resize(n_rows);
    const SvmlightRows rows{features, n_columns, labels, queries, result.starts_query, documents};
    result.report = parse_svmlight(block, result.starts, {1, 0.0f, true}, rows, threads);
    if (result.report.problem == SvmlightProblem::none) {
        result.features = bits_of(features);
        result.labels = bits_of(labels);
        result.queries = texts_of(block, queries);
        result.documents = texts_of(block, documents);
    }
    return result;
}

void check_same(const Parsed &a, const Parsed &b) {
    CHECK(a.report.problem == b.report.problem && a.report.row == b.report.row);
    CHECK(a.report.begin == b.report.begin && a.report.end == b.report.end);
    if (a.report.problem != SvmlightProblem::none) return;
    CHECK(a.report.widest_index == b.report.widest_index && a.report.widest_row == b.report.widest_row);
    CHECK(a.features == b.features && a.labels == b.labels && a.starts_query == b.starts_query);
    CHECK(a.queries == b.queries && a.documents == b.documents);
}

// The first row with a problem is the first line that has one alone, and each line alone gives its row.
void check_lines_alone(std::span<const char> block, const Parsed &all) {
    for (std::size_t row = 0; row < all.starts.size(); ++row) {
        const auto stop = row + 1 < all.starts.size() ? all.starts[row + 1] : static_cast<std::int64_t>(block.size());
        const std::vector<char> line(block.begin() + all.starts[row], block.begin() + stop);
        const Parsed alone = parse(line, 1);
        CHECK(alone.starts.size() == 1);
        if (alone.report.problem != SvmlightProblem::none) {
            CHECK(all.report.problem == alone.report.problem && all.report.row == static_cast<std::int64_t>(row));
            return;
        }
        if (all.report.problem != SvmlightProblem::none) continue;
        CHECK(alone.labels[0] == all.labels[row] && alone.queries[0] == all.queries[row]);
        CHECK(alone.documents[0] == all.documents[row]);
        CHECK(std::equal(alone.features.begin(), alone.features.end(), all.features.begin() + row * n_columns));
    }
    CHECK(all.report.problem == SvmlightProblem::none);
}

std::vector<float> floats_of(const std::vector<std::uint32_t> &bits) {
    std::vector<float> values;
    values.reserve(bits.size());
    for (std::uint32_t value : bits) values.push_back(std::bit_cast<float>(value));
    return values;
}

std::vector<std::int64_t> joined(const std::vector<std::string> &texts, std::string &text) {
    std::vector<std::int64_t> offsets{0};
    for (const auto &part : texts) {
        text += part;
        offsets.push_back(static_cast<std::int64_t>(text.size()));
    }
    return offsets;
}

void check_round_trip(Parsed parsed) {
    const std::size_t n_rows = parsed.starts.size();
    for (auto &query : parsed.queries) {
        if (query.empty()) query = "none";
    }
    std::string query_text, document_text;
    const auto query_offsets = joined(parsed.queries, query_text);
    const auto document_offsets = joined(parsed.documents, document_text);
    const auto features = floats_of(parsed.features), labels = floats_of(parsed.labels);
    std::vector<std::int64_t> query_of_row(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) query_of_row[row] = static_cast<std::int64_t>(row);
    const SvmlightTable table{
        features, n_columns, labels, query_of_row, {query_text, query_offsets}, {document_text, document_offsets}};
    const auto capacity = static_cast<std::int64_t>(300 + query_text.size() + document_text.size());
    std::vector<char> text(n_rows * capacity);
    std::int64_t length = 0;
    format_svmlight(table, {1, Omit::nothing, false}, text, capacity, length, 2);
    text.resize(length);
    const Parsed again = parse(text, 1);
    CHECK(again.report.problem == SvmlightProblem::none);
    CHECK(again.features == parsed.features && again.labels == parsed.labels);
    CHECK(again.queries == parsed.queries && again.documents == parsed.documents);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const std::span<const char> block(reinterpret_cast<const char *>(data), size);
    const Parsed parsed = parse(block, 1);
    check_same(parsed, parse(block, 3));
    check_lines_alone(block, parsed);
    if (parsed.report.problem == SvmlightProblem::none) check_round_trip(parsed);
    return 0;
}

#ifndef RANKWRIGHT_LIBFUZZER
int main(int n_arguments, char **arguments) {
    const rankwright::fuzz::Seeds seeds{
        "2 qid:10 1:0.5 2:0.000001 3:22.076928 4:0 5:1e-3 6:-7 #docid = GX008-86-4444840 inc = 1 prob = 0.08\n",
        "0 qid:a 1:3 2:3 3:0 4:0 5:3\r\n1 qid:a 7:1 2:NULL\n\n# comment\n0 qid:b 3:nan 4:inf 5:123456789.123456789",
        "+1 qid:é 1:340282350000000000000000000000000000000 2:1.17549435e-38 3:16777217 4:.5 5:5.\n",
        "1 7:1 6:2 5:3 4:4 3:5 2:6 1:7\n2 1:1 2:2 3:3 4:4 5:5 6:6 7:7 8:8\n3",
    };
    return rankwright::fuzz::standalone(n_arguments, arguments, seeds, "0123456789.:-+eE \t\r\n#qidnaNULL", 50'000);
}
#endif
