// Texts split into words by the word rules of Unicode (UAX #29), and the distinct words numbered.
#pragma once

#include <cstdint>
#include <span>

#include "core/common/texts.hpp"

namespace rankwright {

// What is filled; `counts` is the number of tokens, of distinct words, and of their bytes, whether there is room or
// not.
struct SplitWords {
    std::span<std::int64_t> token_starts; // of each text, and the end
    std::span<std::uint32_t> tokens;
    std::span<std::uint8_t> word_bytes;
    std::span<std::int64_t> word_starts;
    std::span<std::int64_t> counts;
};

// Letters from A to Z are made small, so that most words need no further folding. Bytes that are no UTF-8 separate
// words.
void split_words(const Texts &texts, const SplitWords &found);

} // namespace rankwright
