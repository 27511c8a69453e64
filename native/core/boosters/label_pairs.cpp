#include "core/boosters/label_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/common/elementary.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 16;
constexpr std::size_t n_codes = 256;
constexpr double widest_range = 700.0; // of a query's scores: e^700 is still a number

struct ScoreRange {
    double low, high;
};

ScoreRange range_of(std::span<const double> scores, std::span<const std::int64_t> rows) {
    ScoreRange range{scores[rows[0]], scores[rows[0]]};
    for (const auto row : rows) {
        range.low = std::min(range.low, scores[row]);
        range.high = std::max(range.high, scores[row]);
    }
    return range;
}

// e^(worse - better) = e^-(high - worse) · e^-(better - low) · e^(high - low): no factor but the last exceeds 1.
double query_potentials(std::span<const double> scores, const LabelPairs &pairs, std::size_t query,
                        std::span<double> potentials) {
    const auto rows = pairs.rows_of(query);
    if (rows.empty()) return 0.0;
    const ScoreRange range = range_of(scores, rows);
    const double scale = pairs.query_weights[query] / exp_minus(std::min(range.high - range.low, widest_range));
    double total = 0.0, below = 0.0; // sum of weight · e^-(high - score) over documents of lower labels
    for (std::size_t first = 0, last; first < rows.size(); first = last) {
        double level = 0.0;
        for (last = first; last < rows.size() && pairs.labels[rows[last]] == pairs.labels[rows[first]]; ++last) {
            const auto row = rows[last];
            const double better = pairs.weights[row] * exp_minus(scores[row] - range.low) * below * scale;
            potentials[row] = better;
            total += better;
            level += pairs.weights[row] * exp_minus(range.high - scores[row]);
        }
        below += level;
    }
    double above = 0.0; // sum of weight · e^-(score - low) over documents of higher labels
    for (std::size_t last = rows.size(), first; last > 0; last = first) {
        double level = 0.0;
        for (first = last; first > 0 && pairs.labels[rows[first - 1]] == pairs.labels[rows[last - 1]]; --first) {
            const auto row = rows[first - 1];
            potentials[row] -= pairs.weights[row] * exp_minus(range.high - scores[row]) * above * scale;
            level += pairs.weights[row] * exp_minus(scores[row] - range.low);
        }
        above += level;
    }
    return total;
}

// √P (1 - P) with P = 1 / (1 + e^-difference).
double fidelity_slope(double difference) {
    const double e = exp_minus(std::abs(difference));
    const double right = 1.0 / (1.0 + e); // the larger of P and 1 - P
    const double p = difference >= 0 ? right : e * right;
    return std::sqrt(p) * (difference >= 0 ? e * right : right);
}

// Calls use(better, worse, FRank's weight) for every pair of a query.
template <typename Use>
void for_fidelity_pairs(std::span<const double> scores, const LabelPairs &pairs, std::size_t query, Use &&use) {
    const auto rows = pairs.rows_of(query);
    std::size_t n_below = 0; // documents of lower labels, which come first
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0 && pairs.labels[rows[i]] != pairs.labels[rows[i - 1]]) n_below = i;
        const auto better = rows[i];
        const double weight = pairs.query_weights[query] * pairs.weights[better];
        for (std::size_t j = 0; j < n_below; ++j)
            use(better, rows[j], weight * pairs.weights[rows[j]] * fidelity_slope(scores[better] - scores[rows[j]]));
    }
}

template <typename Body> void for_queries(const LabelPairs &pairs, int threads, Body &&body) {
    parallel_for(pairs.n_queries(), threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t query = first; query < last; ++query) body(query);
    });
}

} // namespace

void pair_potentials(std::span<const double> scores, const LabelPairs &pairs, std::span<double> potentials,
                     std::span<double> totals, int threads) {
    std::fill(potentials.begin(), potentials.end(), 0.0);
    for_queries(pairs, threads,
                [&](std::size_t query) { totals[query] = query_potentials(scores, pairs, query, potentials); });
}

void potential_stumps(const FeatureCodes &features, std::span<const double> potentials, std::span<double> sums,
                      const BestStumps &best, int threads) {
    parallel_for(features.n_features(), threads, 1, [&](std::size_t feature, std::size_t) {
        const auto codes = features.of(feature);
        const auto n_bins = static_cast<std::size_t>(features.n_bins[feature]);
        std::array<double, n_codes> by_code{};
        for (std::size_t row = 0; row < codes.size(); ++row) by_code[codes[row]] += potentials[row];
        const double missing = by_code[n_bins];
        sums[feature] = 0.0, best.bin[feature] = 0, best.missing_above[feature] = false;
        double above = 0.0;
        for (std::size_t bin = n_bins; bin-- > 0; above += by_code[bin]) {
            for (const bool missing_above : {false, true}) {
                const double sum = missing_above ? above + missing : above;
                if (std::abs(sum) <= std::abs(sums[feature])) continue;
                sums[feature] = sum;
                best.bin[feature] = static_cast<std::int64_t>(bin), best.missing_above[feature] = missing_above;
            }
        }
    });
}

void fidelity_potentials(std::span<const double> scores, const LabelPairs &pairs, std::span<double> potentials,
                         std::span<double> totals, int threads) {
    std::fill(potentials.begin(), potentials.end(), 0.0);
    for_queries(pairs, threads, [&](std::size_t query) {
        double total = 0.0;
        for_fidelity_pairs(scores, pairs, query, [&](std::int64_t better, std::int64_t worse, double weight) {
            potentials[better] += weight;
            potentials[worse] -= weight;
            total += weight;
        });
        totals[query] = total;
    });
}

void fidelity_agreement(std::span<const double> scores, const LabelPairs &pairs, std::span<const std::uint8_t> above,
                        std::span<double> agree, std::span<double> disagree, int threads) {
    constexpr std::size_t n_stumps = 8;
    for_queries(pairs, threads, [&](std::size_t query) {
        // Sums of pair weights, by the set of stumps that order a pair right, and by the set that order it wrong.
        std::array<double, n_codes> right{}, wrong{};
        for_fidelity_pairs(scores, pairs, query, [&](std::int64_t better, std::int64_t worse, double weight) {
            right[above[better] & ~above[worse]] += weight;
            wrong[above[worse] & ~above[better]] += weight;
        });
        for (std::size_t stump = 0; stump < n_stumps; ++stump) {
            double rightly = 0.0, wrongly = 0.0;
            for (std::size_t stumps = 0; stumps < n_codes; ++stumps) {
                if (!(stumps >> stump & 1)) continue;
                rightly += right[stumps];
                wrongly += wrong[stumps];
            }
            agree[query * n_stumps + stump] = rightly;
            disagree[query * n_stumps + stump] = wrongly;
        }
    });
}

} // namespace rankwright
