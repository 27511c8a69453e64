#include "core/label_pairs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/elementary.hpp"
#include "core/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 64;
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
    double total = 0.0, below = 0.0; // e^-(high - score), weighted, of all documents of lower labels
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
    double above = 0.0; // e^-(score - low), weighted, of all documents of higher labels
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

// Sums of pair weights for every place a feature's documents can be cut at. Places count from 0: missing values that
// stand below all others have place 0, bin b has b + 1, missing values above all others come last.
class CutSums {
  public:
    void add(std::size_t better, std::size_t worse, double weight) {
        if (better == worse) return; // no cut parts them, and adding a weight to take it off again would not leave 0
        auto &steps = better > worse ? agree_ : disagree_;
        steps[std::min(better, worse)] += weight;
        steps[std::max(better, worse)] -= weight;
    }

    // Calls use(cut, agree, disagree) for cuts 0 to n_cuts - 1; documents at places above a cut stand above.
    template <typename Use> void for_cuts(std::size_t n_cuts, Use &&use) const {
        double agree = 0.0, disagree = 0.0;
        for (std::size_t cut = 0; cut < n_cuts; ++cut) {
            agree += agree_[cut];
            disagree += disagree_[cut];
            use(cut, std::max(agree, 0.0), std::max(disagree, 0.0));
        }
    }

  private:
    std::array<double, n_codes + 2> agree_{}, disagree_{};
};

// Queries next to each other whose pairs are weighed together: so many that all threads have work, so few that their
// weights stay in the cache.
struct WeighedQueries {
    static constexpr std::size_t pairs_at_a_time = 1 << 17;
    std::size_t first, last;
    std::vector<std::size_t> starts; // of each query's weights
    std::vector<double> weights;

    // A query's pairs come better document after better document, in the order of `order`.
    template <typename Use> static void for_pairs(const LabelPairs &pairs, std::size_t query, Use &&use) {
        const auto rows = pairs.rows_of(query);
        std::size_t n_below = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (i > 0 && pairs.labels[rows[i]] != pairs.labels[rows[i - 1]]) n_below = i;
            for (std::size_t j = 0; j < n_below; ++j) use(rows[i], rows[j]);
        }
    }
};

std::size_t count_pairs(const LabelPairs &pairs, std::size_t query) {
    const auto rows = pairs.rows_of(query);
    std::size_t n_pairs = 0, n_below = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i > 0 && pairs.labels[rows[i]] != pairs.labels[rows[i - 1]]) n_below = i;
        n_pairs += n_below;
    }
    return n_pairs;
}

// √P (1 - P) with P = 1 / (1 + e^-difference).
double fidelity_slope(double difference) {
    const double e = exp_minus(std::abs(difference));
    const double right = 1.0 / (1.0 + e); // the larger of P and 1 - P
    const double p = difference >= 0 ? right : e * right;
    return std::sqrt(p) * (difference >= 0 ? e * right : right);
}

WeighedQueries weigh(std::span<const double> scores, const LabelPairs &pairs, std::size_t first, int threads) {
    WeighedQueries weighed{first, first, {0}, {}};
    while (weighed.last < pairs.n_queries() && weighed.starts.back() < WeighedQueries::pairs_at_a_time)
        weighed.starts.push_back(weighed.starts.back() + count_pairs(pairs, weighed.last++));
    weighed.weights.resize(weighed.starts.back());
    parallel_for(weighed.last - first, threads, queries_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t place = begin; place < end; ++place) {
            std::size_t next = weighed.starts[place];
            const double of_query = pairs.query_weights[first + place];
            WeighedQueries::for_pairs(pairs, first + place, [&](std::int64_t better, std::int64_t worse) {
                weighed.weights[next++] = of_query * pairs.weights[better] * pairs.weights[worse] *
                                          fidelity_slope(scores[better] - scores[worse]);
            });
        }
    });
    return weighed;
}

struct FeatureSums {
    CutSums missing_below, missing_above;
};

void add_pairs(const WeighedQueries &weighed, const LabelPairs &pairs, std::span<const std::uint8_t> codes,
               std::size_t n_bins, bool any_missing, FeatureSums &sums) {
    std::size_t next = 0;
    const auto below = [&](std::int64_t row) { return codes[row] == n_bins ? 0 : codes[row] + std::size_t{1}; };
    const auto above = [&](std::int64_t row) { return codes[row] + std::size_t{1}; };
    for (std::size_t query = weighed.first; query < weighed.last; ++query) {
        WeighedQueries::for_pairs(pairs, query, [&](std::int64_t better, std::int64_t worse) {
            const double weight = weighed.weights[next++];
            sums.missing_below.add(below(better), below(worse), weight);
            if (any_missing) sums.missing_above.add(above(better), above(worse), weight);
        });
    }
}

} // namespace

void pair_potentials(std::span<const double> scores, const LabelPairs &pairs, std::span<double> potentials,
                     std::span<double> totals, int threads) {
    std::fill(potentials.begin(), potentials.end(), 0.0);
    parallel_for(pairs.n_queries(), threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t query = first; query < last; ++query)
            totals[query] = query_potentials(scores, pairs, query, potentials);
    });
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

void fidelity_stumps(const FeatureCodes &features, std::span<const double> scores, const LabelPairs &pairs,
                     double smoothing, std::span<double> agree, std::span<double> disagree, const BestStumps &best,
                     int threads) {
    const std::size_t n_features = features.n_features();
    std::vector<FeatureSums> sums(n_features);
    std::vector<std::uint8_t> any_missing(n_features);
    for (std::size_t feature = 0; feature < n_features; ++feature) {
        const auto codes = features.of(feature);
        any_missing[feature] = std::find(codes.begin(), codes.end(), features.n_bins[feature]) != codes.end();
    }
    for (std::size_t query = 0; query < pairs.n_queries();) {
        const WeighedQueries weighed = weigh(scores, pairs, query, threads);
        parallel_for(n_features, threads, 1, [&](std::size_t feature, std::size_t) {
            add_pairs(weighed, pairs, features.of(feature), static_cast<std::size_t>(features.n_bins[feature]),
                      any_missing[feature] != 0, sums[feature]);
        });
        query = weighed.last;
    }
    for (std::size_t feature = 0; feature < n_features; ++feature) {
        agree[feature] = disagree[feature] = smoothing, best.bin[feature] = 0, best.missing_above[feature] = false;
        double furthest = 0.0;
        const auto look = [&](const CutSums &cuts, bool missing_above) {
            const auto n_cuts = static_cast<std::size_t>(features.n_bins[feature]) + 1;
            cuts.for_cuts(n_cuts, [&](std::size_t cut, double for_it, double against) {
                const double apart = std::abs(std::sqrt(for_it + smoothing) - std::sqrt(against + smoothing));
                if (cut == 0 || apart <= furthest) return; // cut 0 would part the missing alone, as the last one does
                furthest = apart;
                agree[feature] = for_it + smoothing, disagree[feature] = against + smoothing;
                best.bin[feature] = static_cast<std::int64_t>(cut) - 1, best.missing_above[feature] = missing_above;
            });
        };
        look(sums[feature].missing_below, false);
        if (any_missing[feature]) look(sums[feature].missing_above, true);
    }
}

} // namespace rankwright
