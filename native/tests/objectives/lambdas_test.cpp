#include "core/objectives/lambdas.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/common/counter_random.hpp"
#include "core/objectives/list_lambdas.hpp"
#include "core/objectives/pair_rows.hpp"
#include "tests/check.hpp"
#include "tests/objectives/plain_settings.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

double random_score(std::uint64_t i) { return 4.0 * unit_interval(stream_of(1, i)) - 2.0; }

struct Sample {
    std::vector<std::int64_t> offsets{0}, queries, by_label;
    std::vector<double> scores, worth, discount;
    std::vector<float> labels;

    Sample() {
        for (std::int64_t size : {0, 1, 2, 40, 17, 300, 5}) offsets.push_back(offsets.back() + size);
        queries.resize(offsets.size() - 1);
        std::iota(queries.begin(), queries.end(), 0);
        for (std::int64_t row = 0; row < offsets.back(); ++row) {
            scores.push_back(random_score(row));
            const auto label = stream_of(2, row) % 6;
            labels.push_back(label == 5 ? NAN : static_cast<float>(label));
            worth.push_back(label == 5 ? 0.0 : static_cast<double>(label) / 8.0);
        }
        for (int rank = 0; rank < 20; ++rank) discount.push_back(1.0 / (rank + 1));
        by_label.resize(scores.size());
        std::iota(by_label.begin(), by_label.end(), 0);
        const auto judged_first = [&](std::int64_t a, std::int64_t b) {
            return std::isnan(labels[b]) ? !std::isnan(labels[a]) : labels[a] > labels[b];
        };
        for (std::size_t q = 0; q < queries.size(); ++q)
            std::stable_sort(by_label.begin() + offsets[q], by_label.begin() + offsets[q + 1], judged_first);
    }

    PairData data() const { return {{offsets, {}, {}}, labels, worth, discount}; }
    Batch batch() const { return {scores, queries, offsets, 5}; }
};

struct Result {
    std::vector<float> gradient, curvature;
    std::vector<double> cost;
    explicit Result(const Sample &sample)
        : gradient(sample.scores.size()), curvature(sample.scores.size()), cost(sample.queries.size()) {}
    LambdaSpans<float> spans() { return {gradient, curvature, cost}; }
    bool same_forces(const Result &other) const { return gradient == other.gradient && curvature == other.curvature; }
};

void threads_do_not_matter() {
    const Sample sample;
    for (auto delta : {Delta::constant, Delta::discounted_gain, Delta::average_precision, Delta::reciprocal_rank,
                       Delta::expected_reciprocal_rank}) {
        for (std::int64_t sampled : {0, 3}) {
            PairSettings settings = plain_settings();
            settings.delta = delta;
            settings.sampled = sampled;
            settings.truncation = sampled ? 0 : 10;
            Result one(sample);
            label_pair_lambdas<float>({sample.data(), sample.by_label, settings}, sample.batch(), one.spans(), 1);
            for (int threads : {2, 7}) {
                Result many(sample);
                label_pair_lambdas<float>({sample.data(), sample.by_label, settings}, sample.batch(), many.spans(),
                                          threads);
                CHECK(many.same_forces(one));
            }
        }
    }
}

void threads_do_not_matter_to_means_and_mixtures() {
    const Sample sample;
    PairSettings noisy = plain_settings(), neighbours = noisy, tied = noisy;
    noisy.perturbations = neighbours.perturbations = 3;
    neighbours.neighbours = tied.expected_ties = true;
    noisy.constant_share = tied.constant_share = 0.4;
    for (auto settings : {noisy, neighbours, tied}) {
        settings.delta = Delta::discounted_gain;
        settings.truncation = 10;
        Result one(sample), many(sample);
        label_pair_lambdas<float>({sample.data(), sample.by_label, settings}, sample.batch(), one.spans(), 1);
        label_pair_lambdas<float>({sample.data(), sample.by_label, settings}, sample.batch(), many.spans(), 7);
        CHECK(many.same_forces(one));
    }
}

void forces_of_a_query_cancel() {
    const Sample sample;
    Result result(sample);
    label_pair_lambdas<float>({sample.data(), sample.by_label, plain_settings()}, sample.batch(), result.spans(), 2);
    for (std::size_t q = 0; q < sample.queries.size(); ++q) {
        double sum = 0.0;
        for (auto row = sample.offsets[q]; row < sample.offsets[q + 1]; ++row) sum += result.gradient[row];
        CHECK(std::abs(sum) < 1e-3);
    }
}

void given_pairs_are_the_pairs() {
    const Sample sample;
    const std::vector<std::int64_t> first_pair{0, 0, 0, 1, 1, 1, 1, 1}, better{1}, worse{2};
    const std::vector<float> probability{1.0F}, weight{2.0F};
    Result result(sample);
    preference_lambdas<float>({{sample.offsets, {}, {}}, {}, {}, {}}, {first_pair, better, worse, probability, weight},
                              plain_settings(), sample.batch(), result.spans(), 2);
    const double wrong = 1.0 / (1.0 + std::exp(sample.scores[1] - sample.scores[2]));
    CHECK(std::abs(result.gradient[1] + 2.0 * wrong) < 1e-6);
    CHECK(std::abs(result.gradient[2] - 2.0 * wrong) < 1e-6);
    CHECK(result.gradient[0] == 0.0F && result.gradient[3] == 0.0F);
}

// A query for the inner loops, with more documents than lanes hold between two flushes.
template <typename Real> struct LoopQuery {
    static constexpr std::size_t n = 1100, room = n + lanes;
    std::vector<Real> score, label, worth, above, below, scale, odds, odds_against, gradient, curvature;
    PairSums sums;

    LoopQuery()
        : score(room), label(room, NAN), worth(room), above(room), below(room), scale(room, 1), odds(room),
          odds_against(room), gradient(room), curvature(room) {
        for (std::size_t i = 0; i < n; ++i) {
            score[i] = static_cast<Real>(random_score(i));
            label[i] = static_cast<Real>(stream_of(2, i) % 4);
            worth[i] = label[i] / 3;
            above[i] = below[i] = Real(1) / static_cast<Real>(i + 1);
            odds[i] = static_cast<Real>(std::exp(0.9 * score[i]));
            odds_against[i] = Real(1) / odds[i];
        }
    }

    void add_rows(RowLoop<Real> loop, const PairRule<Real> &rule) {
        const RankedQuery<Real> query{.n = n,
                                      .score = score.data(),
                                      .label = label.data(),
                                      .worth = worth.data(),
                                      .above = above.data(),
                                      .below = below.data(),
                                      .scale = scale.data(),
                                      .weight = worth.data(),
                                      .odds = odds.data(),
                                      .odds_against = odds_against.data(),
                                      .pair_weight = nullptr,
                                      .gradient = gradient.data(),
                                      .curvature = curvature.data()};
        for (std::size_t i = 0; i < 20; ++i) loop(query, rule, i, i + 1, sums);
    }

    void add_list(ListLoop<Real> loop, const PairRule<Real> &rule) {
        loop({64, score.data(), worth.data(), label.data(), gradient.data(), curvature.data()}, rule, sums);
    }

    bool equals(const LoopQuery &other) const {
        return gradient == other.gradient && curvature == other.curvature && sums.force == other.sums.force &&
               sums.curvature == other.sums.curvature && sums.size == other.sums.size && sums.cost == other.sums.cost;
    }
};

template <typename Real> std::vector<PairRule<Real>> rules() {
    constexpr Real infinity = std::numeric_limits<Real>::infinity();
    return {{Real(0.9), true, true, Real(1.5), false}, {Real(0.9), false, false, infinity, true}};
}

// Those that this processor has beside the narrowest.
std::vector<VectorWidth> wider_vectors() {
    std::vector<VectorWidth> widths;
    for (const auto width : {VectorWidth::avx2, VectorWidth::avx512}) {
        if (width <= widest_vectors()) widths.push_back(width);
    }
    return widths;
}

template <typename Real> void vector_widths_agree(PairLoss loss, bool with_cost) {
    const auto add_all = [&](LoopQuery<Real> &query, const PairRule<Real> &rule, VectorWidth width) {
        const auto loops = pair_loops<Real>(loss, with_cost, width);
        query.add_rows(loops.row, rule);
        query.add_list(loops.list, rule);
    };
    for (const auto &rule : rules<Real>()) {
        LoopQuery<Real> narrow;
        add_all(narrow, rule, VectorWidth::sse);
        for (const auto width : wider_vectors()) {
            LoopQuery<Real> wide;
            add_all(wide, rule, width);
            CHECK(narrow.equals(wide));
        }
    }
}

void odds_do_what_gaps_do(bool with_cost) {
    for (const auto &rule : rules<float>()) {
        LoopQuery<float> by_gaps, by_odds;
        by_gaps.add_rows(pair_loops<float>(PairLoss::logistic, with_cost, VectorWidth::sse).row, rule);
        by_odds.add_rows(near_logistic_row(with_cost, VectorWidth::sse), rule);
        for (std::size_t i = 0; i < by_gaps.n; ++i) {
            CHECK(std::abs(by_gaps.gradient[i] - by_odds.gradient[i]) < 1e-5);
            CHECK(std::abs(by_gaps.curvature[i] - by_odds.curvature[i]) < 1e-5);
        }
        CHECK(std::abs(by_gaps.sums.cost - by_odds.sums.cost) <= 1e-5 * by_gaps.sums.cost);
        for (const auto width : wider_vectors()) {
            LoopQuery<float> by_wide_odds;
            by_wide_odds.add_rows(near_logistic_row(with_cost, width), rule);
            CHECK(by_wide_odds.equals(by_odds));
        }
    }
}

void lists_and_points_run_on_all_shapes() {
    const Sample sample;
    Result one(sample), many(sample);
    std::vector<double> shares(sample.labels.begin(), sample.labels.end());
    for (auto *result : {&one, &many}) {
        softmax_lambdas<float>({sample.offsets, {}, {}}, {shares, true, true}, sample.batch(), result->spans(),
                               result == &one ? 1 : 7);
    }
    CHECK(one.same_forces(many));
    for (auto loss : {PointLoss::squared, PointLoss::logistic}) {
        for (auto *result : {&one, &many}) {
            point_lambdas<float>({sample.offsets, {}, {}}, sample.labels, loss, sample.batch(), result->spans(),
                                 result == &one ? 1 : 7);
        }
        CHECK(one.same_forces(many));
    }
}

const rankwright::Test test("lambdas", [] {
    threads_do_not_matter();
    threads_do_not_matter_to_means_and_mixtures();
    forces_of_a_query_cancel();
    given_pairs_are_the_pairs();
    for (bool with_cost : {false, true}) {
        for (auto loss : {PairLoss::logistic, PairLoss::hinge, PairLoss::spring}) {
            vector_widths_agree<float>(loss, with_cost);
            vector_widths_agree<double>(loss, with_cost);
        }
        odds_do_what_gaps_do(with_cost);
    }
    lists_and_points_run_on_all_shapes();
});

} // namespace
