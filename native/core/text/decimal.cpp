#include "core/text/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>

// Xcode's library, libc++ before 20, has no from_chars for floating-point numbers. Nobody has run this on macOS.
#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 200000
#define RANKWRIGHT_STRTOF 1
#endif
#ifdef RANKWRIGHT_STRTOF
#include <cstdlib>
#include <locale.h>
#include <string>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif

namespace rankwright {

namespace {

// The parts of a number's text; the value is mantissa · 10^exponent where every digit fitted.
struct Decimal {
    std::uint64_t mantissa = 0;
    std::int64_t exponent = 0;
    std::int64_t digits = 0;  // significant ones: without leading zeros
    bool well_formed = false; // the whole text was read
};

constexpr std::int64_t digits_that_fit = 19;           // of a 64-bit mantissa
constexpr std::int64_t exponent_limit = 1'000'000'000; // a longer exponent is as good as this one

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

const char *read_digits(const char *at, const char *end, Decimal &number) {
    for (; at != end && is_digit(*at); ++at) {
        if (number.digits < digits_that_fit) number.mantissa = number.mantissa * 10 + static_cast<unsigned>(*at - '0');
        number.digits += number.digits > 0 || *at != '0';
    }
    return at;
}

const char *read_exponent(const char *at, const char *end, Decimal &number) {
    ++at; // the e
    const bool negative = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    if (at == end) return nullptr;
    std::int64_t exponent = 0;
    for (; at != end && is_digit(*at); ++at) exponent = std::min(exponent * 10 + (*at - '0'), exponent_limit);
    number.exponent += negative ? -exponent : exponent;
    return at;
}

Decimal read_decimal(const char *begin, const char *end) {
    Decimal number;
    const char *at = read_digits(begin, end, number);
    std::int64_t n_digits = at - begin;
    if (at != end && *at == '.') {
        const char *const decimals = at + 1;
        at = read_digits(decimals, end, number);
        n_digits += at - decimals;
        number.exponent -= at - decimals;
    }
    if (n_digits > 0 && at != end && (*at == 'e' || *at == 'E')) at = read_exponent(at, end, number);
    number.well_formed = n_digits > 0 && at == end;
    return number;
}

// The nearest float32 of an unsigned number that was found well-formed.
float nearest_float(const char *begin, const char *end, const Decimal &number) {
    if (number.digits == 0) return 0.0f;
    if (number.mantissa <= largest_exact_integer && number.digits <= digits_that_fit && number.exponent >= -22 &&
        number.exponent <= 22) {
        const auto mantissa = static_cast<double>(number.mantissa);
        const double nearest = number.exponent < 0 ? mantissa / exact_powers_of_ten[-number.exponent]
                                                   : mantissa * exact_powers_of_ten[number.exponent];
        if (rounds_once(nearest, 0)) return static_cast<float>(nearest);
    }
#ifdef RANKWRIGHT_STRTOF
    static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr); // a point is a point
    return strtof_l(std::string(begin, end).c_str(), nullptr, plain);   // too large is infinite, too small is 0
#else
    float value = 0.0f;
    if (std::from_chars(begin, end, value).ec != std::errc::result_out_of_range) return value;
    return number.digits + number.exponent > 0 ? std::numeric_limits<float>::infinity() : 0.0f;
#endif
}

bool is_word(std::string_view text, std::string_view word) {
    if (text.size() != word.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if ((text[i] | 0x20) != word[i]) return false;
    }
    return true;
}

} // namespace

Number parse_number(const char *begin, const char *end, float &value) {
    const bool negative = begin != end && *begin == '-';
    const char *const unsigned_begin = begin + (begin != end && (*begin == '-' || *begin == '+'));
    const Decimal number = read_decimal(unsigned_begin, end);
    if (number.well_formed) {
        value = nearest_float(unsigned_begin, end, number);
    } else if (const std::string_view word(unsigned_begin, end - unsigned_begin);
               is_word(word, "nan") || (unsigned_begin == begin && is_word(word, "null"))) {
        value = std::numeric_limits<float>::quiet_NaN();
        return Number::missing;
    } else if (is_word(word, "inf") || is_word(word, "infinity")) {
        value = std::numeric_limits<float>::infinity();
    } else {
        return Number::malformed;
    }
    value = negative ? -value : value;
    return std::isinf(value) ? Number::infinite : Number::finite;
}

char *append_number(char *at, float value) {
    constexpr float integers_below = 1e9f; // whole numbers below are written as such
    constexpr float decimals_from = 1e-5f; // smaller numbers have an exponent
    constexpr std::string_view missing = "nan", infinite = "inf";
    char *const limit = at + longest_number;
    const float size = std::fabs(value);
    if (std::isnan(value)) return std::copy(missing.begin(), missing.end(), at);
    if (std::signbit(value)) *at++ = '-';
    if (std::isinf(value)) return std::copy(infinite.begin(), infinite.end(), at);
    if (size < integers_below && size == std::trunc(size)) {
        return std::to_chars(at, limit, static_cast<std::int32_t>(size)).ptr;
    }
    const bool plain = size >= decimals_from && size < integers_below;
    return std::to_chars(at, limit, size, plain ? std::chars_format::fixed : std::chars_format::scientific).ptr;
}

} // namespace rankwright
