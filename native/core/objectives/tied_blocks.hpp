// What swapping two documents changes on average over all orders of documents with equal scores.
//
// It is known exactly where a swap changes |worth - worth'| · |discount - discount'|. Let A be a block of tied
// documents above a block B. A pair from both counts where the document of A stands within the truncation, so on
// average it changes
//     (share of A's ranks that count) · (their mean discount - mean discount of B's ranks),
// which has the form of every delta (deltas.hpp). A pair from one block of m documents takes each of its m (m - 1) / 2
// pairs of ranks with the same chance.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/objectives/deltas.hpp"

namespace rankwright {

// Blocks of equal scores, by rank.
template <typename Real> class TiedBlocks {
  public:
    // Sets the blocks of `scores`, which fall, and replaces the discounts in `arrays` by their means over blocks. Only
    // pairs with a document among the first `n_counted` ranks count.
    void average(std::span<const double> scores, std::size_t n_counted, const SwapArrays<Real> &arrays);

    // One more than the last rank that can come to stand within the truncation.
    std::size_t n_reached() const { return n_reached_; }
    std::size_t block_end(std::size_t rank) const { return end_[rank]; }
    // For two documents of the same block: the mean difference of their discounts, 0 where their pair does not count;
    // and the share of orders in which it counts.
    Real difference(std::size_t rank) const { return difference_[rank]; }
    Real counted(std::size_t rank) const { return counted_[rank]; }

  private:
    void average_block(std::size_t first, std::size_t last, std::size_t n_counted, const SwapArrays<Real> &arrays);

    std::size_t n_reached_ = 0;
    std::vector<std::size_t> end_;
    std::vector<Real> difference_, counted_;
};

} // namespace rankwright
