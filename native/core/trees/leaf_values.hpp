// The value of each leaf: the Newton step of its documents.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/common/team.hpp"
#include "core/trees/exchange.hpp"

namespace rankwright {

struct TrueSums {
    double gradient = 0.0;
    double curvature = 0.0;
};

struct RowRange {
    std::size_t begin;
    std::size_t count;
};

// The largest absolute values of gradient and curvature, or more.
struct LargestForces {
    double gradient;
    double curvature;
};

// The sums of gradient and curvature over the rows of each leaf, here and where `exchange` leads. They are sums of
// whole numbers, of steps of 2^-33 of the largest value or finer, so that their order does not matter.
std::vector<TrueSums> sum_leaves(std::span<const RowRange> leaves, std::span<const std::uint32_t> rows,
                                 std::span<const float> gradient, std::span<const float> curvature,
                                 const LargestForces &largest, Team &team, Exchange *exchange = nullptr);

// Adds value[n] to the scores of rows[begin[n]] to rows[begin[n] + count[n]] for every node n that is a leaf, that is,
// has feature -1.
void add_leaf_values(std::span<const std::int32_t> feature, std::span<const std::int64_t> begin,
                     std::span<const std::int64_t> count, std::span<const float> value,
                     std::span<const std::uint32_t> rows, std::span<double> scores, int threads);

} // namespace rankwright
