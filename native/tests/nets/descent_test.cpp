#include "core/nets/descent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tests/check.hpp"
#include "tests/objectives/plain_settings.hpp"
#include "tests/test.hpp"

namespace {

using namespace rankwright;

struct Fixture {
    std::vector<std::int64_t> offsets{0, 1, 4, 9, 9, 20}, queries{4, 1, 2, 3, 0}, by_label, starts{0}, widths;
    std::vector<float> features, labels, shift, factor, weights, knots;
    std::vector<std::int64_t> knot_starts;
    std::array<bool, 40> categorical{}, missing{};
    Activation activation;
    std::size_t n_members;

    Fixture(std::vector<std::int64_t> layer_widths, Activation chosen, std::size_t members = 1, bool in_pieces = false)
        : widths(std::move(layer_widths)), activation(chosen), n_members(members) {
        const auto n_features = static_cast<std::size_t>(widths[0]);
        if (in_pieces) cut(n_features);
        for (const auto query : queries) starts.push_back(starts.back() + offsets[query + 1] - offsets[query]);
        for (std::size_t i = 0; i < 20 * n_features; ++i) features.push_back(noise(i));
        for (std::size_t i = 0; i < 20; ++i) labels.push_back(static_cast<float>(i * 7 % 3));
        by_label.resize(20);
        std::iota(by_label.begin(), by_label.end(), 0);
        for (std::size_t q = 0; q + 1 < offsets.size(); ++q) {
            std::stable_sort(by_label.begin() + offsets[q], by_label.begin() + offsets[q + 1],
                             [&](auto a, auto b) { return labels[a] > labels[b]; });
        }
        shift.assign(n_features, 0.25F);
        factor.assign(n_features, 2.0F);
        std::size_t n_weights = 0;
        for (const Layer &layer : layers_of(net(weights))) n_weights += layer.n_numbers();
        for (std::size_t i = 0; i < n_weights; ++i) weights.push_back(0.3F * noise(i + 1000));
        if (in_pieces) {
            for (std::size_t i = 0; i < features.size(); i += 11) features[i] = std::nanf("");
        }
    }

    // Features of two to five knots, some of categories, and one without any.
    void cut(std::size_t n_features) {
        knot_starts.push_back(0);
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            const std::size_t n = feature == 1 ? 0 : 2 + feature % 4;
            for (std::size_t i = 0; i < n; ++i) knots.push_back(static_cast<float>(i) - 1.5F);
            knot_starts.push_back(static_cast<std::int64_t>(knots.size()));
            categorical[feature] = feature % 5 == 2;
            missing[feature] = feature % 2 == 0;
        }
        widths[0] = static_cast<std::int64_t>(pieces(n_features).n_inputs());
    }

    Pieces pieces(std::size_t n_features) const {
        if (knot_starts.empty()) return {};
        return {knot_starts, knots, std::span(categorical).first(n_features), std::span(missing).first(n_features),
                0.5F};
    }

    PlainNet net(std::vector<float> &own) const { return {widths, own, false, activation, 0.0, n_members}; }

    static float noise(std::size_t i) { return static_cast<float>(i * 2654435761U % 1000) / 500.0F - 1.0F; }

    // The mean cost of the queries before a step of the given size, which changes `own`.
    double step(std::vector<float> &own, double learning_rate, int threads,
                Optimizer optimizer = Optimizer::sgd) const {
        std::vector<double> scores(20), cost(queries.size());
        std::vector<float> mean(own.size()), square(own.size());
        const std::vector<std::int64_t> keys{5};
        const auto taken = descend_net(net(own), {features, shift, factor, pieces(shift.size())},
                                       {{{offsets, {}, {}}, labels, {}, {}}, by_label, plain_settings()},
                                       {optimizer, learning_rate, 0.0, 0.0, mean, square, 0},
                                       {queries, starts, keys, queries.size(), scores, cost}, threads);
        CHECK(taken == 1);
        return std::accumulate(cost.begin(), cost.end(), 0.0) / static_cast<double>(queries.size());
    }
};

// The change of a step of size 1 is the derivative: it must be what the cost does when a weight is moved.
void follows_the_cost(const Fixture &fixture) {
    auto moved = fixture.weights;
    fixture.step(moved, 1.0, 1);
    constexpr float nudge = 0.01F;
    for (std::size_t i = 0; i < moved.size(); i += 3) {
        auto more = fixture.weights, less = fixture.weights;
        more[i] += nudge;
        less[i] -= nudge;
        const double slope = (fixture.step(more, 0.0, 1) - fixture.step(less, 0.0, 1)) / (2.0 * nudge);
        CHECK(std::abs(slope - (fixture.weights[i] - moved[i])) < 0.01 * (1.0 + std::abs(slope)));
    }
}

void threads_change_nothing(const Fixture &fixture) {
    auto alone = fixture.weights;
    fixture.step(alone, 0.1, 1, Optimizer::adam);
    for (const int threads : {2, 7}) {
        auto together = fixture.weights;
        fixture.step(together, 0.1, threads, Optimizer::adam);
        CHECK(together == alone);
    }
}

const rankwright::Test test("descent", [] {
    for (const auto activation : {Activation::tanh, Activation::sigmoid, Activation::gelu}) {
        for (const auto &widths :
             std::vector<std::vector<std::int64_t>>{{3, 1}, {17, 1}, {17, 5, 1}, {33, 6, 3, 1}, {5, 19, 1}}) {
            const Fixture fixture(widths, activation);
            follows_the_cost(fixture);
            threads_change_nothing(fixture);
        }
        const Fixture members({5, 7, 4, 1}, activation, 3), pieces({19, 6, 1}, activation, 1, true);
        const Fixture both({3, 20, 1}, activation, 2, true), linear({17, 1}, activation, 1, true);
        for (const Fixture *fixture : {&members, &pieces, &both, &linear}) {
            follows_the_cost(*fixture);
            threads_change_nothing(*fixture);
        }
    }
});

} // namespace
