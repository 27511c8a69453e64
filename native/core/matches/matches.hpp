// What a scan of documents finds of a query, and the features that are made of it.
#pragma once

#include "core/common/simd.hpp"
#include "core/matches/query_index.hpp"

namespace rankwright {

using Settings = std::span<const double>;

// A query in one of the streams that texts are made of.
struct StreamBlock {
    const double *counts; // (terms, stride)
    const double *lengths;
    double mean_length;
};

// A query in the texts of several documents, side by side: all that features of counts are computed from. Of each text
// there is one number in each row of an array; rows are `stride` long, a multiple of eight, with zeros behind the last.
struct TextBlock {
    const QueryIndex &query;
    std::size_t view;
    double n_documents;
    double mean_length;
    std::size_t stride;
    const double *counts;      // of each of the query's terms in each text: (terms, stride)
    const double *lengths;     // in tokens
    const double *n_different; // tokens; only counted where a feature asks for it
    std::span<const StreamBlock> streams;
};

// A query in a text that has one of its terms at least: what features of positions are computed from.
struct Match {
    const QueryIndex &query;
    std::size_t view;
    double mean_length;
    double length;
    double n_covered; // how many of the query's terms the text has
    std::span<const Occurrence> occurrences;

    std::size_t n_terms() const { return query.n_terms(); }
};

// A feature of how often terms occur, of all texts of a block.
struct CountMeasure {
    const char *name;
    std::size_t n_settings;
    void (*fill)(Simd simd, const TextBlock &block, Settings settings, double *values);
};

// A feature of where terms occur; 0 for a text that has none.
struct PositionMeasure {
    const char *name;
    std::size_t n_settings;
    double (*value)(const Match &match, Settings settings);
};

inline constexpr std::size_t of_streams = 99; // a weight and a b for each stream, after k1

std::span<const CountMeasure> count_measures();
std::span<const PositionMeasure> position_measures();

// ln(1 + value) of `stride` values.
void take_logs(Simd simd, double *values, std::size_t stride);

} // namespace rankwright
