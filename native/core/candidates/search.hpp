// The documents that score highest for each query, exactly, found without scoring all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/candidates/scoring.hpp"

namespace rankwright {

constexpr std::uint32_t no_term = 0xFFFFFFFF; // the number of a term that the segment does not have

// The terms of each document in order, field by field; empty where no phrase is asked for.
struct SegmentStreams {
    std::vector<std::span<const std::int64_t>> offsets;
    std::vector<std::span<const std::uint32_t>> tokens;
};

// The distinct terms of each query.
struct QueryTerms {
    std::span<const std::int64_t> starts; // of each query, and the end
    std::span<const std::uint32_t> terms;
    std::span<const double> weights, rarities;
    std::span<const double> lengths; // of each query

    std::size_t size() const { return starts.size() - 1; }
};

// Sequences of terms that a document must have, all of a query's.
struct QueryPhrases {
    std::span<const std::int64_t> starts;      // of each query, and the end
    std::span<const std::int64_t> term_starts; // of each phrase, and the end
    std::span<const std::uint32_t> terms;
};

// The best documents of each query so far: a row a query, best first; `sizes` tells how many there are.
struct TopDocuments {
    std::span<double> scores;
    std::span<std::int64_t> documents;
    std::span<std::int64_t> sizes;

    std::size_t k() const { return sizes.empty() ? 0 : scores.size() / sizes.size(); }
};

// Adds a segment's documents to the best ones. Its documents are numbered from `first` on, which is more than those of
// earlier segments; where `kept` is not empty, documents whose entry is 0 are passed over. Of documents with equal
// scores the first is better. Numbers of files that lead out of their arrays throw.
void top_documents(const SegmentPostings &postings, const SegmentStreams &streams, const QueryTerms &queries,
                   const QueryPhrases &phrases, const TextScorer &scorer, std::span<const std::uint8_t> kept,
                   std::int64_t first, const TopDocuments &tops, int threads);

} // namespace rankwright
