// What the features of a tree get for a block of documents.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/common/simd.hpp"
#include "core/explanations/tree_plan.hpp"

namespace rankwright {

inline constexpr std::size_t documents_at_once = 8; // a block is a multiple of it

struct alignas(64) EightNumbers {
    double lanes[documents_at_once];
};

// Memory that is kept from tree to tree.
struct TreeScratch8 {
    std::vector<EightNumbers> differences, weights, leaves, left, passed;
};

// Adds what each feature gets: sums[slot * width + i] for document i of the block. sides[node * width + i] is -1 where
// document i goes left at the node, else 0.
void add_tree(const TreePlan &plan, const std::int8_t *sides, std::size_t width, TreeScratch8 &scratch, double *sums,
              Simd simd);

} // namespace rankwright
