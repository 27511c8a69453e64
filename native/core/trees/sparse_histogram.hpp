// Sums of a leaf's documents by the places of sparse codes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/binning/sparse_codes.hpp"
#include "core/common/simd.hpp"
#include "core/trees/histogram.hpp"

namespace rankwright {

// A histogram has a word for each place, as most features are set in so few rows that their sums always fit one. Those
// of crowded features would overflow: after every few thousand rows they are moved to wide sums behind the words,
// first the gradients of all crowded places, then the rest. Usual codes have no sums: they are what a leaf has more.
class SparseLayout {
  public:
    SparseLayout(const Codes<const SparseCode> &codes);

    std::size_t n_words() const { return n_places_ + 2 * n_crowded_; }
    std::size_t n_places() const { return n_places_; }

    struct Run { // of crowded places
        std::uint32_t first, end;
        std::uint32_t before; // crowded places of earlier runs
    };
    std::span<const Run> crowded() const { return crowded_; }
    bool is_crowded(std::uint32_t place) const;
    // The sums at a place of a histogram.
    Sums narrow_sums(const std::uint64_t *words, std::uint32_t place) const { return Packed{words[place]}.sums(); }
    // Where the wide sums of a crowded place are: the word of its gradient; the rest is `n_crowded` words later.
    std::size_t wide_word(std::uint32_t place) const;
    std::size_t n_crowded() const { return n_crowded_; }

  private:
    std::size_t n_places_;
    std::vector<Run> crowded_;
    std::size_t n_crowded_ = 0;
};

// Fills a histogram with the sums of the given rows.
void build_sparse(const Codes<const SparseCode> &codes, const SparseLayout &layout,
                  std::span<const std::int32_t> quantised, RowRun rows, std::uint64_t *words);

// Words [begin, end) plus, or less, those of another histogram.
void add_words(std::uint64_t *words, const std::uint64_t *others, std::size_t begin, std::size_t end, Simd simd);
void subtract_words(std::uint64_t *words, const std::uint64_t *others, std::size_t begin, std::size_t end, Simd simd);

} // namespace rankwright
