#include "core/ranking/ordering.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

void small_queries() {
    const std::vector<double> scores{1.0, 3.0, 2.0, 5.0, 5.0, 7.0};
    const std::vector<std::int64_t> offsets{0, 3, 3, 6};
    for (int threads : {1, 2, 7}) {
        std::vector<std::int64_t> rows(scores.size());
        rankwright::rank_rows(scores, offsets, rows, threads);
        CHECK((rows == std::vector<std::int64_t>{1, 2, 0, 5, 3, 4}));

        const auto tied = std::make_unique<bool[]>(rows.size());
        rankwright::mark_ties(scores, offsets, rows, {tied.get(), rows.size()}, threads);
        CHECK((std::vector<bool>(tied.get(), tied.get() + 6) == std::vector<bool>{0, 0, 0, 0, 0, 1}));

        const std::vector<double> keys{0, 0, 0, 9, 8, 0};
        rankwright::order_ties(keys, {tied.get(), rows.size()}, rows, threads);
        CHECK((rows == std::vector<std::int64_t>{1, 2, 0, 5, 4, 3}));
    }
}

// Every way to sort: networks, merges, digits, and several threads; scores far apart, close together and equal.
void any_size() {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    for (std::size_t n : {1, 7, 8, 9, 100, 1024, 1025, 3000, 140000}) {
        for (double spread : {1.0, 1e-15, 0.0}) {
            std::vector<double> scores(n);
            for (auto &score : scores) score = 1.0 + spread * normal(random);
            std::vector<std::int64_t> expected(n), rows(n);
            std::iota(expected.begin(), expected.end(), 0);
            std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
            for (int threads : {1, 2, 7}) {
                rankwright::rank_rows(scores, std::vector<std::int64_t>{0, static_cast<std::int64_t>(n)}, rows,
                                      threads);
                CHECK(rows == expected);
            }
        }
    }
}

const rankwright::Test test("ordering", [] {
    small_queries();
    any_size();
});

} // namespace
