// The words of a line, found 64 bytes at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE4_1__)
#include <smmintrin.h>
#endif

namespace rankwright {

inline bool is_space(char letter) { return letter == ' ' || (letter >= '\t' && letter <= '\r'); }
inline bool ends_words(char letter) { return letter == '\n' || letter == '#'; }

struct Word {
    const char *begin;
    const char *end;
};

// Walks the words of one line: texts between white space, up to the newline, a '#', or the end of the block.
// Where words begin and end is found without looking into them, so that the next word never waits for the last one.
class Words {
  public:
    Words(const char *line, const char *block_end) : block_end_(block_end), window_(line), begin_(line) { look(); }

    // The next word; false where the line has no more.
    bool next(Word &word) {
        while (true) {
            while (separators_ == 0) {
                if (found_end_) return false;
                window_ += window_size;
                look();
            }
            const char *const end = window_ + std::countr_zero(separators_);
            separators_ &= separators_ - 1;
            word = {begin_, end};
            begin_ = end + 1;
            if (word.begin != word.end) return true;
        }
    }

    // Where the words end: at the newline, the '#', or the end of the block. Words that are left are skipped.
    const char *skip_to_end() {
        for (Word rest{}; next(rest);) {
        }
        return begin_ - 1;
    }

  private:
    static constexpr std::ptrdiff_t window_size = 64;

    // Marks the separators of the window up to the first that ends the words.
    void look() {
        char padded[window_size];
        const char *window = window_;
        if (block_end_ - window_ < window_size) { // the block's end counts as a newline
            std::memset(padded, '\n', sizeof padded);
            std::memcpy(padded, window_, block_end_ - window_);
            window = padded;
        }
        std::uint64_t ends = 0;
        classify(window, separators_, ends);
        if (ends != 0) {
            separators_ &= ends ^ (ends - 1); // the bits up to and including the lowest
            found_end_ = true;
        }
    }

#if defined(__SSE4_1__)
    static void classify(const char *window, std::uint64_t &separators, std::uint64_t &ends) {
        // A separator is a character that equals the entry of its own low four bits.
        const __m128i separator_of_low_bits =
            _mm_setr_epi8(' ', -1, -1, '#', -1, -1, -1, -1, -1, '\t', '\n', '\v', '\f', '\r', -1, -1);
        separators = ends = 0;
        for (int part = 0; part < 4; ++part) {
            const __m128i text = _mm_loadu_si128(reinterpret_cast<const __m128i *>(window) + part);
            const __m128i is_separator = _mm_cmpeq_epi8(_mm_shuffle_epi8(separator_of_low_bits, text), text);
            const __m128i is_end =
                _mm_or_si128(_mm_cmpeq_epi8(text, _mm_set1_epi8('\n')), _mm_cmpeq_epi8(text, _mm_set1_epi8('#')));
            separators |= static_cast<std::uint64_t>(_mm_movemask_epi8(is_separator)) << (16 * part);
            ends |= static_cast<std::uint64_t>(_mm_movemask_epi8(is_end)) << (16 * part);
        }
    }
#else
    static void classify(const char *window, std::uint64_t &separators, std::uint64_t &ends) {
        separators = ends = 0;
        for (int i = 0; i < window_size; ++i) {
            ends |= static_cast<std::uint64_t>(ends_words(window[i])) << i;
            separators |= static_cast<std::uint64_t>(is_space(window[i])) << i;
        }
        separators |= ends;
    }
#endif

    const char *block_end_;
    const char *window_;
    const char *begin_; // of the next word
    std::uint64_t separators_ = 0;
    bool found_end_ = false;
};

} // namespace rankwright
