// Finding the leaves of a block of documents, and adding up their values.
#pragma once

#include "core/forests/forest.hpp"

namespace rankwright {

inline constexpr std::size_t register_bytes = 64; // of documents' lanes that are handled together
inline constexpr std::size_t max_registers = 4;   // in a block
// With few documents the processor waits for one comparison before the next, unless it walks other trees meanwhile:
// this many registers, of one tree or of several, are always under way.
inline constexpr std::size_t registers_at_once = 8;

template <typename Lane> inline constexpr std::size_t lanes_per_register = register_bytes / sizeof(Lane);

// The columns of a block of documents.
template <typename Lane> struct Block {
    const Lane *lanes;
    std::size_t n_registers; // 1, 2 or 4
    bool sided;              // whether some documents lack values

    std::size_t width() const { return n_registers * lanes_per_register<Lane>; }
    std::size_t trees_at_once() const { return registers_at_once / n_registers; }
};

// Fills leaves[t * block.width() + i] with the number of the leaf of tree t that document i of the block reaches, for
// trees_at_once() trees, of which tree t has the nodes trees[t].
template <typename Lane>
void walk_trees(const std::span<const ForestNode> *trees, bool by_bits, const Block<Lane> &block, Lane *leaves,
                Simd simd);

// Adds values[leaves[i]] to scores[i] for `count` documents, a multiple of 32.
template <typename Lane>
void add_values(std::span<const float> values, const Lane *leaves, std::size_t count, double *scores, Simd simd);

extern template void walk_trees(const std::span<const ForestNode> *, bool, const Block<std::uint8_t> &, std::uint8_t *,
                                Simd);
extern template void walk_trees(const std::span<const ForestNode> *, bool, const Block<std::uint16_t> &,
                                std::uint16_t *, Simd);
extern template void add_values(std::span<const float>, const std::uint8_t *, std::size_t, double *, Simd);
extern template void add_values(std::span<const float>, const std::uint16_t *, std::size_t, double *, Simd);

} // namespace rankwright
