#include "core/features/standardise.hpp"

#include <limits>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

void check_rows() {
    const std::vector<float> features{1, 10, 2, missing, 3, 30}, shift{1, 10}, factor{2, 0.5F};
    const std::vector<std::int64_t> rows{2, 0, 1, 2};
    const std::vector<float> expected{4, 10, 0, 0, 2, 0, 4, 10};
    for (int threads : {1, 2, 7}) {
        std::vector<float> out(expected.size(), -9);
        rankwright::standardise_rows(features, 2, rows, shift, factor, out, threads);
        CHECK(out == expected);
    }
}

void check_moments() {
    std::vector<float> features;
    for (int row = 0; row < 10000; ++row) {
        features.push_back(static_cast<float>(row));
        features.push_back(row % 2 == 0 ? 3.0F : missing);
    }
    const std::vector<double> centre{0, 1};
    for (int threads : {1, 2, 7}) {
        std::vector<double> count(2, -9), total(2, -9), squares(2, -9);
        rankwright::sum_moments(features, 2, centre, count, total, squares, threads);
        CHECK(count[0] == 10000 && count[1] == 5000);
        CHECK(total[0] == 10000.0 * 9999.0 / 2.0 && total[1] == 5000.0 * 2.0);
        CHECK(squares[0] == 9999.0 * 10000.0 * 19999.0 / 6.0 && squares[1] == 5000.0 * 4.0);
    }
}

const rankwright::Test test("standardise", [] {
    check_rows();
    check_moments();
});

} // namespace
