// Random numbers without a state: a number is a function of a key and a counter, so that it does not depend on the
// order or the thread in which numbers are drawn.
#pragma once

#include <cstdint>

namespace rankwright {

// SplitMix64's finaliser (Steele, Lea, Flood 2014): every bit of the result depends on every bit of `x`.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

// The key of one of many independent streams.
constexpr std::uint64_t stream_of(std::uint64_t key, std::uint64_t number) { return mix(mix(key) ^ number); }

// A whole number from 0 to n - 1, n below 2^32; its bias is below n / 2^32.
constexpr std::uint64_t below(std::uint64_t random, std::uint64_t n) { return ((random >> 32) * n) >> 32; }

// A number in [0, 1) with 53 random bits.
constexpr double unit_interval(std::uint64_t random) {
    return static_cast<double>(random >> 11) * (1.0 / 9007199254740992.0);
}

} // namespace rankwright
