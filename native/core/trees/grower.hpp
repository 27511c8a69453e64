// Growing one tree, leaf by leaf or level by level, on bin codes.
#pragma once

#include <cstdint>
#include <span>

#include "core/binning/codes.hpp"
#include "core/binning/sparse_codes.hpp"
#include "core/trees/arranged_rows.hpp"
#include "core/trees/exchange.hpp"
#include "core/trees/split.hpp"

namespace rankwright {

// The properties of each feature. The structs of this file that come from Python have twins in
// kernels/records.py.
struct SplitColumns {
    std::span<const std::int64_t> n_bins; // without that of missing values
    std::span<const bool> categorical;
    std::span<const std::int8_t> monotone; // +1 where values must rise with the feature, -1 where fall, else 0
    std::span<const bool> asked;           // whether the tree may split on it
};

// What documents weigh in histograms: gradient and curvature as quantise_lambdas gives them, and what both were
// multiplied by.
struct QuantisedForces {
    std::span<const std::int32_t> documents;
    double gradient_scale, curvature_scale;
};

// What a tree is grown on.
template <typename Code> struct TreeData {
    Codes<const Code> codes;
    SplitColumns columns;
    QuantisedForces quantised;
    std::span<const float> gradient, curvature;
    bool all_rows;      // whether the tree's rows are all rows, in order
    std::uint64_t key;  // of the tree's random numbers
    Exchange *exchange; // with the workers that have the tree's other rows; null where there are none
};

struct TreeSettings {
    std::int64_t max_leaves;
    std::int64_t max_depth;
    std::int64_t min_docs;
    double min_curvature;
    double l2;
    double min_gain;
    bool newton; // splits by gradient² / (curvature + l2); otherwise by gradient² / count
    double category_smoothing;
    std::int64_t max_split_categories;
    double learning_rate;
    bool symmetric;                // all leaves of a level have the same split
    double gain_noise;             // in units of what a split that tells nothing apart gains on average
    double split_feature_fraction; // the share of the tree's features that is drawn for each split
};

// A tree by node, the root first; the children of a node are neighbours and come after it. Feature -1 marks a leaf.
// A node has `count` documents, here and with other workers. Bit c of a node's category words says that category c goes
// left.
struct Tree {
    std::span<std::int32_t> feature, bin, left, right;
    std::span<bool> missing_left;
    std::span<double> gain;
    std::span<float> value;
    std::span<float> curvature; // of a node's documents together
    std::span<std::int64_t> count;
    std::span<std::uint32_t> categories;
    std::size_t n_category_words; // of each node
};

// The tree's rows that are here: `rows` is given in row order and comes back in the order of leaves. Those of node n
// are then rows[begin[n]] to rows[begin[n] + held[n]].
struct RowListing {
    std::span<std::int64_t> begin, held;
    std::span<std::uint32_t> rows;
};

// Memory that a caller reuses from tree to tree, and the codes arranged for sums, or nothing.
struct TreeScratch {
    std::span<std::uint32_t> rows; // as many as the tree has
    std::span<std::uint8_t> sides;
    std::span<std::uint64_t> histograms; // room for two at least
    ArrangedRows arranged;
};

// Fills `tree` and `listing`, and returns the number of nodes, at most 2 * max_leaves - 1. The tree is the same for any
// number of threads, any room for histograms and any division of the rows among workers.
template <typename Code>
std::size_t grow_tree(const TreeData<Code> &data, const TreeSettings &settings, TreeScratch scratch, Tree tree,
                      RowListing listing, int threads, Simd simd = simd_level());

extern template std::size_t grow_tree(const TreeData<std::uint8_t> &, const TreeSettings &, TreeScratch, Tree,
                                      RowListing, int, Simd);
extern template std::size_t grow_tree(const TreeData<std::uint16_t> &, const TreeSettings &, TreeScratch, Tree,
                                      RowListing, int, Simd);
extern template std::size_t grow_tree(const TreeData<SparseCode> &, const TreeSettings &, TreeScratch, Tree, RowListing,
                                      int, Simd);

} // namespace rankwright
