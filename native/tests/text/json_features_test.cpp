#include "core/text/json_features.hpp"

#include <cmath>
#include <string_view>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

using rankwright::JsonProblem;
using rankwright::JsonReport;
using rankwright::JsonShape;

struct Parsed {
    JsonReport report;
    std::vector<float> features;
};

// Parses documents of the features a, b and c, with room for four of them.
Parsed parse(std::string_view text) {
    // Copies that end with their texts, so that reading beyond them is seen.
    const std::vector<char> exact(text.begin(), text.end()), names{'a', 'b', 'c'};
    const std::vector<std::int64_t> offsets{0, 1, 2, 3}, sorted{0, 1, 2};
    Parsed parsed;
    parsed.features.resize(12, -1.0f);
    parsed.report = rankwright::parse_json_features(exact, {names, offsets, sorted}, parsed.features);
    return parsed;
}

JsonProblem problem_of(std::string_view text) { return parse(text).report.problem; }

void test_shapes() {
    for (const std::string_view text :
         {R"({"x": {"rows": "]"}, "rows": [[1, 2.5, null], [-4e1, 0, 123456789012345678]]})",
          R"({"columns": {"b": [2.5, 0], "a": [1, -40.0], "c": [null, 123456789012345678]}, "y": 1})",
          R"({"documents":[{"c":null,"a":1,"b":2.5},{"c":123456789012345678,"a":-40,"b":0}]})"}) {
        const Parsed found = parse(text);
        CHECK(found.report.problem == JsonProblem::none && found.report.n_rows == 2);
        CHECK(found.features[0] == 1.0f && found.features[1] == 2.5f && std::isnan(found.features[2]));
        CHECK(found.features[3] == -40.0f && found.features[4] == 0.0f && found.features[5] == 123456789012345678.0f);
        CHECK(text[static_cast<std::size_t>(found.report.value_end)] != ':');
    }
    CHECK(parse(R"({"other": 1})").report.shape == JsonShape::none);
    CHECK(parse(R"({"rows": []})").report.n_rows == 0);
}

void test_problems() {
    CHECK(problem_of("") == JsonProblem::not_json);
    CHECK(problem_of(R"({"x": [1, )") == JsonProblem::not_json);
    CHECK(problem_of(R"({"rows": [[1, 2, 3)") == JsonProblem::not_json);
    CHECK(problem_of(R"({"rows": [[1, 2, x]]})") == JsonProblem::not_a_number);
    CHECK(problem_of(R"({"rows": [[1, 2, 03]]})") == JsonProblem::not_a_number);
    CHECK(problem_of(R"({"rows": [[1, 2, 1e99]]})") == JsonProblem::number_too_large);
    CHECK(problem_of(R"({"rows": [[1, 2]]})") == JsonProblem::wrong_width);
    CHECK(problem_of(R"({"documents": [{"d": 1}]})") == JsonProblem::unknown_feature);
    CHECK(problem_of(R"({"documents": [{"a": 1}]})") == JsonProblem::missing_feature);
    CHECK(problem_of(R"({"documents": [{"a": 1, "a": 2}]})") == JsonProblem::repeated_feature);
    CHECK(problem_of(R"({"documents": [{"\u0061": 1}]})") == JsonProblem::escaped_name);
    CHECK(problem_of(R"({"columns": {"a": [1, 2], "b": [1]}})") == JsonProblem::uneven_columns);
    CHECK(problem_of(R"({"rows": [[1,2,3],[1,2,3],[1,2,3],[1,2,3],[1,2,3]]})") == JsonProblem::too_many_rows);
}

const rankwright::Test test("json_features", [] {
    test_shapes();
    test_problems();
});

} // namespace
