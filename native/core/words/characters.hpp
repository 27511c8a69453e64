// Characters of UTF-8 and their classes for the word rules. kernels/naive/word_classes.py says which class is whose.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankwright {

enum class WordClass : std::uint8_t {
    other,
    letter,
    hebrew,
    digit,
    katakana,
    single, // a word of its own
    mid_letter,
    mid_number,
    mid_both,
    quote,
    double_quote,
    connector,
    extend, // belongs to the character before it
};

// The class of a character, and how many bytes it has.
struct Character {
    WordClass kind;
    std::uint8_t length;
};

// The classes of all characters, by number.
const WordClass *word_classes();

// The character at `at`, of which there is a byte before `end`. A byte that belongs to none is `other`.
Character character_at(const std::uint8_t *at, const std::uint8_t *end, const WordClass *classes);

} // namespace rankwright
