// Sums in sixteen lanes of single precision whatever the processor, so that all processors give the same bits.
#pragma once

#include <array>
#include <cstddef>

#include "core/common/vectors.hpp"

namespace rankwright {

constexpr std::size_t float_lanes = 16;
using FloatLanes = Pack<float, float_lanes * sizeof(float)>;

[[gnu::always_inline]] inline float total(FloatLanes values) {
    const auto eights = same_bits<std::array<Pack<float, 32>, 2>>(values);
    const auto fours = same_bits<std::array<Pack<float, 16>, 2>>(eights[0] + eights[1]);
    const auto four = fours[0] + fours[1];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

} // namespace rankwright
