// Dividing a leaf's rows by sparse codes.
#pragma once

#include <cstdint>
#include <span>

#include "core/binning/sparse_codes.hpp"
#include "core/trees/partition.hpp"

namespace rankwright {

std::size_t divide_rows(const Codes<const SparseCode> &codes, std::size_t feature,
                        std::span<const std::uint8_t> goes_left, RowRun leaf, std::uint32_t *out, std::uint8_t *sides,
                        Team &team);

} // namespace rankwright
