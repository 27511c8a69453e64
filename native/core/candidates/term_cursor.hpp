// A term's postings, walked from window to window of documents.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "core/candidates/scoring.hpp"

namespace rankwright {

// The first posting from `low` on whose document is `wanted` or later; steps double until one is found beyond.
inline std::size_t gallop(const std::uint32_t *documents, std::size_t low, std::size_t end, std::uint32_t wanted) {
    std::size_t step = 1, high = low;
    while (high < end && documents[high] < wanted) {
        low = high + 1;
        high = end - high > step ? high + step : end;
        step *= 2;
    }
    return std::lower_bound(documents + low, documents + std::max(low, high), wanted) - documents;
}

// The same, searched for on both sides of `near`, where it is expected.
inline std::size_t gallop_from(const std::uint32_t *documents, std::size_t near, std::size_t low, std::size_t end,
                               std::uint32_t wanted) {
    if (near >= end) near = end == low ? low : end - 1;
    if (near == end || documents[near] < wanted) return gallop(documents, near, end, wanted);
    std::size_t step = 1, high = near;
    while (near > low && documents[near] >= wanted) {
        high = near;
        near = near - low > step ? near - step : low;
        step *= 2;
    }
    return std::lower_bound(documents + near, documents + high, wanted) - documents;
}

template <typename Scorer> class TermCursor {
  public:
    TermCursor(const SegmentPostings &postings, const Scorer &scorer, WeightedTerm term, std::size_t number)
        : documents_(postings.documents.data()), scorer_(&scorer), term_(term),
          begin_(static_cast<std::size_t>(postings.starts[number])),
          end_(static_cast<std::size_t>(postings.starts[number + 1])), place_(begin_),
          first_block_(static_cast<std::size_t>(postings.block_starts[number])),
          n_blocks_((end_ - begin_ + postings_in_block - 1) / postings_in_block),
          share_(static_cast<double>(end_ - begin_) / static_cast<double>(postings.n_documents())) {
        const auto stored = static_cast<std::size_t>(postings.block_starts[number + 1]) - first_block_;
        if (stored != n_blocks_) throw std::invalid_argument("a term has another number of blocks than its postings");
    }

    // Goes to the first block that ends at `from` or later, and finds what a posting in [from, to) can add at most.
    void enter(std::uint32_t from, std::uint32_t to) {
        while (block_ < n_blocks_ && last_of(block_) < from) ++block_;
        most_ = 0;
        for (std::size_t block = block_; block < n_blocks_ && documents_[start_of(block)] < to; ++block) {
            most_ = std::max(most_, bound_of(block));
            if (last_of(block) >= to) break;
        }
    }
    bool is_done() const { return block_ == n_blocks_; }
    double most() const { return most_; }

    // A document at or before the next one from `from` on.
    std::uint32_t next_after(std::uint32_t from) const {
        std::size_t block = block_;
        while (block < n_blocks_ && last_of(block) < from) ++block;
        return block == n_blocks_ ? 0xFFFFFFFF : std::max(from, documents_[start_of(block)]);
    }

    // The postings of documents in [from, to).
    void find(std::uint32_t from, std::uint32_t to, std::size_t &begin, std::size_t &end) const {
        begin = gallop(documents_, std::max(place_, start_of(std::min(block_, n_blocks_))), end_, from);
        end = gallop(documents_, begin, end_, to);
    }

    // The same, after which only later documents are asked for.
    void take(std::uint32_t from, std::uint32_t to, std::size_t &begin, std::size_t &end) {
        find(from, to, begin, end);
        place_ = end;
    }

    // What the term adds to a document; documents are asked for in their order.
    double at(std::uint32_t document) {
        const std::size_t low = std::max(place_, start_of(block_));
        if (low >= end_) return 0;
        const double passed = document > documents_[low] ? document - documents_[low] : 0;
        place_ = gallop_from(documents_, low + static_cast<std::size_t>(passed * share_), low, end_, document);
        return place_ < end_ && documents_[place_] == document ? scorer_->addend(term_, place_) : 0;
    }

    WeightedTerm term() const { return term_; }
    std::size_t begin() const { return begin_; }
    std::size_t size() const { return end_ - begin_; }
    double share() const { return share_; }

  private:
    std::size_t start_of(std::size_t block) const { return std::min(begin_ + block * postings_in_block, end_); }
    std::uint32_t last_of(std::size_t block) const { return documents_[start_of(block + 1) - 1]; }
    double bound_of(std::size_t block) {
        if (block == bounded_) return bound_;
        bounded_ = block;
        return bound_ = scorer_->bound(term_, first_block_ + block);
    }

    const std::uint32_t *documents_;
    const Scorer *scorer_;
    WeightedTerm term_;
    std::size_t begin_, end_, place_; // all postings before `place` are of earlier documents
    std::size_t first_block_, n_blocks_, block_ = 0;
    double share_;                                       // of the documents, that have the term
    std::size_t bounded_ = static_cast<std::size_t>(-1); // the block whose bound is known
    double bound_ = 0, most_ = 0;
};

} // namespace rankwright
