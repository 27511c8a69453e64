// The orders in which a query's documents stand when random noise is added to their scores, and what swapping two
// documents changes in these orders on average (YetiRank: Gulin, Kuralenok, Pavlov 2011).
//
// `row` and `place` are those of query_pairs.hpp; `rank` is a place in one noisy order.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "core/objectives/lambdas.hpp"
#include "core/objectives/pair_rows.hpp"

namespace rankwright {

// Fills worth[place] with that of the document there, and pads it.
template <typename Real>
void gather_worth(const PairData &data, const BatchQuery &query, std::span<const std::uint32_t> row_at,
                  std::vector<Real> &worth) {
    pad(worth, row_at.size(), Real(0));
    for (std::size_t place = 0; place < row_at.size(); ++place) {
        worth[place] = static_cast<Real>(data.worth[query.first_row + row_at[place]]);
    }
}

// One worker's arrays, used for query after query.
template <typename Real> class NoisyOrders {
  public:
    NoisyOrders(const PairData &data, const PairSettings &settings) : data_(data), settings_(settings) {}

    // Draws the orders of a query. `row_at` has its rows by score, which without noise is the order of which runs of
    // equal scores are shuffled. Brings it into the order of places: the documents that are among the counted ranks of
    // any order, and the first `n_tops`, come before all others. Returns how many these are.
    std::size_t load(const BatchQuery &query, std::span<std::uint32_t> row_at, std::size_t n_tops);

    std::size_t n_orders() const { return static_cast<std::size_t>(settings_.perturbations); }
    // How many ranks of an order count: a pair weighs nothing where both of its documents stand below them.
    std::size_t n_counted() const { return n_counted_; }
    // The places of an order's documents, highest noisy score first. Where only neighbours within the counted ranks
    // matter, the order ends one rank below these.
    std::span<const std::uint32_t> order(std::size_t k) const {
        return std::span(order_).subspan(k * n_kept_, n_kept_);
    }

    const Real *worth() const { return worth_.data(); } // by place

    // Fills weights[rank], for so many ranks, with what swapping the document at that rank of order k with the next
    // changes, over the number of orders.
    void fill_neighbours(std::size_t k, std::span<Real> weights) const;
    // What swapping the documents at two places changes, over the number of orders, in all orders together.
    double weight(std::size_t a, std::size_t b) const;
    // Fills weights[j] with weight(i, j) for all places j from i + 1 on.
    void fill_row(std::size_t i, Real *weights) const;

  private:
    // Whether a swap of neighbours changes the same at a rank whatever stands elsewhere.
    bool has_steps() const { return settings_.neighbours && settings_.delta == Delta::discounted_gain; }
    // The orders hold rows until set_places turns them into places.
    void draw(const BatchQuery &query, std::span<const std::uint32_t> ranked);
    std::size_t bring_up_tops(std::span<std::uint32_t> row_at, std::size_t n_tops);
    void set_places(std::span<const std::uint32_t> row_at);
    void draw_noise(std::uint64_t stream);
    void add_noise(const BatchQuery &query, double highest, double times);
    void order_tops(std::span<std::uint32_t> order);
    void find_steps(float score_span);
    bool order_by_counts(std::span<std::uint32_t> order);
    void set_steps();
    double weight_in(std::size_t k, std::size_t a, std::size_t b) const;
    void order_by_keys(std::span<std::uint32_t> order);
    void add_orders(std::size_t k, std::size_t n_orders, std::size_t i, Real *weights) const;
    void add_long_order(std::size_t k, std::size_t i, Real *weights) const;

    const PairData &data_;
    const PairSettings &settings_;
    std::size_t n_ = 0, stride_ = 0, n_counted_ = 0, n_kept_ = 0;
    std::vector<Real> worth_;
    std::vector<std::uint32_t> order_; // one order after the other
    std::vector<std::uint32_t> place_of_;
    // By order and place, each order at a multiple of `stride_`: the rank, below which rank a partner counts, and the
    // swap arrays of deltas.hpp.
    std::vector<Real> rank_, limit_, above_, below_, scale_;
    // By rank, what a swap with the next changes over the number of orders, but for the difference of worths; the same
    // for every query.
    std::vector<Real> steps_;
    std::vector<Real> ranked_worth_, ranked_above_, ranked_below_, ranked_scale_;
    std::vector<double> noise_;
    std::vector<float> noisy_; // scores with noise
    std::vector<std::int16_t> score_steps_, counts_;
    std::vector<std::uint64_t> keys_, scratch_;
    std::vector<bool> is_top_; // by row, in any order
};

// Puts consecutive rows of equal scores in random order.
void shuffle_ties(std::span<const double> scores, std::uint64_t stream, std::span<std::uint32_t> ranked,
                  std::vector<std::uint64_t> &keys);

} // namespace rankwright
