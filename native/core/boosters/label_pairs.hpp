// Pairs of a query's documents with different labels, with the weights of boosting; pairs are never stored.
//
// Query q owns order[offsets[q]] to order[offsets[q + 1]]: its judged rows, by ascending label. A pair's weight is
// its query's weight times the weights of its two documents.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

struct LabelPairs {
    std::span<const float> labels;         // one per row
    std::span<const double> weights;       // one per row
    std::span<const double> query_weights; // one per query
    std::span<const std::int64_t> offsets; // of queries in `order`
    std::span<const std::int64_t> order;

    std::size_t n_queries() const { return offsets.size() - 1; }
    std::span<const std::int64_t> rows_of(std::size_t query) const {
        return order.subspan(offsets[query], offsets[query + 1] - offsets[query]);
    }
};

// Bin codes, a stretch of rows for each feature; a feature's missing values have the code n_bins[feature].
struct FeatureCodes {
    const std::uint8_t *codes;
    std::size_t n_rows;
    std::span<const std::int64_t> n_bins;

    std::size_t n_features() const { return n_bins.size(); }
    std::span<const std::uint8_t> of(std::size_t feature) const { return {codes + feature * n_rows, n_rows}; }
};

// The best stump of each feature: it puts documents whose code is above `bin` above the others, and documents without
// the feature above if `missing_above`.
struct BestStumps {
    std::span<std::int64_t> bin;
    std::span<bool> missing_above;
};

// RankBoost's pair weights are weight · exp(score of the worse - score of the better). Fills, for each row, the weight
// of the pairs in which it is the better document less that of those in which it is the worse (rows outside `order`
// have 0), and for each query the weight of all its pairs. This takes two passes over a query's rows, however many
// labels there are.
void pair_potentials(std::span<const double> scores, const LabelPairs &pairs, std::span<double> potentials,
                     std::span<double> totals, int threads);

// Fills, for each feature, the stump whose sum of potentials above is largest in size, and that sum.
void potential_stumps(const FeatureCodes &features, std::span<const double> potentials, std::span<double> sums,
                      const BestStumps &best, int threads);

// The same with FRank's pair weights, weight · √P · (1 - P), where P is the logistic function of the better document's
// score less the worse one's: twice the slope of the fidelity loss. It goes through every pair.
void fidelity_potentials(std::span<const double> scores, const LabelPairs &pairs, std::span<double> potentials,
                         std::span<double> totals, int threads);

// `above` has a bit for each of up to eight stumps: whether it puts the row above. Fills, for each query and each of
// eight stumps, the sums of FRank's weights over the pairs that it orders right and over those that it orders wrong.
void fidelity_agreement(std::span<const double> scores, const LabelPairs &pairs, std::span<const std::uint8_t> above,
                        std::span<double> agree, std::span<double> disagree, int threads);

} // namespace rankwright
