// How the value of a tree is shared out among the features on its paths.
//
// A coalition of features knows a document; features outside it are replaced by what is usual. A leaf with the value v,
// reached by splits on features 1 … d, is a game: coalition S gets v · Π_{i in S} o_i · Π_{i not in S} r_i, where o_i
// is 1 if the document passes all splits on i along the path, else 0, and r_i is the share of all documents that do.
// The Shapley value of feature i is an integral over the chance t that another feature is known:
//
//     v · (o_i - r_i) · ∫ Π_{j ≠ i} (r_j + (o_j - r_j) t) dt,
//
// of a polynomial of degree d - 1, which Gauss and Legendre's rule gives exactly from ⌈d / 2⌉ points. At a point all
// leaves of a tree are summed together. Let a node send the share r of documents left, and let b be 1 where the
// document goes left. If its feature is not split on above, a share T = r + (b - r) t of the node's weight P goes left,
// and 1 - T right:
//
//     G = G_right + T · D with D = G_left - G_right  (upwards; at a leaf G is its value)
//     P_left = P · T, P_right = P - P_left           (downwards; at the root P is the point's weight)
//     the feature gets the sum over points of P · D · (b - r).
//
// If splits above, passed by the share r' of documents and by this one (o' = 1), were on the same feature:
// T = (r' r + (b - r' r) t) / (r' + (1 - r') t), and what the feature gets is multiplied by r' / (r' + (1 - r') t)²; if
// the document does not pass them (o' = 0), then T = r, and the feature gets nothing here.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/explanations/quadrature.hpp"

namespace rankwright {

inline constexpr std::size_t most_points = 8; // that are handled at once; more are taken in turns

// The inner nodes of a tree, parents first. A child is the number of an inner node, or -1 - the number of a leaf.
struct TreeSplits {
    std::span<const std::int32_t> feature;
    std::span<const double> share; // of documents at the node that go left
    std::span<const std::int32_t> left, right;
    std::span<const float> leaf_values;

    std::size_t n_nodes() const { return feature.size(); }
};

// Where a node stands: below which other node, and below which one that splits the same feature; -1 for none.
struct NodePlace {
    std::int32_t parent = -1, above = -1;
    bool on_left = false, above_on_left = false; // of these two
};

struct TreeShape {
    std::vector<NodePlace> places;
    std::size_t most_features = 0; // on one path

    explicit TreeShape(const TreeSplits &tree);
    std::size_t n_points() const { return most_features < 2 ? 1 : (most_features + 1) / 2; }
};

// The share of a node's weight that goes to a child, at each point.
struct Passing {
    std::array<double, most_points> left, right; // where the document goes left or right, and passed all above
    double otherwise;                            // where it did not pass the splits above on this feature
};

struct PlannedNode {
    NodePlace place;
    std::int32_t left, right;
    std::int32_t slot; // of the feature in the sums; -1 where it gets nothing
    double gain_left, gain_right;
    double passed; // the share of documents that pass the splits above on the same feature
    Passing to_left;
    Passing from_parent;
    std::array<double, most_points> factor = {}; // of what the feature gets, where it was split above
};

// Which player has its mind made up: that feature is known, or unknown, at every point.
struct Fixed {
    std::int32_t feature = -1;
    bool known = false;
};

struct TreePlan {
    std::vector<PlannedNode> nodes;
    std::span<const float> leaf_values;
    std::array<double, most_points> weights; // of the points
    std::size_t n_points;
};

// The plan for points [first, first + most_points) of the rule. Weights are multiplied by `scale`.
void make_plan(const TreeSplits &tree, const TreeShape &shape, const Quadrature &rule, std::size_t first, double scale,
               Fixed fixed, TreePlan &plan);

} // namespace rankwright
