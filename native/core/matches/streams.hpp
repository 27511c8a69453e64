// Texts as numbers: the streams of fields, the terms of queries, and the pairs of a query and a document.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankwright {

inline constexpr std::uint32_t no_term = 0xFFFFFFFF; // the number of a term that no document has

// A field of many documents: the term numbers of document d, in the order of its text, are tokens[offsets[d]] up to
// tokens[offsets[d + 1]].
struct TokenStream {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint32_t> tokens;

    std::span<const std::uint32_t> of_document(std::int64_t document) const {
        const std::int64_t begin = offsets[document];
        return tokens.subspan(begin, offsets[document + 1] - begin);
    }
};

// What a feature looks at: one stream, or several read one after another as one text. View v has the streams
// members[starts[v]] up to members[starts[v + 1]].
struct StreamViews {
    std::span<const std::int64_t> starts;
    std::span<const std::int64_t> members;
    std::span<const double> tokens;       // of all documents together
    std::span<const double> mean_lengths; // of the documents that have such a text
    std::span<const double> stream_mean_lengths;
    double n_documents = 0;

    std::size_t size() const { return mean_lengths.size(); }
    std::span<const std::int64_t> streams_of(std::size_t view) const {
        return members.subspan(starts[view], starts[view + 1] - starts[view]);
    }
};

// The queries. Query q has the different terms starts[q] up to starts[q + 1]; its text is the places of terms among
// these, places[place_starts[q]] up to places[place_starts[q + 1]].
struct MatchedTerms {
    std::span<const std::int64_t> starts;
    std::span<const std::uint32_t> numbers;
    std::span<const double> document_frequencies; // (terms, views)
    std::span<const double> collection_counts;    // (terms, views)
    std::span<const std::int64_t> place_starts;
    std::span<const std::int64_t> places;

    std::size_t size() const { return starts.size() - 1; }
};

// The pairs of query q are rows starts[q] up to starts[q + 1], each with a document.
struct QueryPairs {
    std::span<const std::int64_t> starts;
    std::span<const std::int64_t> documents;
};

// Where a term of the query stands in a text: `term` counts among the query's terms, `position` from 0.
struct Occurrence {
    std::int64_t position;
    std::int64_t term;
};

} // namespace rankwright
