// The order of documents within each query.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Fills `rows` with the rows of each query, highest score first, equal scores in row order.
// Query q owns rows offsets[q] to offsets[q + 1]. Scores must not be NaN.
void rank_rows(std::span<const double> scores, std::span<const std::int64_t> offsets, std::span<std::int64_t> rows,
               int threads);

} // namespace rankwright
