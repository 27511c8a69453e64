// The pairs of one query at a time: documents brought into order, forces added up, results given back by row.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/objectives/lambdas.hpp"
#include "core/objectives/pair_rows.hpp"
#include "core/objectives/pair_weights.hpp"

namespace rankwright {

template <typename Real> class QueryPairs;

// The forces on one query's documents, until the worker that summed them takes the next query.
template <typename Real> class QueryForces {
  public:
    // By row.
    void write(std::span<Real> gradient, std::span<Real> curvature) const { pairs_.unload(gradient, curvature); }
    double cost() const { return pairs_.cost(); } // NaN where pairs are left out

  private:
    friend class QueryPairs<Real>;
    explicit QueryForces(const QueryPairs<Real> &pairs) : pairs_(pairs) {}

    const QueryPairs<Real> &pairs_;
};

// One worker's arrays, used for query after query. A document's `place` is its index in the order it was loaded in; its
// `row` counts from the query's first.
template <typename Real> class QueryPairs {
  public:
    QueryPairs(const PairData &data, const PairSettings &settings, bool with_cost)
        : data_(data), settings_(settings), loops_(pair_loops<Real>(settings.loss, with_cost, widest_vectors())),
          rule_{static_cast<Real>(settings.shape), settings.delta == Delta::constant, settings.pair_equal_labels,
                static_cast<Real>(settings.certainty), settings.gap_norm},
          weights_(data, settings) {
        if constexpr (sizeof(Real) == sizeof(float)) {
            if (settings.loss == PairLoss::logistic) near_row_ = near_logistic_row(with_cost, widest_vectors());
        }
    }

    // All pairs of documents of different labels, as label_pair_lambdas explains them. `ranked` has the batch's rows,
    // each query's highest score first, equal scores in row order; it may be empty where the order of the scores does
    // not matter.
    QueryForces<Real> pairs_of_labels(const BatchQuery &query, std::span<const std::int64_t> by_label,
                                      std::span<const std::int64_t> ranked);
    // The pairs that the table has of the query.
    QueryForces<Real> pairs_of_table(const BatchQuery &query, const PairTable &table,
                                     std::span<const std::int64_t> ranked);

  private:
    friend class QueryForces<Real>;
    static constexpr std::size_t buffered_pairs = 16 * lanes;

    // Whether every pair of a query of n documents counts, whatever the scores.
    bool is_whole(std::size_t n) const {
        return settings_.truncation == 0 || n <= static_cast<std::size_t>(settings_.truncation) + 1;
    }

    // Places are ranks.
    void load_by_rank(const BatchQuery &query, std::span<const std::int64_t> ranked);
    // Places follow `rows` of the dataset or, where that is empty, are rows.
    void load_by_row(const BatchQuery &query, std::span<const std::int64_t> rows);
    // Places are rows, and weights come from noisy orders alone.
    void load_noisy(const BatchQuery &query);

    // Of the query that is loaded.
    void add_ranked_pairs();    // places are ranks
    void add_neighbour_pairs(); // in noisy orders
    void add_label_pairs();     // places follow the labels
    void add_sampled_pairs(std::span<const std::int64_t> by_label);
    void add_listed_pairs(const PairTable &pairs, std::size_t first, std::size_t last);

    void unload(std::span<Real> gradient, std::span<Real> curvature) const;
    double cost() const {
        return is_whole(query_.n) ? query_.weight * sums_.cost : std::numeric_limits<double>::quiet_NaN();
    }

    void gather();
    void gather_odds(double score_span);
    void find_places();
    void add_row(std::size_t i, std::size_t first, const Real *pair_weights = nullptr);
    void add_weighed_rows();
    void weigh_neighbours(std::span<const std::uint32_t> order);
    template <typename Each> void for_sampled_pairs(std::span<const std::int64_t> by_label, Each &&each);
    template <typename ForPairs> void add_pairs(ForPairs &&for_pairs);
    double weight_of_documents(std::size_t a, std::size_t b) const;
    void write_pair(std::size_t a, std::size_t b, double target, double weight);
    void buffer_pair(std::size_t a, std::size_t b, double target, double weight);
    void empty_buffer();

    const PairData &data_;
    const PairSettings &settings_;
    PairLoops<Real> loops_;
    RowLoop<Real> near_row_ = nullptr; // where exponentials of documents will do
    PairRule<Real> rule_;

    BatchQuery query_{};
    PairSums sums_;
    std::vector<std::uint32_t> row_at_, place_of_;
    std::vector<std::uint64_t> tie_keys_;
    PairWeights<Real> weights_; // not read where the delta is constant
    std::vector<Real> row_weights_;
    bool has_odds_ = false;
    std::vector<Real> odds_, odds_against_;
    std::vector<Real> score_, label_, weight_, gradient_, curvature_;

    struct {
        std::vector<Real> gap, target, weight, force, curvature;
    } neighbours_; // by rank, with the next one
    std::vector<Real> ordered_scores_, ordered_labels_;

    std::size_t buffered_ = 0;
    std::uint32_t a_[buffered_pairs], b_[buffered_pairs];
    alignas(64) Real gap_[buffered_pairs], target_[buffered_pairs], pair_weight_[buffered_pairs];
    alignas(64) Real force_[buffered_pairs], pair_curvature_[buffered_pairs];
};

} // namespace rankwright
