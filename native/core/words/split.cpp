#include "core/words/split.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/common/text_hash.hpp"
#include "core/words/characters.hpp"

namespace rankwright {

namespace {

using Byte = std::uint8_t;

constexpr std::size_t first_slots = 1 << 12;

constexpr bool is_letter(WordClass kind) { return kind == WordClass::letter || kind == WordClass::hebrew; }
constexpr bool is_word(WordClass kind) {
    return is_letter(kind) || kind == WordClass::digit || kind == WordClass::katakana;
}
constexpr bool is_plain(WordClass kind) { return is_letter(kind) || kind == WordClass::digit; }

// WB5, WB8 to WB10, WB13 to WB13b.
constexpr bool are_adjacent(WordClass before, WordClass here) {
    const bool from_connector = before == WordClass::connector, to_connector = here == WordClass::connector;
    if (from_connector || to_connector) return (from_connector || is_word(before)) && (to_connector || is_word(here));
    if (before == WordClass::katakana || here == WordClass::katakana) return before == here;
    return is_word(before) && is_word(here);
}

// WB6, WB7, WB7b, WB7c, WB11, WB12.
constexpr bool are_bridged(WordClass before, WordClass joint, WordClass beyond) {
    if (joint == WordClass::double_quote) return before == WordClass::hebrew && beyond == WordClass::hebrew;
    const bool any = joint == WordClass::mid_both || joint == WordClass::quote;
    if (is_letter(before) && is_letter(beyond)) return any || joint == WordClass::mid_letter;
    return before == WordClass::digit && beyond == WordClass::digit && (any || joint == WordClass::mid_number);
}

constexpr Byte small(Byte byte) { return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte; }

// Goes from word to word of a text.
class Scanner {
  public:
    Scanner(const Byte *begin, const Byte *end, const WordClass *classes) : at_(begin), end_(end), classes_(classes) {}

    // Whether there is another word: it is then [start, stop).
    bool next(const Byte *&start, const Byte *&stop) {
        while (at_ < end_) {
            const Character first = character_at(at_, end_, classes_);
            start = at_;
            at_ += first.length;
            if (walk(first.kind)) {
                stop = at_;
                return true;
            }
        }
        return false;
    }

  private:
    // Goes to the end of the part that begins with a character of this class; returns whether the part is a word.
    bool walk(WordClass kind) {
        if (kind == WordClass::other || kind == WordClass::extend) return false;
        bool holds_word = is_word(kind) || kind == WordClass::single;
        skip_extensions();
        for (;;) {
            while (is_plain(kind) && at_ < end_ && *at_ < 0x80 && is_plain(classes_[*at_])) kind = classes_[*at_++];
            if (!step(kind)) return holds_word;
            holds_word = holds_word || is_word(kind);
        }
    }

    // Takes the next character into the word, with what lies between where a mark joins them; false where it ends.
    bool step(WordClass &kind) {
        skip_extensions();
        if (at_ == end_) return false;
        const Character here = character_at(at_, end_, classes_);
        if (are_adjacent(kind, here.kind)) {
            at_ += here.length;
            kind = here.kind;
            skip_extensions();
            return true;
        }
        if (here.kind < WordClass::mid_letter || here.kind > WordClass::double_quote) return false;
        return step_over(kind, here);
    }

    bool step_over(WordClass &kind, Character joint) {
        const Byte *const before = at_;
        at_ += joint.length;
        skip_extensions();
        const Character beyond = at_ < end_ ? character_at(at_, end_, classes_) : Character{WordClass::other, 0};
        if (are_bridged(kind, joint.kind, beyond.kind)) {
            at_ += beyond.length;
            kind = beyond.kind;
            skip_extensions();
            return true;
        }
        // WB7a: a single quote belongs to the Hebrew letter before it, and ends the word.
        const bool is_last = kind == WordClass::hebrew && joint.kind == WordClass::quote;
        if (!is_last) at_ = before;
        kind = WordClass::other;
        return is_last;
    }

    void skip_extensions() {
        while (at_ < end_ && *at_ >= 0x80) {
            const Character here = character_at(at_, end_, classes_);
            if (here.kind != WordClass::extend) return;
            at_ += here.length;
        }
    }

    const Byte *at_;
    const Byte *end_;
    const WordClass *classes_;
};

// Distinct words by number, and a table to find them in.
class WordTable {
  public:
    WordTable() : slots_(first_slots, {0, free}) {}

    std::uint32_t number(const Byte *start, const Byte *stop) {
        word_.resize(stop - start);
        std::transform(start, stop, word_.begin(), small);
        const std::uint64_t hash = hash_of_bytes(word_.data(), word_.size());
        std::size_t slot = hash & (slots_.size() - 1);
        for (; slots_[slot].number != free; slot = (slot + 1) & (slots_.size() - 1))
            if (slots_[slot].hash == hash && equals(slots_[slot].number)) return slots_[slot].number;
        return add(hash, slot);
    }

    std::size_t size() const { return starts_.size() - 1; }
    const std::vector<Byte> &bytes() const { return bytes_; }
    const std::vector<std::int64_t> &starts() const { return starts_; }

  private:
    struct Slot {
        std::uint64_t hash;
        std::uint32_t number;
    };
    static constexpr std::uint32_t free = 0xFFFFFFFF;

    bool equals(std::uint32_t number) const {
        const auto start = static_cast<std::size_t>(starts_[number]);
        return starts_[number + 1] - starts_[number] == static_cast<std::int64_t>(word_.size()) &&
               std::memcmp(bytes_.data() + start, word_.data(), word_.size()) == 0;
    }

    std::uint32_t add(std::uint64_t hash, std::size_t slot) {
        const auto number = static_cast<std::uint32_t>(size());
        bytes_.insert(bytes_.end(), word_.begin(), word_.end());
        starts_.push_back(static_cast<std::int64_t>(bytes_.size()));
        slots_[slot] = {hash, number};
        if (2 * size() > slots_.size()) grow();
        return number;
    }

    void grow() {
        std::vector<Slot> larger(4 * slots_.size(), {0, free});
        for (const Slot &old : slots_) {
            if (old.number == free) continue;
            std::size_t slot = old.hash & (larger.size() - 1);
            while (larger[slot].number != free) slot = (slot + 1) & (larger.size() - 1);
            larger[slot] = old;
        }
        slots_ = std::move(larger);
    }

    std::vector<Slot> slots_;
    std::vector<Byte> bytes_, word_;
    std::vector<std::int64_t> starts_{0};
};

} // namespace

void split_words(const Texts &texts, const SplitWords &found) {
    const WordClass *const classes = word_classes();
    WordTable table;
    std::size_t n_tokens = 0;
    found.token_starts[0] = 0;
    for (std::size_t text = 0; text < texts.size(); ++text) {
        Scanner scanner(texts.bytes.data() + texts.starts[text], texts.bytes.data() + texts.starts[text + 1], classes);
        for (const Byte *start = nullptr, *stop = nullptr; scanner.next(start, stop); ++n_tokens) {
            const std::uint32_t number = table.number(start, stop);
            if (n_tokens < found.tokens.size()) found.tokens[n_tokens] = number;
        }
        found.token_starts[text + 1] = static_cast<std::int64_t>(n_tokens);
    }
    const std::size_t counts[] = {n_tokens, table.size(), table.bytes().size()};
    std::copy(std::begin(counts), std::end(counts), found.counts.begin());
    if (table.size() < found.word_starts.size() && table.bytes().size() <= found.word_bytes.size()) {
        std::copy(table.bytes().begin(), table.bytes().end(), found.word_bytes.begin());
        std::copy(table.starts().begin(), table.starts().end(), found.word_starts.begin());
    }
}

} // namespace rankwright
