// Sums of gradient, curvature and count in one or two words, added and subtracted as plain integers.
#pragma once

#include <cstdint>

namespace rankwright {

// The sums over a set of documents. Gradients and curvatures are whole numbers, rounded once per tree, so that sums
// do not depend on their order.
struct Sums {
    std::int64_t gradient = 0;
    std::int64_t curvature = 0;
    std::int64_t count = 0;

    friend Sums operator+(Sums a, Sums b) {
        return {a.gradient + b.gradient, a.curvature + b.curvature, a.count + b.count};
    }
    friend Sums operator-(Sums a, Sums b) {
        return {a.gradient - b.gradient, a.curvature - b.curvature, a.count - b.count};
    }
    friend bool operator==(const Sums &, const Sums &) = default;
};

// One document: gradient * 2^11 + curvature, with -2^13 <= gradient < 2^13 and 0 <= curvature < 2^11.
inline constexpr int curvature_bits = 11;
inline constexpr std::int32_t gradient_limit = (1 << 13) - 1;
inline constexpr std::int32_t curvature_limit = (1 << curvature_bits) - 1;

// Up to 8,191 documents fit one word (no field can overflow into the next):
//   | gradient, 27 bits, signed | curvature, 24 bits | count, 13 bits |
// Fields are sums, so words of disjoint sets add up, and a subset's word can be taken from its set's.
struct Packed {
    std::uint64_t word = 0;

    static constexpr std::int64_t max_count = (1 << 13) - 1;
    static constexpr int curvature_shift = 13, gradient_shift = 37;

    static Packed of_document(std::int32_t quantised) {
        const auto gradient = static_cast<std::uint64_t>(static_cast<std::int64_t>(quantised >> curvature_bits));
        const auto curvature = static_cast<std::uint64_t>(quantised & curvature_limit);
        return {(gradient << gradient_shift) + (curvature << curvature_shift) + 1};
    }
    Sums sums() const {
        return {static_cast<std::int64_t>(word) >> gradient_shift,
                static_cast<std::int64_t>((word >> curvature_shift) & ((1u << 24) - 1)),
                static_cast<std::int64_t>(word & max_count)};
    }
    friend Packed operator+(Packed a, Packed b) { return {a.word + b.word}; }
    friend Packed operator-(Packed a, Packed b) { return {a.word - b.word}; }
};

// More documents take two words, up to 2^28 - 1 of them with a curvature sum below 2^36:
//   | gradient, 64 bits, signed |   | curvature, 36 bits | count, 28 bits |
struct Wide {
    std::int64_t gradient = 0;
    std::uint64_t rest = 0;

    static constexpr int curvature_shift = 28;
    static constexpr std::int64_t max_count = (1 << curvature_shift) - 1;

    Sums sums() const {
        return {gradient, static_cast<std::int64_t>(rest >> curvature_shift),
                static_cast<std::int64_t>(rest & max_count)};
    }
    friend Wide operator+(Wide a, Wide b) { return {a.gradient + b.gradient, a.rest + b.rest}; }
};

// Conversions between the two. Both are sums of fields in a fixed place, so conversion and subtraction may come in any
// order: an intermediate result that does not fit a word wraps around, and the final result is right.
[[gnu::always_inline]] inline Wide widened(Packed packed) {
    constexpr std::uint64_t sign = 1u << 26; // of the 27-bit gradient; extended without a signed shift, which older
                                             // processors lack for vectors of words
    const std::uint64_t gradient = packed.word >> Packed::gradient_shift;
    const std::uint64_t curvature = (packed.word >> Packed::curvature_shift) & ((1u << 24) - 1);
    return {static_cast<std::int64_t>((gradient ^ sign) - sign),
            (curvature << Wide::curvature_shift) + (packed.word & Packed::max_count)};
}
[[gnu::always_inline]] inline Packed narrowed(Wide wide) {
    return {(static_cast<std::uint64_t>(wide.gradient) << Packed::gradient_shift) +
            ((wide.rest >> Wide::curvature_shift) << Packed::curvature_shift) + (wide.rest & Wide::max_count)};
}

} // namespace rankwright
