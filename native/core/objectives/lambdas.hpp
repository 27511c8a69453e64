// λ-gradients of pairs of documents, over ragged queries.
//
// `row` counts documents of the whole dataset or, where said, of one query; `rank` is a place in the order of the
// current scores, 0 the top. Results do not depend on the number of threads nor on the processor.
#pragma once

#include <cstdint>
#include <span>

#include "core/objectives/batches.hpp"
#include "core/objectives/deltas.hpp"
#include "core/objectives/pair_losses.hpp"

namespace rankwright {

// The part of a dataset that the objective reads.
struct PairData {
    WeighedGroups groups;
    std::span<const float> labels; // NaN: unjudged, in no pair; empty where pairs are given
    std::span<const double> worth; // as Delta reads it; empty for Delta::constant
    std::span<const double> discount;
};

// kernels/records.py explains the fields.
struct PairSettings {
    PairLoss loss;
    double shape;
    Delta delta;
    std::int64_t truncation;
    std::int64_t sampled;
    bool pair_equal_labels;
    double certainty;
    bool query_norm;
    bool gap_norm;
    bool shuffle_ties;
    bool expected_ties;
    std::int64_t perturbations;
    double noise;
    bool neighbours;
    double constant_share;

    // Whether the order of the scores matters, for any query.
    bool reads_ranks() const { return delta != Delta::constant || truncation != 0; }
    // Whether the pairs of labels are neighbours in orders that noise makes, whatever the order of the scores.
    bool pairs_noisy_neighbours() const { return neighbours && noise != 0.0 && sampled == 0; }
};

// Pairs given one by one: those of query q are first_pair[q] to first_pair[q + 1], as rows of the dataset.
struct PairTable {
    std::span<const std::int64_t> first_pair, better, worse;
    std::span<const float> probability, weight;
};

// Queries whose documents of different labels are pairs. `by_label` has each query's rows, highest label first,
// unjudged last; it is read only where the delta is constant or pairs are sampled, and may otherwise be empty.
struct LabelledQueries {
    PairData data;
    std::span<const std::int64_t> by_label;
    PairSettings settings;
};

// `Real` is what forces are computed in: float is enough for training, double is for diagnostics.
template <typename Real>
void label_pair_lambdas(const LabelledQueries &pairs, const Batch &batch, const LambdaSpans<Real> &out, int threads);

template <typename Real>
void preference_lambdas(const PairData &data, const PairTable &table, const PairSettings &settings, const Batch &batch,
                        const LambdaSpans<Real> &out, int threads);

} // namespace rankwright
