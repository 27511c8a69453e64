// What each pair of a query's documents weighs because of a metric: what a swap changes at the ranks of the scores, or
// its mean over the orders of tied documents, or over noisy orders.
//
// `place` is a document's index in the order in which pairs are made. Places are ranks, except with noise: then
// documents that reach the top in some order come first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/objectives/lambdas.hpp"
#include "core/objectives/noisy_orders.hpp"
#include "core/objectives/pair_rows.hpp"
#include "core/objectives/tied_blocks.hpp"

namespace rankwright {

// One worker's arrays, used for query after query.
template <typename Real> class PairWeights {
  public:
    PairWeights(const PairData &data, const PairSettings &settings)
        : data_(data), settings_(settings), noisy_(data, settings) {}

    // Reads a query. `row_at` has its rows by rank, and is brought into the order of places.
    void load(const BatchQuery &query, std::span<std::uint32_t> row_at);

    // Whether the arrays below give the weights: no means, no mixtures.
    bool are_swaps() const { return !has_noise() && !settings_.expected_ties && settings_.constant_share == 0.0; }
    // By place, as pair_rows.hpp reads them.
    const Real *worth() const { return has_noise() ? noisy_.worth() : worth_.data(); }
    const Real *above() const { return above_.data(); }
    const Real *below() const { return below_.data(); }
    const Real *scale() const { return scale_.data(); }

    // Pairs of two documents from this place on weigh nothing.
    std::size_t n_rows() const { return n_rows_; }
    // The weight of a pair, without the constant share.
    double weight(std::size_t a, std::size_t b) const;
    // Fills weights[j] with weight(i, j), for places j after i.
    void fill_row(std::size_t i, Real *weights) const;
    // Whether a pair has a document within the truncation at the ranks of the scores: 0, 1, or the share of the orders
    // of tied documents in which it has.
    double counted(std::size_t a, std::size_t b) const;

    const NoisyOrders<Real> &noisy() const { return noisy_; }

  private:
    bool has_noise() const { return settings_.perturbations > 0; }
    void load_ranked(const BatchQuery &query, std::span<const std::uint32_t> row_at);

    const PairData &data_;
    const PairSettings &settings_;
    NoisyOrders<Real> noisy_;
    TiedBlocks<Real> ties_;
    std::size_t n_ = 0, n_counted_ = 0, n_rows_ = 0;
    std::vector<Real> worth_, above_, below_, scale_;
    std::vector<double> ranked_scores_;
};

} // namespace rankwright
