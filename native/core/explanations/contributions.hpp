// What each feature adds to the score that a forest gives a document; tree_plan.hpp explains how it is found.
#pragma once

#include <cstdint>
#include <span>

#include "core/common/simd.hpp"
#include "core/forests/forest.hpp"

namespace rankwright {

// For each inner node of a compiled forest: the feature it splits, the share of documents that it sends left, and its
// children as numbers of inner nodes within the tree, or -1 - the number of a leaf.
struct SplitShares {
    std::span<const std::int32_t> feature;
    std::span<const double> share;
    std::span<const std::int32_t> left, right;
    std::size_t n_features;
};

// Fills out[row * n_features + feature].
template <typename Lane>
void tree_contributions(const ValueColumns &columns, const CompiledForest &forest, const SplitShares &shares,
                        std::span<double> out, int threads, Simd simd = simd_level());

// The same where features that are not known have the values of a document of `background`, on average over all of
// them; the shares of `shares` do not count.
template <typename Lane>
void background_contributions(const ValueColumns &columns, const ValueColumns &background, const CompiledForest &forest,
                              const SplitShares &shares, std::span<double> out, int threads, Simd simd = simd_level());

// Fills out[(row * n_features + one) * n_features + other] with what the two features add by acting together, half of
// it in each of the two places; on the diagonal with what is left of the feature's contribution.
template <typename Lane>
void tree_interactions(const ValueColumns &columns, const CompiledForest &forest, const SplitShares &shares,
                       std::span<double> out, int threads, Simd simd = simd_level());

} // namespace rankwright
