// Scoring documents, given as bin codes, with a tree that was just grown on such codes.
#pragma once

#include <cstdint>
#include <span>

#include "core/binning/codes.hpp"

namespace rankwright {

// Nodes as the grower writes them: every node comes before its children, and feature -1 marks a leaf. A number goes
// left where its code is at most `bin`; where `bin` is -1, bit c of the node's words says whether category c does.
struct GrownNodes {
    std::span<const std::int32_t> feature;
    std::span<const std::int32_t> bin;
    std::span<const std::int32_t> left;
    std::span<const std::int32_t> right;
    std::span<const bool> missing_left;
    std::span<const float> value;
    std::span<const std::uint32_t> categories; // words_per_node per node
    std::size_t words_per_node;
};

// Adds the tree's value of each document to its score. A feature's n_bins is also the code of its missing values.
// A tree may have 65,536 leaves at most.
template <typename Code>
void score_tree(const Codes<const Code> &codes, std::span<const std::int64_t> n_bins, const GrownNodes &tree,
                std::span<double> scores, int threads);

} // namespace rankwright
