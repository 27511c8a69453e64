#include <cmath>
#include <vector>

#include "core/metrics/bootstrap.hpp"
#include "core/metrics/concordance.hpp"
#include "core/metrics/discounted.hpp"
#include "core/metrics/relevance.hpp"

#include "tests/check.hpp"
#include "tests/test.hpp"

using rankwright::RankedLists;

namespace {

bool close(double a, double b) { return std::abs(a - b) < 1e-12; }

// Three documents of query 0, whose list has rows 1, 0, 2; none of query 1; two of query 2, of which one is retrieved.
const std::vector<std::int64_t> offsets{0, 3, 3, 5}, n_ranked{3, 0, 1}, rows{1, 0, 2, 3, 4};
const bool tied[]{false, true, false, false, false};
const bool relevant[]{true, false, true, false, true};
const std::vector<float> labels{1, 0, 2, 0, 1};

RankedLists as_they_stand() { return {offsets, n_ranked, rows, {}}; }
RankedLists averaged() { return {offsets, n_ranked, rows, tied}; }

void discounted(int threads) {
    std::vector<double> gains(5), found(3), ideal(3);
    rankwright::exponential_gains(labels, gains, threads);
    CHECK((gains == std::vector<double>{1, 0, 3, 0, 1}));
    rankwright::discounted_gains(gains, as_they_stand(), std::vector<double>{1, 0.5}, found, ideal, threads);
    CHECK((found == std::vector<double>{0.5, 0, 0}));
    CHECK((ideal == std::vector<double>{3.5, 0, 1}));
    rankwright::discounted_gains(gains, averaged(), std::vector<double>{1, 0.5}, found, ideal, threads);
    CHECK((found == std::vector<double>{0.75, 0, 0}));
    const std::vector<double> flat(40, 1.0); // longer than the head that is kept in order
    rankwright::discounted_gains(gains, as_they_stand(), flat, found, ideal, threads);
    CHECK((ideal == std::vector<double>{4, 0, 1}));
    rankwright::mean_gain_shares(gains, as_they_stand(), flat, found, threads);
    CHECK(close(found[0], (0.0 / 3 + 1.0 / 4 + 4.0 / 4) / 3) && std::isnan(found[1]) && found[2] == 0.0);
}

void relevance(int threads) {
    std::vector<double> sums(3), reciprocal(3), stopped(3);
    std::vector<std::int64_t> n_relevant(3);
    rankwright::precision_sums(relevant, as_they_stand(), 10, sums, n_relevant, threads);
    CHECK(close(sums[0], 1.0 / 2 + 2.0 / 3) && sums[2] == 0.0);
    CHECK((n_relevant == std::vector<std::int64_t>{2, 0, 1}));
    rankwright::precision_sums(relevant, averaged(), 10, sums, n_relevant, threads);
    CHECK(close(sums[0], (1.0 / 1 + 1.0 / 2) / 2 + 2.0 / 3));

    const std::vector<double> stop{0.5, 0, 1, 0, 1};
    rankwright::read_until_satisfied(stop, as_they_stand(), 10, reciprocal, stopped, threads);
    CHECK(close(reciprocal[0], 0.5 / 2 + 0.5 / 3) && close(stopped[0], 1.0) && stopped[2] == 0.0);
    rankwright::read_until_satisfied(stop, averaged(), 2, reciprocal, stopped, threads);
    CHECK(close(reciprocal[0], (0.5 / 1 + 0.5 / 2) / 2) && close(stopped[0], 0.5));
}

void pairs(int threads) {
    std::vector<double> wrong(3), n_pairs(3);
    rankwright::wrong_pairs(labels, as_they_stand(), wrong, n_pairs, threads);
    CHECK((wrong == std::vector<double>{3, 0, 1}) && (n_pairs == std::vector<double>{3, 0, 1}));
    rankwright::wrong_pairs(labels, averaged(), wrong, n_pairs, threads);
    CHECK((wrong == std::vector<double>{2.5, 0, 1}));
}

void bootstrap() {
    const std::vector<double> values{1, 2, 3, 4}, weights{1, 1, 1, 1};
    std::vector<double> alone(100), together(100);
    rankwright::bootstrap_means(values, weights, 7, alone, 1);
    rankwright::bootstrap_means(values, weights, 7, together, 7);
    CHECK(alone == together);
    for (double mean : alone) CHECK(mean >= 1 && mean <= 4);
    rankwright::random_sign_sums(values, 7, alone, 1);
    rankwright::random_sign_sums(values, 7, together, 7);
    CHECK(alone == together);
    for (double sum : alone) CHECK(std::abs(sum) <= 10 && std::fmod(sum, 2) == 0);
}

const rankwright::Test test("metrics", [] {
    for (int threads : {1, 2, 7}) {
        discounted(threads);
        relevance(threads);
        pairs(threads);
    }
    bootstrap();
});

} // namespace
