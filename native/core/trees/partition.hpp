// Dividing a leaf's rows between its children.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/binning/codes.hpp"
#include "core/common/team.hpp"
#include "core/trees/histogram.hpp"

namespace rankwright {

// Fills sides[i] with 1 where row i of a part of a leaf goes left, else 0, and returns how many do.
using FindSides = std::function<std::size_t(RowRun part, std::uint8_t *sides)>;

// Writes the rows of `leaf` that go left to the front of `out`, the others behind them, both in the order they had.
// `sides` is scratch of the leaf's size. Returns how many went left.
std::size_t divide_rows(const FindSides &find_sides, RowRun leaf, std::uint32_t *out, std::uint8_t *sides, Team &team);

// The same, where rows go left whose code of `feature` has goes_left[code].
template <typename Code>
std::size_t divide_rows(Codes<const Code> codes, std::size_t feature, std::span<const std::uint8_t> goes_left,
                        RowRun leaf, std::uint32_t *out, std::uint8_t *sides, Team &team);

extern template std::size_t divide_rows(Codes<const std::uint8_t>, std::size_t, std::span<const std::uint8_t>, RowRun,
                                        std::uint32_t *, std::uint8_t *, Team &);
extern template std::size_t divide_rows(Codes<const std::uint16_t>, std::size_t, std::span<const std::uint8_t>, RowRun,
                                        std::uint32_t *, std::uint8_t *, Team &);

} // namespace rankwright
