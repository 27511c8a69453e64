// The orders of documents as one weight moves: scores plus a multiple of one column.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// For each move m, fills the m-th stretch of `moved` with scores + moves[m] · column, and that of `rows` with the rows
// of each query, highest first, equal scores in row order; the rows of stretch m count from m · documents on.
// Sorting for each move starts from the order of the move before, so moves should ascend. Scores must not be NaN.
void rank_moves(std::span<const double> scores, std::span<const double> column, std::span<const double> moves,
                std::span<const std::int64_t> offsets, std::span<double> moved, std::span<std::int64_t> rows,
                int threads);

} // namespace rankwright
