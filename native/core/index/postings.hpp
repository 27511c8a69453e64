// Postings: the documents of each term in order, with how often each field of them has it.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Streams of terms of several fields. starts has n_documents + 1 entries for each field, one field after another.
struct FieldStreams {
    std::span<const std::int64_t> starts;
    std::span<const std::uint32_t> tokens;
    std::size_t n_fields;

    std::size_t row() const { return starts.size() / n_fields; }
    std::size_t n_documents() const { return row() - 1; }
};

// Postings to be filled; counts has as much room for each field as documents.
struct PostingRoom {
    std::span<std::int64_t> starts; // of each term, and the end
    std::span<std::uint32_t> documents;
    std::span<std::uint32_t> counts;
};

void invert_streams(const FieldStreams &streams, const PostingRoom &postings);

// Rows of numbers, and the place in `placed` where each is to begin.
template <typename T> struct RowCopies {
    std::span<const std::int64_t> starts;
    std::span<const T> rows;
    std::span<const std::int64_t> places;
    T added; // to each number
    std::span<T> placed;
};

template <typename T> void place_rows(const RowCopies<T> &copies, int threads);

// The postings of one field.
template <typename Count> struct FieldPostings {
    std::span<const std::int64_t> starts;
    std::span<const std::uint32_t> documents;
    std::span<const Count> counts;
    std::span<const std::int32_t> lengths; // of each document
};

// What is found of each term, and of each block of its postings.
struct PostingSummary {
    std::size_t block;
    std::span<const std::int64_t> block_starts; // of each term, and the end
    std::span<std::int64_t> frequencies;
    std::span<std::int64_t> occurrences;
    std::span<std::uint32_t> most;  // of the counts
    std::span<std::uint32_t> least; // of the lengths of documents whose count is not 0
};

template <typename Count>
void summarise_postings(const FieldPostings<Count> &postings, const PostingSummary &summary, int threads);

} // namespace rankwright
