// Gradients and curvatures as whole numbers, whose sums do not depend on their order.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// Fills quantised[row] with gradient * 2^11 + curvature (see packing.hpp), both scaled and rounded up or down at random
// so that they are right on average. The randomness is a hash of seed and numbers[row], or
// of the row itself where there are no numbers.
void quantise_lambdas(std::span<const float> gradient, std::span<const float> curvature, double gradient_scale,
                      double curvature_scale, std::uint64_t seed, std::span<const std::uint32_t> numbers,
                      std::span<std::int32_t> quantised, int threads);

} // namespace rankwright
