// Decimal text to float32, rounded once, to nearest, ties to even: the bits do not depend on the path taken. And back:
// the fewest digits that read to the same number.
#pragma once

#include <bit>
#include <cstdint>

#if defined(__SSE4_1__)
#include <smmintrin.h>
#endif

namespace rankwright {

enum class Number { finite, missing, infinite, malformed };

// Reads all of [begin, end) as one number: [+-] digits [. digits] [e [+-] digits]; nan or null, which are missing;
// inf or infinity. Words may have any case. A number that rounds to infinity counts as infinite.
// `value` is set unless the text is malformed.
Number parse_number(const char *begin, const char *end, float &value);

// The most bytes a number takes: a sign, nine digits, a point, and "0.0000" before them or an exponent behind them.
inline constexpr std::int64_t longest_number = 16;

// Writes the fewest digits that read back to the same float32, with an exponent only below 1e-5 and from 1e9; returns
// the text's end.
char *append_number(char *at, float value);

// The powers of ten that a double holds exactly, and the integers up to which it holds every one.
inline constexpr double exact_powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::uint64_t largest_exact_integer = std::uint64_t{1} << 53;

// Whether rounding `near` to float32 is the same as rounding the number that it stands for, from which it is off by at
// most `error` units in its last place. It can differ only close to the middle between two float32, where the number
// may lie on either side. Holds for doubles that are normal numbers as float32 too.
inline bool rounds_once(double near, std::uint64_t error) {
    constexpr std::uint64_t dropped_bits = (1u << 29) - 1, middle = 1u << 28;
    return ((std::bit_cast<std::uint64_t>(near) - middle + error) & dropped_bits) > 2 * error;
}

#if defined(__SSE4_1__)

// Sixteen bytes read at place n have their last n bytes set, for n up to 16, and all of them beyond.
alignas(64) inline constexpr std::uint8_t last_bytes_set[48] = {
    0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
    255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};

// 10^-n for 0 to 15 decimals; place 31 stands for a number without a point.
alignas(64) inline constexpr double scale_of_decimals[32] = {
    1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15,
    1,   1,    1,    1,    1,    1,    1,    1,    1,    1,    1,     1,     1,     1,     1,     1};

// The common case, with no branch that depends on how long the number is: an optional minus, then 1 to 15 characters,
// all digits but for at most one point. False for anything else, and for the rare number so close to the middle of two
// float32 that a product cannot tell its side. Reads the byte at `begin` and the 16 before `end`.
inline bool parse_short_decimal(const char *begin, const char *end, float &value) {
    const auto load = [](const void *place) { return _mm_loadu_si128(static_cast<const __m128i *>(place)); };
    const std::uint32_t negative = *begin == '-';
    const auto length = static_cast<std::uint64_t>(end - begin) - negative;
    if (length - 1 >= 15) return false;

    // The number stands at the right end of the register; bit 15 of a mask is its last character.
    const __m128i text = load(end - 16);
    const __m128i digits = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digits, _mm_set1_epi8(9)), digits);
    const __m128i is_point = _mm_cmpeq_epi8(text, _mm_set1_epi8('.'));
    const std::uint32_t used = (0xFFFFu << (16 - length)) & 0xFFFFu;
    const std::uint32_t others = ~static_cast<std::uint32_t>(_mm_movemask_epi8(is_digit)) & used;
    const std::uint32_t points = static_cast<std::uint32_t>(_mm_movemask_epi8(is_point)) & used;
    if (others != points || points == used || (points & (points - 1)) != 0) return false;

    // Clear what is not part of the number, then close the gap of the point by moving what stands left of it.
    const __m128i clean = _mm_and_si128(digits, load(last_bytes_set + length));
    const int decimals = std::countl_zero(points << 16 | 1u); // 31 where there is no point
    const __m128i joined = _mm_blendv_epi8(_mm_slli_si128(clean, 1), clean, load(last_bytes_set + decimals));

    // Add neighbours up: 16 digits, 8 pairs, 4 fours, 2 eights.
    const __m128i pairs =
        _mm_maddubs_epi16(joined, _mm_setr_epi8(10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1));
    const __m128i fours = _mm_madd_epi16(pairs, _mm_setr_epi16(100, 1, 100, 1, 100, 1, 100, 1));
    const __m128i eights =
        _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_setr_epi16(10000, 1, 10000, 1, 10000, 1, 10000, 1));
    const auto halves = static_cast<std::uint64_t>(_mm_cvtsi128_si64(eights));
    const auto mantissa = static_cast<std::int64_t>((halves & 0xFFFFFFFFu) * 100000000u + (halves >> 32));

    // The mantissa is exact, the scale and the product are each off by half a unit at most.
    const double near = static_cast<double>(mantissa) * scale_of_decimals[decimals];
    if (!rounds_once(near, 2)) return false;
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(static_cast<float>(near)) | negative << 31);
    return true;
}

#else

// The same numbers, one character after the other.
inline bool parse_short_decimal(const char *begin, const char *end, float &value) {
    const bool negative = *begin == '-';
    const char *at = begin + negative;
    if (at >= end || end - at > 15) return false;
    std::int64_t mantissa = 0;
    int n_digits = 0, decimals = -1;
    for (; at != end; ++at) {
        if (*at >= '0' && *at <= '9') {
            mantissa = mantissa * 10 + (*at - '0');
            ++n_digits;
        } else if (*at == '.' && decimals < 0) {
            decimals = static_cast<int>(end - at) - 1;
        } else {
            return false;
        }
    }
    if (n_digits == 0) return false;
    const double nearest = static_cast<double>(mantissa) / exact_powers_of_ten[decimals < 0 ? 0 : decimals];
    if (!rounds_once(nearest, 0)) return false;
    value = negative ? -static_cast<float>(nearest) : static_cast<float>(nearest);
    return true;
}

#endif

} // namespace rankwright
