#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/boosters/label_pairs.hpp"
#include "core/boosters/moves.hpp"
#include "core/boosters/pair_units.hpp"

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

bool close(double a, double b) { return std::abs(a - b) < 1e-12; }

// Three documents of query 0 by ascending label, row 0 the best; none of query 1; two of equal labels of query 2.
const std::vector<float> labels{2, 0, 1, 1, 1};
const std::vector<double> weights{1, 1, 2, 1, 1}, query_weights{0.5, 1, 1}, scores{0, 1, 0.5, 0, 9};
const std::vector<std::int64_t> offsets{0, 3, 3, 5}, order{1, 2, 0, 3, 4};

rankwright::LabelPairs pairs() { return {labels, weights, query_weights, offsets, order}; }

void potentials(int threads) {
    std::vector<double> found(5), totals(3);
    rankwright::pair_potentials(scores, pairs(), found, totals, threads);
    const double best_worst = 0.5 * std::exp(1.0), best_middle = 0.5 * 2 * std::exp(0.5), middle_worst = best_middle;
    CHECK(close(found[0], best_worst + best_middle));
    CHECK(close(found[1], -best_worst - middle_worst));
    CHECK(close(found[2], middle_worst - best_middle));
    CHECK(found[3] == 0 && found[4] == 0);
    CHECK(close(totals[0], best_worst + best_middle + middle_worst) && totals[1] == 0 && totals[2] == 0);
}

double slope(double difference) {
    const double p = 1 / (1 + std::exp(-difference));
    return std::sqrt(p) * (1 - p);
}

void fidelity(int threads) {
    std::vector<double> found(5), totals(3), agree(24), disagree(24);
    rankwright::fidelity_potentials(scores, pairs(), found, totals, threads);
    CHECK(close(found[0], 0.5 * slope(-1) + 0.5 * 2 * slope(-0.5)));
    const std::vector<std::uint8_t> above{1, 2, 1, 0, 255}; // only the worst is below stump 0, and above stump 1
    rankwright::fidelity_agreement(scores, pairs(), above, agree, disagree, threads);
    const double with_worst = 0.5 * slope(-1) + 0.5 * 2 * slope(-0.5);
    CHECK(close(agree[0], with_worst) && disagree[0] == 0);
    CHECK(close(disagree[1], with_worst) && agree[1] == 0);
    CHECK(agree[2] == 0 && disagree[7] == 0);
}

void stumps(int threads) {
    const std::vector<std::uint8_t> codes{0, 1, 2, 0, 0, 0, 1, 1, 2, 2}; // two features of five documents
    const std::vector<std::int64_t> n_bins{3, 2};                        // the second's last two are missing
    const std::vector<double> potentials{-1, 2, 1, -1, -1};
    std::vector<double> sums(2);
    std::vector<std::int64_t> bin(2);
    bool missing_above[2];
    rankwright::potential_stumps({codes.data(), 5, n_bins}, potentials, sums, {bin, missing_above}, threads);
    CHECK(sums[0] == 3 && bin[0] == 0 && !missing_above[0]);
    CHECK(sums[1] == 3 && bin[1] == 0 && !missing_above[1]);
}

void moves(int threads) {
    const std::vector<double> column{0, -1, 1, 1, 0}, by{-2, 0, 2};
    const std::vector<std::int64_t> queries{0, 3, 3, 5};
    std::vector<double> moved(15);
    std::vector<std::int64_t> rows(15);
    rankwright::rank_moves(scores, column, by, queries, moved, rows, threads);
    CHECK((rows == std::vector<std::int64_t>{1, 0, 2, 4, 3, 6, 7, 5, 9, 8, 12, 10, 11, 14, 13}));
    CHECK(moved[1] == 3 && moved[12] == 2.5);

    std::vector<double> many(300), up(300); // a list turned round: more steps than insertion is given
    std::iota(many.begin(), many.end(), 0.0), std::iota(up.begin(), up.end(), 0.0);
    std::vector<double> out(600);
    std::vector<std::int64_t> turned(600);
    rankwright::rank_moves(many, up, std::vector<double>{-2, 2}, std::vector<std::int64_t>{0, 300}, out, turned,
                           threads);
    for (std::int64_t i = 0; i < 300; ++i) CHECK(turned[i] == i && turned[300 + i] == 599 - i);
}

void pair_units(int threads) {
    const std::vector<double> inputs{1, 0, 0,
                                     3, 5, 5}; // two documents of a query, none of the next, one of the last; two units
    const std::vector<std::int64_t> queries{0, 2, 2, 3};
    const std::vector<double> of_sums{1, 0, 0, 2, 7, 7};
    std::vector<double> sums(6), gradient(6);
    rankwright::pair_unit_sums({inputs.data(), 2, queries}, sums, threads);
    CHECK(close(sums[0], std::tanh(1) / 2) && close(sums[2], -sums[0]) && close(sums[3], std::tanh(3) / 2));
    CHECK(sums[4] == 0 && sums[5] == 0);
    rankwright::pair_unit_gradient({inputs.data(), 2, queries}, of_sums, gradient, threads);
    CHECK(close(gradient[0], (1 - std::tanh(1) * std::tanh(1)) / 2) && close(gradient[2], -gradient[0]));
    CHECK(close(gradient[3], 2 * (1 - std::tanh(3) * std::tanh(3)) / 2) && gradient[4] == 0);
}

const rankwright::Test test("boosters", [] {
    for (int threads : {1, 2, 7}) {
        potentials(threads);
        fidelity(threads);
        stumps(threads);
        moves(threads);
        pair_units(threads);
    }
});

} // namespace
