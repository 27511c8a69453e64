// A query made ready for the scan of documents.
#pragma once

#include <array>

#include "core/common/simd.hpp"
#include "core/matches/streams.hpp"

namespace rankwright {

// Finds a token among the terms of a query: open addressing, at most a quarter full. Most tokens are none of them:
// where the terms are few, vectors of tokens are compared with each of them, else a table of the last bits of those
// that are tells so at once.
class TermFinder {
  public:
    explicit TermFinder(Simd simd) : simd_(simd) {}
    void set(std::span<const std::uint32_t> numbers);

    // Counts how often each of the query's terms is among these tokens: counts[t · stride], which is 0 before.
    void count_all(std::span<const std::uint32_t> tokens, double *counts, std::size_t stride) const;

    // Adds where the query's terms stand among these tokens.
    void find_all(std::span<const std::uint32_t> tokens, std::vector<Occurrence> &found) const;

  private:
    struct Slot {
        std::uint32_t number;
        std::int32_t term;
    };
    bool may_have(std::uint32_t token) const { return may_have_[token % n_endings]; }
    std::size_t hash(std::uint32_t token) const { return (token * 2654435769U >> 7) & mask_; }
    // The term's place among those of the query, or -1.
    std::int64_t find(std::uint32_t token) const {
        for (std::size_t slot = hash(token);; slot = (slot + 1) & mask_) {
            if (slots_[slot].number == token) return slots_[slot].term;
            if (slots_[slot].number == no_term) return -1;
        }
    }

    static constexpr std::size_t n_endings = 4096;
    Simd simd_;
    std::array<bool, n_endings> may_have_{};
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> known_; // numbers of terms that some document has
    std::vector<std::size_t> known_terms_;
    std::size_t mask_ = 0;
};

// What a query's terms weigh in each view, and where they stand in the query.
class QueryIndex {
  public:
    explicit QueryIndex(Simd simd) : finder_(simd) {}
    void set(const MatchedTerms &queries, std::size_t query, const StreamViews &views);

    std::size_t n_terms() const { return counts_.size(); }
    std::span<const double> counts() const { return counts_; } // how often each term stands in the query
    std::span<const std::int64_t> places() const { return places_; }
    std::span<const double> idf(std::size_t view) const { return of_view(idf_, view); }
    std::span<const double> share(std::size_t view) const { return of_view(share_, view); }
    std::span<const double> collection_count(std::size_t view) const { return of_view(collection_count_, view); }
    const TermFinder &finder() const { return finder_; }

    // The places of a term in the query's text, in order.
    std::span<const std::int64_t> places_of(std::int64_t term) const {
        return std::span(places_by_term_).subspan(place_starts_[term], place_starts_[term + 1] - place_starts_[term]);
    }

    // Whether `second` stands right after `first` somewhere in the query.
    bool follows(std::int64_t first, std::int64_t second) const;

  private:
    std::span<const double> of_view(const std::vector<double> &values, std::size_t view) const {
        return std::span(values).subspan(view * n_terms(), n_terms());
    }
    void set_places(std::span<const std::int64_t> places, std::size_t n_terms);

    TermFinder finder_;
    std::span<const std::int64_t> places_;
    std::vector<double> counts_, idf_, share_, collection_count_; // the last three by view, then by term
    std::vector<std::int64_t> place_starts_, places_by_term_;
};

} // namespace rankwright
