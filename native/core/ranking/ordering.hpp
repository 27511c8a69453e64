// The order of documents within each query.
//
// Query q owns rows offsets[q] to offsets[q + 1], and its ranked list is that same stretch of `rows`.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Fills `rows` with the rows of each query, highest score first, equal scores in row order. Scores must not be NaN.
void rank_rows(std::span<const double> scores, std::span<const std::int64_t> offsets, std::span<std::int64_t> rows,
               int threads);

// Fills `tied` with whether the document at a rank has the score of the one before it in its query.
void mark_ties(std::span<const double> scores, std::span<const std::int64_t> offsets,
               std::span<const std::int64_t> rows, std::span<bool> tied, int threads);

// Puts the rows of each run of tied ranks in the order of their keys, lowest first, equal keys in row order.
void order_ties(std::span<const double> keys, std::span<const bool> tied, std::span<std::int64_t> rows, int threads);

} // namespace rankwright
