// Sorting of 64-bit keys: what ranks documents and finds ideal gains.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace rankwright {

// A key whose unsigned order is the numbers' descending order; -0 and 0 have the same. The number must not be NaN.
inline std::uint64_t descending_key(double number) {
    const auto bits = std::bit_cast<std::int64_t>(number + 0.0); // -0 + 0 = 0
    constexpr std::int64_t all_but_sign = ~(std::int64_t{1} << 63);
    return static_cast<std::uint64_t>(bits ^ (~(bits >> 63) & all_but_sign));
}

inline double number_of_descending_key(std::uint64_t key) {
    constexpr std::uint64_t sign = std::uint64_t{1} << 63;
    return std::bit_cast<double>(key & sign ? key : ~(key | sign));
}

// Sorts `keys` upwards. Keys that agree in all but their lowest `sorted_bits` bits must come in order already.
// `scratch` is as long as `keys`.
void sort_keys(std::span<std::uint64_t> keys, std::span<std::uint64_t> scratch, int sorted_bits, int threads);

} // namespace rankwright
