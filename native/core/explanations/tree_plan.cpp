#include "core/explanations/tree_plan.hpp"

#include <algorithm>

namespace rankwright {

TreeShape::TreeShape(const TreeSplits &tree) : places(tree.n_nodes()) {
    std::vector<std::size_t> n_features(tree.n_nodes(), 1);
    for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
        const auto number = static_cast<std::int32_t>(node);
        NodePlace &place = places[node];
        for (NodePlace at = place; at.parent >= 0 && place.above < 0; at = places[at.parent]) {
            if (tree.feature[at.parent] != tree.feature[node]) continue;
            place.above = at.parent;
            place.above_on_left = at.on_left;
        }
        if (place.parent >= 0) n_features[node] = n_features[place.parent] + (place.above < 0);
        most_features = std::max(most_features, n_features[node]);
        if (tree.left[node] >= 0) places[tree.left[node]] = {number, -1, true, false};
        if (tree.right[node] >= 0) places[tree.right[node]] = {number, -1, false, false};
    }
}

namespace {

Passing other_side(const Passing &passing) {
    Passing other;
    for (std::size_t i = 0; i < most_points; ++i) {
        other.left[i] = 1.0 - passing.left[i];
        other.right[i] = 1.0 - passing.right[i];
    }
    other.otherwise = 1.0 - passing.otherwise;
    return other;
}

// A feature that is known sends all weight with the document, one that is unknown the share of all documents.
Passing fixed_passing(double share, bool known) {
    Passing passing;
    passing.left.fill(known ? 1.0 : share);
    passing.right.fill(known ? 0.0 : share);
    passing.otherwise = share;
    return passing;
}

void fill_passing(double share, const std::array<double, most_points> &points, PlannedNode &node) {
    const double above = node.passed;
    const double both = above * share;
    node.to_left.otherwise = share;
    for (std::size_t i = 0; i < most_points; ++i) {
        node.to_left.left[i] = both + (1.0 - both) * points[i];
        node.to_left.right[i] = both * (1.0 - points[i]);
    }
    if (node.place.above < 0) return;
    for (std::size_t i = 0; i < most_points; ++i) {
        const double before = above + (1.0 - above) * points[i];
        node.to_left.left[i] /= before;
        node.to_left.right[i] /= before;
        node.factor[i] = above / (before * before);
    }
}

} // namespace

void make_plan(const TreeSplits &tree, const TreeShape &shape, const Quadrature &rule, std::size_t first, double scale,
               Fixed fixed, TreePlan &plan) {
    plan.n_points = std::min(most_points, rule.points.size() - first);
    std::array<double, most_points> points;
    points.fill(0.5); // those beyond the last have no weight
    plan.weights = {};
    for (std::size_t i = 0; i < plan.n_points; ++i) {
        points[i] = rule.points[first + i];
        plan.weights[i] = rule.weights[first + i] * scale;
    }
    plan.nodes.resize(tree.n_nodes());
    plan.leaf_values = tree.leaf_values;
    for (std::size_t number = 0; number < tree.n_nodes(); ++number) {
        PlannedNode &node = plan.nodes[number];
        const double share = tree.share[number];
        const bool is_fixed = tree.feature[number] == fixed.feature;
        node.place = shape.places[number];
        node.left = tree.left[number];
        node.right = tree.right[number];
        node.slot = is_fixed ? -1 : tree.feature[number];
        node.gain_left = 1.0 - share;
        node.gain_right = -share;
        node.passed = 1.0;
        if (const std::int32_t above = node.place.above; above >= 0) {
            const double on_left = tree.share[above];
            node.passed = plan.nodes[above].passed * (node.place.above_on_left ? on_left : 1.0 - on_left);
        }
        if (is_fixed) {
            node.to_left = fixed_passing(share, fixed.known);
        } else {
            fill_passing(share, points, node);
        }
        if (node.place.parent >= 0) {
            const Passing &to_left = plan.nodes[node.place.parent].to_left;
            node.from_parent = node.place.on_left ? to_left : other_side(to_left);
        }
    }
}

} // namespace rankwright
