// Numbers that stand for the content of rows, and orders that follow them: they do not depend on where a row stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// Fills `out` with the hash of each row of `n_features` values: a sum over features. 0 adds nothing, so that rows may
// be cut where only zeros follow, and every NaN adds the same.
void hash_rows(std::span<const float> features, std::size_t n_features, std::span<std::uint64_t> out, int threads);

// Words of rows in layers: word w of row r in layer l is words[(l * n_rows + r) * n_words + w].
struct LayeredWords {
    std::span<const std::uint64_t> words;
    std::size_t n_layers = 0, n_rows = 0, n_words = 0;
};

// Fills `out` with a hash of the words of each query, in which each word has its place among those of the query alone:
// what other queries there are, and where this one stands, makes no difference.
void hash_queries(const LayeredWords &layers, std::span<const std::int64_t> offsets, std::span<std::uint64_t> out,
                  int threads);

// Fills `rows` with the rows of each query in turn, queries[0] first, in ascending order of `keys` and where these are
// equal of `ties`; rows that are equal in both stay in order. Query q owns rows offsets[q] to offsets[q + 1].
void order_by_key(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> ties,
                  std::span<const std::int64_t> offsets, std::span<const std::int64_t> queries,
                  std::span<std::int64_t> rows, int threads);

} // namespace rankwright
