// What a scan of a document finds of a query, and the features that are made of it.
#pragma once

#include "core/matches/query_index.hpp"

namespace rankwright {

// A query in one of the streams that a text is made of.
struct StreamMatch {
    std::span<const double> counts; // of each of the query's terms
    double length;
    double mean_length;
};

// A query in a text: all that features are computed from.
struct Match {
    const QueryIndex &query;
    std::size_t view;
    double n_documents;
    double mean_length;
    double length;                  // of the text, in tokens
    double n_different;             // tokens of the text; only counted where a feature asks for it
    std::span<const double> counts; // of each of the query's terms in the text
    std::span<const Occurrence> occurrences;
    std::span<const StreamMatch> streams; // those of the view, in its order

    std::size_t n_terms() const { return counts.size(); }
};

// Features that look at how often terms occur.
double covered_terms(const Match &match);
double covered_share(const Match &match);
double covered_idf_share(const Match &match);
double boolean_match(const Match &match);
double vector_space(const Match &match);
double bm25(const Match &match, double k1, double b);
double bm25f(const Match &match, std::span<const double> settings); // k1, then weight and b of each stream
double absolute_discount(const Match &match, double discount);
double dirichlet(const Match &match, double mu);
double jelinek_mercer(const Match &match, double background);
double dph(const Match &match);

// Features that look at where terms occur.
double shortest_window(const Match &match);
double first_position(const Match &match);
double phrase_count(const Match &match);
double ordered_phrase_count(const Match &match, double slack);
double ordered_pairs(const Match &match, double within);
double unordered_pairs(const Match &match, double within);
double longest_run(const Match &match);
double closeness(const Match &match, double k1, double b);
double begins_with_query(const Match &match);
double equals_query(const Match &match);

} // namespace rankwright
