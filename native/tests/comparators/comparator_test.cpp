#include "core/comparators/comparator.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

// Two hidden layers, whose widths are no whole number of vectors, and queries of some sizes, one of them empty.
const std::vector<std::int64_t> sizes{5, 11, 3}, offsets{0, 40, 40, 41, 108, 115, 180, 190, 191, 220, 250};
const std::vector<std::int64_t> plain_sizes{5, 11};

struct Example {
    std::mt19937 random{1};
    std::vector<float> weights, features, labels;

    Example() {
        std::normal_distribution<float> normal;
        weights.resize(2 * 5 * 11 + 11 + 2 * 11 * 3 + 3 + 2 * 3 + 1);
        features.resize(250 * 5);
        for (auto *values : {&weights, &features}) {
            for (float &value : *values) value = normal(random);
        }
        features[7] = std::numeric_limits<float>::quiet_NaN();
        for (int row = 0; row < 250; ++row) labels.push_back(static_cast<float>(random() % 3));
        labels[3] = std::numeric_limits<float>::quiet_NaN();
    }
    Comparator net() const { return {sizes, weights}; }
    Documents documents() const { return {features, offsets}; }
};

void outputs_are_exchanged_with_the_documents(const Example &example) {
    std::vector<std::int64_t> left(250), right(250);
    std::iota(left.begin(), left.end(), 0);
    for (std::size_t k = 0; k < 250; ++k) right[k] = static_cast<std::int64_t>((7 * k + 3) % 250);
    std::vector<float> one(500), other(500);
    compare_pairs(example.net(), example.features, left, right, one, 2);
    compare_pairs(example.net(), example.features, right, left, other, 7);
    for (std::size_t k = 0; k < 250; ++k) CHECK(one[2 * k] == other[2 * k + 1] && one[2 * k + 1] == other[2 * k]);
}

void every_sort_is_a_permutation(const Example &example) {
    for (SortAlgorithm algorithm : {SortAlgorithm::merge, SortAlgorithm::heap}) {
        for (int presort : {0, 1}) {
            std::vector<std::int64_t> usual;
            for (int threads : {1, 2, 7}) {
                std::vector<std::int64_t> rows(250), counts(offsets.size() - 1);
                std::iota(rows.begin(), rows.end(), 0);
                const auto tied = std::make_unique<bool[]>(250);
                sort_rows(example.net(), example.documents(), algorithm, presort == 1, rows, {tied.get(), 250}, counts,
                          threads);
                if (usual.empty()) usual = rows;
                CHECK(rows == usual);
                for (std::size_t query = 0; query + 1 < offsets.size(); ++query) {
                    std::sort(rows.begin() + offsets[query], rows.begin() + offsets[query + 1]);
                }
                for (std::size_t row = 0; row < 250; ++row) CHECK(rows[row] == static_cast<std::int64_t>(row));
            }
        }
    }
}

void mistakes_go_against_labels(const Example &example) {
    std::vector<std::int64_t> room{0};
    for (std::size_t query = 0; query + 1 < offsets.size(); ++query) {
        const auto n = static_cast<double>(offsets[query + 1] - offsets[query]);
        room.push_back(room.back() + static_cast<std::int64_t>(n * std::ceil(std::log2(std::max(n, 1.0)))));
    }
    std::vector<std::int64_t> rows(250), counts(offsets.size() - 1), wrong(offsets.size() - 1);
    std::vector<std::int64_t> mistakes(2 * static_cast<std::size_t>(room.back()));
    std::iota(rows.begin(), rows.end(), 0);
    sort_noting_mistakes(example.net(), example.documents(), example.labels, std::span(room).first(room.size() - 1),
                         rows, counts, wrong, mistakes, 2);
    for (std::size_t query = 0; query + 1 < offsets.size(); ++query) {
        CHECK(wrong[query] <= counts[query] && counts[query] <= room[query + 1] - room[query]);
        for (auto pair = room[query]; pair < room[query] + wrong[query]; ++pair) {
            const auto better = static_cast<std::size_t>(mistakes[static_cast<std::size_t>(2 * pair)]);
            const auto worse = static_cast<std::size_t>(mistakes[static_cast<std::size_t>(2 * pair + 1)]);
            CHECK(example.labels[better] > example.labels[worse]);
        }
    }
}

void slopes_do_not_depend_on_threads(const Example &example) {
    const std::vector<std::int64_t> pair_offsets{0, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5}, better{0, 5, 50, 185, 249},
        worse{3, 1, 60, 181, 220}, queries{0, 3, 6, 9, 1};
    const std::vector<float> weight{1, 2, 0.5F, 1, 1};
    const TrainingPairs pairs{pair_offsets, better, worse, weight};
    for (PairCost cost : {PairCost::squared, PairCost::logistic}) {
        std::vector<double> usual;
        for (int threads : {1, 2, 7}) {
            std::vector<double> gradient(example.weights.size(), -9);
            const double total =
                comparator_gradient(example.net(), example.documents(), pairs, queries, cost, gradient, threads);
            CHECK(total > 0 && std::isfinite(total));
            if (usual.empty()) usual = gradient;
            CHECK(gradient == usual);
        }
        CHECK(comparator_gradient(example.net(), example.documents(), pairs, queries, cost, {}, 1) > 0);
    }
}

void wins_are_all_pairs(const Example &example) {
    const std::span<const float> weights(example.weights.data(), 2 * 5 * 11 + 11 + 2 * 11 + 1);
    std::vector<std::int64_t> wins(250);
    count_wins({plain_sizes, weights}, example.documents(), wins, 2);
    for (std::size_t query = 0; query + 1 < offsets.size(); ++query) {
        const auto n = offsets[query + 1] - offsets[query];
        CHECK(std::accumulate(wins.begin() + offsets[query], wins.begin() + offsets[query + 1], std::int64_t{0}) ==
              n * (n - 1) / 2);
    }
}

const rankwright::Test test("comparator", [] {
    const Example example;
    outputs_are_exchanged_with_the_documents(example);
    every_sort_is_a_permutation(example);
    mistakes_go_against_labels(example);
    slopes_do_not_depend_on_threads(example);
    wins_are_all_pairs(example);
});

} // namespace
