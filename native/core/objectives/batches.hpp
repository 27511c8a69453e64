// The input and output of every λ-kernel: scores of some queries, and forces on their documents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/common/counter_random.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

// Query q of the dataset owns rows offsets[q] to offsets[q + 1]. Empty weights are all 1.
struct WeighedGroups {
    std::span<const std::int64_t> offsets;
    std::span<const float> document_weights, query_weights;
};

// The queries asked for, the scores of their rows (those of queries[k] are starts[k] to starts[k + 1]), and the key
// of the random numbers.
struct Batch {
    std::span<const double> scores;
    std::span<const std::int64_t> queries, starts;
    std::uint64_t key;
};

// Gradients and curvatures are in the order of the scores. `cost` is one per query of the batch, NaN where none exists;
// or empty.
template <typename Out> struct LambdaSpans {
    std::span<Out> gradient, curvature;
    std::span<double> cost;
};

// One query of a batch.
struct BatchQuery {
    std::size_t query = 0;     // its number in the dataset
    std::size_t first_row = 0; // its first row in the dataset
    std::size_t start = 0, n = 0;
    double weight = 1.0;
    std::uint64_t stream = 0; // of random numbers
    std::span<const double> scores;
};

inline BatchQuery query_of(const Batch &batch, const WeighedGroups &groups, std::size_t k) {
    const auto query = static_cast<std::size_t>(batch.queries[k]);
    const auto start = static_cast<std::size_t>(batch.starts[k]);
    const auto n = static_cast<std::size_t>(batch.starts[k + 1]) - start;
    return {.query = query,
            .first_row = static_cast<std::size_t>(groups.offsets[query]),
            .start = start,
            .n = n,
            .weight = groups.query_weights.empty() ? 1.0 : groups.query_weights[query],
            .stream = stream_of(batch.key, query),
            .scores = batch.scores.subspan(start, n)};
}

// Zeros where there are no scores.
struct ScoreRange {
    double lowest = 0.0, highest = 0.0;
};

// In lanes, which need not wait for one another.
inline ScoreRange range_of(std::span<const double> scores) {
    constexpr std::size_t n_lanes = 4;
    if (scores.empty()) return {};
    ScoreRange lanes[n_lanes];
    std::fill(lanes, lanes + n_lanes, ScoreRange{scores[0], scores[0]});
    const auto widen = [](ScoreRange &range, double score) {
        range = {std::min(range.lowest, score), std::max(range.highest, score)};
    };
    const std::size_t n_in_lanes = scores.size() / n_lanes * n_lanes;
    for (std::size_t i = 0; i < n_in_lanes; i += n_lanes) {
        for (std::size_t lane = 0; lane < n_lanes; ++lane) widen(lanes[lane], scores[i + lane]);
    }
    for (const double score : scores.subspan(n_in_lanes)) widen(lanes[0], score);
    ScoreRange all = lanes[0];
    for (const ScoreRange &lane : lanes) {
        all = {std::min(all.lowest, lane.lowest), std::max(all.highest, lane.highest)};
    }
    return all;
}

// Calls body(worker, k, query) for every query of the batch, the k-th being `query`, on several threads; each thread
// makes its own worker with `make_worker`.
template <typename MakeWorker, typename Body>
void for_each_query(const Batch &batch, const WeighedGroups &groups, int threads, MakeWorker &&make_worker,
                    Body &&body) {
    constexpr std::size_t queries_at_a_time = 32;
    parallel_for(batch.queries.size(), threads, queries_at_a_time, [&](std::size_t begin, std::size_t end) {
        auto worker = make_worker();
        for (std::size_t k = begin; k < end; ++k) body(worker, k, query_of(batch, groups, k));
    });
}

} // namespace rankwright
