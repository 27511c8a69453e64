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

// A number of mean 0 and variance 1, about normal and within 3.47 of 0: the sum of the four 16-bit parts of `random`.
// No function of the platform's library is part of it, so that its bits are the same everywhere.
constexpr double about_normal(std::uint64_t random) {
    constexpr double mean = 131070.0, deviation = 37837.22723720648; // 4 (2^16 - 1) / 2, and the root of (2^32 - 1) / 3
    const std::uint64_t pairs = (random & 0x0000FFFF0000FFFFU) + ((random >> 16) & 0x0000FFFF0000FFFFU);
    const std::uint64_t sum = (pairs >> 32) + (pairs & 0xFFFFFFFFU);
    return (static_cast<double>(static_cast<std::int64_t>(sum)) - mean) / deviation;
}

} // namespace rankwright
