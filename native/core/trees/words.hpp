// Sums of histograms, word by word: a leaf is its parent less its sibling.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankwright {

struct AddWords {
    [[gnu::always_inline]] static void run(std::size_t n, std::uint64_t *words, const std::uint64_t *others) {
        for (std::size_t i = 0; i < n; ++i) words[i] += others[i];
    }
};

struct SubtractWords {
    [[gnu::always_inline]] static void run(std::size_t n, std::uint64_t *words, const std::uint64_t *others) {
        for (std::size_t i = 0; i < n; ++i) words[i] -= others[i];
    }
};

} // namespace rankwright
