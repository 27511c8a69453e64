// Pairs of a query whose scores are not far enough apart, summed for each document without forming them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// Query q owns documents offsets[q] to offsets[q + 1]. `levels` orders a query's documents, from 0; a pair has two of
// different levels, and is active where the score of the better one is less than 1 above the other's. Its weight is the
// query's factor times those of both documents (empty: 1) times level_weights[better level · n_levels + worse level]
// (empty: 1).
struct MarginPairs {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> levels;
    std::span<const double> document_weights;
    std::span<const double> query_factors;
    std::span<const double> level_weights;
    std::size_t n_levels = 0; // of `level_weights`
};

// Filled, for each document: the weight of its active partners that are worse (below) and better (above), and the sums
// of values over them with the same weights.
struct PairSums {
    std::span<double> weight_below;
    std::span<double> sum_below;
    std::span<double> weight_above;
    std::span<double> sum_above;
};

// O(n log n) per query of n documents; O(n · levels) with level weights.
void pair_margins(const MarginPairs &pairs, std::span<const double> scores, std::span<const double> values,
                  const PairSums &sums, int threads);

} // namespace rankwright
