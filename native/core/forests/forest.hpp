// Scoring documents with a forest, many documents at once.
//
// A tree's leaves are numbered from left to right, and a document starts at the first. Nodes are visited parents first.
// A document whose number is that of the first leaf below a node has reached that node (everywhere else the number
// differs); if it goes right there, its number becomes that of the first leaf below the right child. In the end it is
// the number of its leaf. A visit is two comparisons and a choice for as many documents as a vector register has bytes,
// without a branch and without a jump through memory, which is why visiting every node beats following each document.
//
// Trees that have the same split in many nodes, as symmetric ones do, need not visit them all. Of a forest `by_bits`,
// each different split of a tree is one node, and a bit of the number of a leaf: a document that goes right there has
// the bit. A leaf that is reached whatever a split says has several numbers.
//
// Values are compared as codes: a column holds, for each document in a block, how many of a feature's thresholds in the
// forest are smaller than its value.
#pragma once

#include <cstdint>
#include <span>

#include "core/binning/binning.hpp"
#include "core/binning/codes.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

// A node of a compiled tree. The last three fields repeat a number in each lane of a word: four bytes, or two halves.
struct ForestNode {
    std::uint32_t column[2]; // what is compared: where no document of a block lacks a value, and where some do
    std::uint32_t first;     // the first leaf below the node
    std::uint32_t code;      // documents with a greater code go right
    std::uint32_t right;     // the first leaf below the right child; of a tree by bits, the split's bit
};

// Trees [0, n) with nodes[node_offsets[t]] to nodes[node_offsets[t + 1]], and values of leaves likewise. At least 64
// numbers must be readable from any leaf's value on.
struct CompiledForest {
    std::span<const ForestNode> nodes;
    std::span<const std::int64_t> node_offsets;
    std::span<const float> leaf_values;
    std::span<const std::int64_t> leaf_offsets;
    bool by_bits;

    std::size_t n_trees() const { return node_offsets.size() - 1; }
    std::span<const ForestNode> nodes_of(std::size_t tree) const {
        return nodes.subspan(node_offsets[tree], node_offsets[tree + 1] - node_offsets[tree]);
    }
    std::span<const float> values_of(std::size_t tree) const {
        return leaf_values.subspan(leaf_offsets[tree], leaf_offsets[tree + 1] - leaf_offsets[tree]);
    }
};

// Columns made from raw values.
struct ValueColumns {
    FloatTable features;
    std::span<const std::int32_t> feature; // of each column
    std::span<const float> edges;          // column c owns edges[offsets[c]] to edges[offsets[c + 1]], ascending
    std::span<const std::int64_t> offsets;
    std::span<const float> tables;                // search tables of columns with one-byte codes
    std::span<const std::int64_t> category_words; // of each column, where its words begin; -1 where it is a number
    std::span<const std::uint32_t> categories;    // bit k of a column's words: edge k goes left; the bit after the last
                                                  // edge: what has no edge goes left
};

// Columns made from bin codes. A document lacks the value where its code is `missing`.
template <typename Code> struct CodeColumns {
    Codes<const Code> codes;
    std::span<const std::int32_t> feature; // of each column
    std::span<const std::int64_t> missing; // of each column
    std::span<const std::int64_t> category_words;
    std::span<const std::uint32_t> categories;
};

// Adds the values of trees [first, last) to the scores of all documents, tree after tree, in float64. Lane is the type
// of codes and leaf numbers.
template <typename Lane, typename Columns>
void score_forest(const Columns &columns, const CompiledForest &forest, std::span<double> scores, int threads,
                  Simd simd = simd_level());

// Fills leaves[row * n_trees + t] with the number of the leaf of tree t that each document reaches.
template <typename Lane, typename Columns>
void find_leaves(const Columns &columns, const CompiledForest &forest, std::span<std::uint16_t> leaves, int threads,
                 Simd simd = simd_level());

} // namespace rankwright
