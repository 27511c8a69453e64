// What terms that many neighbouring documents have can give them at most.
//
// Their counts are spread out, one for each document, so that the documents are bounded side by side, without a
// division or an addition for each posting. Bounds are in single precision and slightly too large: documents whose
// bounds are high enough are scored from the same counts, exactly.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "core/candidates/scoring.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

// Adds the bounds of a term whose addend is weight · count / (count + base + slope · length).
struct AddCountBounds {
    [[gnu::always_inline]] static inline void run(const std::uint8_t *counts, const std::int32_t *lengths,
                                                  std::size_t n, CountBound term, float *bounds) {
        constexpr float least = 1e-30F; // documents without the term are not to divide 0 by 0
        for (std::size_t i = 0; i < n; ++i) {
            const float count = counts[i], length = static_cast<float>(lengths[i]);
            bounds[i] += term.weight * (count / (count + (term.base + term.slope * length + least)));
        }
    }
};

// Adds exact sums, rounded up.
struct AddSums {
    [[gnu::always_inline]] static inline void run(const double *sums, std::size_t n, float *bounds) {
        for (std::size_t i = 0; i < n; ++i) bounds[i] += static_cast<float>(sums[i]) * rounded_up;
    }
};

// Counts the bounds above a bar.
struct CountAbove {
    [[gnu::always_inline]] static inline void run(const float *bounds, std::size_t n, float bar, int *found) {
        int above = 0;
        for (std::size_t i = 0; i < n; ++i) above += bounds[i] > bar ? 1 : 0;
        *found = above;
    }
};

constexpr std::size_t looked_at = 64; // bounds looked at together

// Sets the lowest bit of a byte for each of `looked_at` bounds above a bar. In a word, the first byte is the lowest.
struct FlagAbove {
    [[gnu::always_inline]] static inline void run(const float *bounds, float bar, std::uint64_t *flags) {
        std::array<std::uint8_t, looked_at> above;
        for (std::size_t i = 0; i < looked_at; ++i) above[i] = bounds[i] > bar ? 1 : 0;
        std::memcpy(flags, above.data(), looked_at);
        if constexpr (std::endian::native == std::endian::big)
            for (std::size_t i = 0; i < looked_at / 8; ++i) flags[i] = __builtin_bswap64(flags[i]);
    }
};

class DenseTerms {
  public:
    explicit DenseTerms(Simd simd) : simd_(simd) {}

    bool empty() const { return terms_.empty(); }

    // Whether the counts of the term's postings in the window, which begins at `from`, could be taken: they must be
    // below 256.
    template <typename Scorer>
    bool take(const Scorer &scorer, WeightedTerm term, const std::uint32_t *documents, std::size_t begin,
              std::size_t end, std::uint32_t from) {
        if (counts_.size() == terms_.size()) counts_.emplace_back();
        auto &counts = counts_[terms_.size()];
        counts.fill(0);
        if (!scorer.spread_counts(documents, begin, end, from, counts.data())) return false;
        terms_.push_back(term);
        return true;
    }

    // Bounds the window's documents; `sums` is what other terms give them, or empty.
    template <typename Scorer>
    void bound(const Scorer &scorer, std::uint32_t from, std::size_t n, std::span<const double> sums) {
        std::fill_n(bounds_.begin(), n, 0.0F);
        std::fill_n(bounds_.begin() + n, (looked_at - n % looked_at) % looked_at, -1.0F); // no bar is below 0
        for (std::size_t i = 0; i < terms_.size(); ++i) add_bounds(scorer, from, n, i);
        if (!sums.empty()) run_for<AddSums>(simd_, sums.data(), n, bounds_.data());
    }

    // Adds the bounds of the term taken last.
    template <typename Scorer> void bound_last(const Scorer &scorer, std::uint32_t from, std::size_t n) {
        add_bounds(scorer, from, n, terms_.size() - 1);
    }

    // How many of the first n bounds exceed the bar.
    std::size_t n_above(std::size_t n, double bar) const {
        int found = 0;
        run_for<CountAbove>(simd_, bounds_.data(), n, static_cast<float>(bar) * rounded_down, &found);
        return static_cast<std::size_t>(found);
    }

    // Gives `visit` the places of documents from `begin` on, `looked_at` of them, whose bounds exceed the bar.
    template <typename Visit> void visit_above(std::size_t begin, double bar, Visit visit) const {
        std::array<std::uint64_t, looked_at / 8> flags;
        run_for<FlagAbove>(simd_, bounds_.data() + begin, static_cast<float>(bar) * rounded_down, flags.data());
        for (std::size_t word = 0; word < flags.size(); ++word)
            for (std::uint64_t left = flags[word]; left != 0; left &= left - 1)
                visit(begin + word * 8 + static_cast<std::size_t>(std::countr_zero(left)) / 8);
    }

    // What the terms give a document.
    template <typename Scorer> double score(const Scorer &scorer, std::uint32_t document, std::size_t place) const {
        double score = 0;
        for (std::size_t i = 0; i < terms_.size(); ++i)
            score += scorer.addend_of(terms_[i], counts_[i][place], document);
        return score;
    }

    void clear() { terms_.clear(); }

  private:
    template <typename Scorer>
    void add_bounds(const Scorer &scorer, std::uint32_t from, std::size_t n, std::size_t term) {
        run_for<AddCountBounds>(simd_, static_cast<const std::uint8_t *>(counts_[term].data()), scorer.lengths(from), n,
                                scorer.count_bound(terms_[term]), bounds_.data());
    }

    Simd simd_;
    std::vector<WeightedTerm> terms_;
    std::vector<std::array<std::uint8_t, window>> counts_; // of each term, and some that are kept for later
    std::array<float, window> bounds_;
};

} // namespace rankwright
