// DCG with a smooth assignment of documents to ranks (Chapelle and Wu 2010).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// Every document has a share in every rank j, in proportion to exp(-(its score - the score of the document at j)² /
// sigma). Fills `value` with each query's sum over ranks of discount · (mean of `gains` with these shares), times the
// query's factor, and `gradient` with its derivatives. Ranks beyond the discounts count nothing.
void smooth_gains(std::span<const double> scores, std::span<const std::int64_t> offsets, std::span<const double> gains,
                  std::span<const double> discounts, std::span<const double> query_factors, double sigma,
                  std::span<double> gradient, std::span<double> value, int threads);

} // namespace rankwright
