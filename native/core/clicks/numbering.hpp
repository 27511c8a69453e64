// Numbers in place of ids, counted from 0 in the order in which ids were first seen.
#pragma once

#include <cstdint>
#include <span>

#include "core/common/texts.hpp"

namespace rankwright {

// Where ids are found by their hash. A slot holds the hash and the number of an id; the number is -1 where it is free.
// There is a power of two of slots, of which half at most are used, and a free one is always there.
struct IdTable {
    std::span<std::uint64_t> hashes;
    std::span<std::int32_t> numbers;

    std::size_t n_slots() const { return hashes.size(); }
};

// The ids seen so far, by number, in arrays that have room for more.
struct KnownTexts {
    std::span<std::uint8_t> bytes;
    std::span<std::int64_t> starts;
};

// How many ids are known, and the row to go on from.
struct Progress {
    std::int64_t &n_known;
    std::int64_t &done;
};

// Fills numbers[row] for the ids from row `done` on. Ids not seen before are added to `known` and get the next numbers.
// Where there is no more room for one, `done` tells its row: the next call, with larger arrays, goes on there.
void number_integers(std::span<const std::int64_t> ids, IdTable table, std::span<std::int64_t> known, Progress progress,
                     std::span<std::int32_t> numbers, int threads);

// The same for ids that are texts.
void number_texts(const Texts &ids, IdTable table, KnownTexts known, Progress progress, std::span<std::int32_t> numbers,
                  int threads);

} // namespace rankwright
