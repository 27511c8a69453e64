// Numbers that stand for the content of rows, and orders that follow them: they do not depend on where a row stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// Fills `out` with the hash of each row of `n_features` values: a sum over features. 0 adds nothing, so that rows may
// be cut where only zeros follow, and every NaN adds the same.
void hash_rows(std::span<const float> features, std::size_t n_features, std::span<std::uint64_t> out, int threads);

// Fills `rows` with the rows of each query in turn, queries[0] first, in ascending order of `keys` and where these are
// equal of `ties`; rows that are equal in both stay in order. Query q owns rows offsets[q] to offsets[q + 1].
void order_by_key(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> ties,
                  std::span<const std::int64_t> offsets, std::span<const std::int64_t> queries,
                  std::span<std::int64_t> rows, int threads);

} // namespace rankwright
