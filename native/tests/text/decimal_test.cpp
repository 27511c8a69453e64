#include "core/text/decimal.hpp"

#include <bit>
#include <cstdlib>
#include <random>
#include <string>

#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }

float parsed(const std::string &text) {
    float value = -7;
    CHECK(parse_number(text.data(), text.data() + text.size(), value) == Number::finite);
    return value;
}

// The C library rounds once too; it serves as the oracle.
void numbers_are_rounded_once() {
    std::mt19937_64 random(1);
    for (int i = 0; i < 100'000; ++i) {
        std::string text = i % 3 == 0 ? "-" : "";
        const int n_digits = 1 + static_cast<int>(random() % 20), point = static_cast<int>(random() % 22);
        for (int digit = 0; digit < n_digits; ++digit) {
            if (digit == point) text += '.';
            text += static_cast<char>('0' + random() % 10);
        }
        if (random() % 4 == 0) text += "e" + std::to_string(static_cast<int>(random() % 48) - 30);
        const float expected = std::strtof(text.c_str(), nullptr);
        CHECK(bits_of(parsed(text)) == bits_of(expected));

        // The short way reads sixteen bytes that end with the number, whatever stands before it.
        const std::string padded = "0123456789.12345:" + text;
        float value = -7;
        if (parse_short_decimal(padded.data() + 17, padded.data() + padded.size(), value)) {
            CHECK(bits_of(value) == bits_of(expected));
        } else {
            CHECK(bits_of(value) == bits_of(-7));
        }
    }
}

void the_short_way_takes_short_numbers_only() {
    const auto takes = [](const std::string &text) {
        const std::string padded = std::string(16, ' ') + text;
        float value = 0;
        return parse_short_decimal(padded.data() + 16, padded.data() + padded.size(), value);
    };
    for (const char *text : {"0", "7", "-7", "0.5", ".5", "5.", "-0.25", "123456789012345", "-1234567890123.5"}) {
        CHECK(takes(text));
    }
    for (const char *text :
         {"", "-", ".", "-.", "+1", "1e3", "nan", "1.2.3", "--1", "1 2", "1234567890123456", "1:2"}) {
        CHECK(!takes(text));
    }
}

void extremes_are_what_they_round_to() {
    CHECK(parsed("1e-400") == 0.0f);
    CHECK(parsed("0e999999999999999999999") == 0.0f);
    CHECK(bits_of(parsed("7.1e-46")) == 1);
    CHECK(bits_of(parsed("7e-46")) == 0);
    CHECK(bits_of(parsed("3.4028235e38")) == 0x7F7FFFFF);
    float value = 0;
    for (const std::string text : {"1e39", "-1e999999999999999999999", "inf", "-Infinity"}) {
        CHECK(parse_number(text.data(), text.data() + text.size(), value) == Number::infinite);
    }
    for (const std::string text : {"nan", "-NaN", "NULL"}) {
        CHECK(parse_number(text.data(), text.data() + text.size(), value) == Number::missing);
    }
    for (const std::string text : {"", "+", "1e", "1e+", "0x1", "nanx", "-null", "1e5x"}) {
        CHECK(parse_number(text.data(), text.data() + text.size(), value) == Number::malformed);
    }
}

const rankwright::Test test("decimal", [] {
    numbers_are_rounded_once();
    the_short_way_takes_short_numbers_only();
    extremes_are_what_they_round_to();
});

} // namespace
