// Features of pairs of a query and a document, made of the documents' token streams: each stream is scanned
// once, and the features of a query's documents are computed side by side.
#pragma once

#include <string>
#include <vector>

#include "core/common/simd.hpp"
#include "core/matches/streams.hpp"

namespace rankwright {

// What to compute: for each column the name of a measure, the view that it looks at and its settings.
struct TextColumns {
    std::vector<std::string> measures;
    std::span<const std::int64_t> views;
    std::span<const double> settings; // (columns, width)
    std::size_t width = 0;            // how many settings a column has at most
    std::span<const bool> logs;       // whether ln(1 + value) takes the place of the value
};

// The number of settings that a measure reads of a view with so many streams; throws where there is no such measure.
std::size_t n_settings(const std::string &measure, std::size_t n_streams);

// Fills a row of `out` (pairs, n_features) for each pair; column k goes to places[k]. Other columns stay as they are.
void text_features(const std::vector<TokenStream> &streams, const StreamViews &views, const MatchedTerms &queries,
                   const QueryPairs &pairs, const TextColumns &columns, std::span<const std::int64_t> places,
                   std::span<float> out, std::size_t n_features, int threads, Simd simd = simd_level());

// ln(1 + count) of each count, 0 or more.
void logs_of_counts(std::span<const double> counts, std::span<double> logs, int threads);

} // namespace rankwright
