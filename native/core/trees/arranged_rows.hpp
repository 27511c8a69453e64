// One-byte codes in the arrangement from which histograms are summed fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/binning/codes.hpp"

namespace rankwright {

// The codes of a row lie together, so that a leaf, whose rows are anywhere, asks memory for few lines. Features that
// have their usual code in the same rows are in the same group of 16: where a row has usual codes alone in a group, it
// can be skipped there, and all that were skipped are added at once. A row takes `pitch` bytes:
//   | codes by place | a word: bit g says whether group g has an unusual code | padding |
struct ArrangedRows {
    std::span<const std::uint8_t> bytes;
    std::size_t pitch;
    std::span<const std::int32_t> features; // by place, 16 places in a group; -1 where there is none
    std::span<const std::uint8_t> usual;    // the usual code by place
    std::size_t n_skipping;                 // so many groups, the first ones, are worth skipping rows in
    std::span<const std::uint32_t> counts;  // of the rows with each code; those of place p begin at p * n_byte_codes

    static constexpr std::size_t n_byte_codes = 256;

    bool empty() const { return features.empty(); } // histograms are then summed from the codes as they are
    const std::uint8_t *unusual() const { return bytes.data() + features.size(); } // the words of rows
};

// Fills the rows and the counts of an arrangement.
void arrange_codes(Codes<const std::uint8_t> codes, const ArrangedRows &arrangement, std::span<std::uint8_t> out,
                   std::span<std::uint32_t> counts, int threads);

} // namespace rankwright
