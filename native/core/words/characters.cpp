#include "core/words/characters.hpp"

#include <algorithm>
#include <vector>

namespace rankwright {

namespace {

constexpr std::uint32_t n_characters = 0x110000;

struct ClassRange {
    std::uint32_t first, last;
    std::uint8_t kind;
};

constexpr ClassRange ranges[] = {
#include "core/words/word_classes.inc"
};

std::vector<WordClass> expanded() {
    std::vector<WordClass> classes(n_characters, WordClass::other);
    for (const auto &[first, last, kind] : ranges)
        std::fill(classes.begin() + first, classes.begin() + last + 1, static_cast<WordClass>(kind));
    return classes;
}

bool continues(std::uint8_t byte) { return (byte & 0xC0) == 0x80; }

} // namespace

const WordClass *word_classes() {
    static const std::vector<WordClass> classes = expanded();
    return classes.data();
}

Character character_at(const std::uint8_t *at, const std::uint8_t *end, const WordClass *classes) {
    constexpr Character none{WordClass::other, 1};
    const std::uint8_t lead = *at;
    if (lead < 0x80) return {classes[lead], 1};
    const int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || end - at < length) return none;
    std::uint32_t number = lead & (0xFF >> (length + 1));
    for (int i = 1; i < length; ++i) {
        if (!continues(at[i])) return none;
        number = number << 6 | (at[i] & 0x3F);
    }
    // A longer form than the character needs, half of a pair of UTF-16, or beyond the last character.
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (number < least[length] || (number >= 0xD800 && number < 0xE000) || number >= n_characters) return none;
    return {classes[number], static_cast<std::uint8_t>(length)};
}

} // namespace rankwright
