#include "core/explanations/contributions.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "core/common/parallel.hpp"
#include "core/explanations/tree_plan.hpp"
#include "core/explanations/tree_sums.hpp"
#include "core/forests/columns.hpp"

namespace rankwright {

namespace {

constexpr std::size_t most_documents = 128; // in a block: enough to share the work of a plan

// A block for each thread where there are few documents.
std::size_t block_width(std::size_t n_rows, int threads) {
    const std::size_t each = n_rows / static_cast<std::size_t>(std::max(threads, 1)) + 1;
    const std::size_t whole = (each + documents_at_once - 1) / documents_at_once * documents_at_once;
    return std::min(whole, most_documents);
}

// The trees with their shapes and rules, made once for all documents.
class ShapedForest {
  public:
    ShapedForest(const CompiledForest &compiled, const SplitShares &splits) : forest_(compiled), shares_(splits) {
        shapes_.reserve(forest_.n_trees());
        for (std::size_t tree = 0; tree < forest_.n_trees(); ++tree) {
            shapes_.emplace_back(splits_of(tree));
            const std::size_t n_points = shapes_.back().n_points();
            if (!rules_.contains(n_points)) rules_.emplace(n_points, gauss_legendre(n_points));
        }
    }

    std::size_t n_trees() const { return forest_.n_trees(); }
    std::size_t n_features() const { return shares_.n_features; }
    std::span<const ForestNode> nodes_of(std::size_t tree) const { return forest_.nodes_of(tree); }
    const TreeShape &shape(std::size_t tree) const { return shapes_[tree]; }
    const Quadrature &rule(std::size_t tree) const { return rules_.at(shapes_[tree].n_points()); }
    TreeSplits splits_of(std::size_t tree) const {
        const std::size_t first = forest_.node_offsets[tree], n = forest_.node_offsets[tree + 1] - first;
        return {shares_.feature.subspan(first, n), shares_.share.subspan(first, n), shares_.left.subspan(first, n),
                shares_.right.subspan(first, n), forest_.values_of(tree)};
    }

  private:
    const CompiledForest &forest_;
    const SplitShares &shares_;
    std::vector<TreeShape> shapes_;
    std::map<std::size_t, Quadrature> rules_;
};

// Some documents as codes, from which the side they take at any node is read.
template <typename Lane> class CodedBlock {
  public:
    CodedBlock(const ValueColumns &columns, std::size_t first, std::size_t count, Simd simd)
        : width((count + documents_at_once - 1) / documents_at_once * documents_at_once),
          lanes_(std::make_unique<Lane[]>(2 * columns.feature.size() * width)) {
        sided_ = fill_columns(columns, {first, count, width}, simd, lanes_.get());
    }

    const std::size_t width; // the documents, and places without one

    // Fills sides[node * width + i] with -1 where document i goes left at the node, else with 0.
    void find_sides(std::span<const ForestNode> nodes, std::vector<std::int8_t> &sides) const {
        sides.resize(nodes.size() * width);
        for (std::size_t number = 0; number < nodes.size(); ++number) {
            const Lane *codes = lanes_.get() + nodes[number].column[sided_] * width;
            const auto last = static_cast<Lane>(nodes[number].code);
            std::int8_t *out = sides.data() + number * width;
            for (std::size_t i = 0; i < width; ++i) out[i] = codes[i] <= last ? -1 : 0;
        }
    }

    bool goes_left(const ForestNode &node, std::size_t document) const {
        return lanes_[node.column[sided_] * width + document] <= static_cast<Lane>(node.code);
    }

  private:
    std::unique_ptr<Lane[]> lanes_;
    bool sided_ = false;
};

// What one thread works with.
struct Workplace {
    TreePlan plan;
    TreeScratch8 scratch;
    std::vector<std::int8_t> sides;
    std::vector<EightNumbers> sums;

    double *zero_sums(std::size_t n) {
        sums.assign(n / documents_at_once, {});
        return sums.data()->lanes;
    }

    // Adds one tree at all points of its rule.
    void add(const ShapedForest &forest, std::size_t tree, const TreeSplits &splits, double scale, Fixed fixed,
             std::size_t width, double *to, Simd simd) {
        const Quadrature &rule = forest.rule(tree);
        for (std::size_t first = 0; first < rule.points.size(); first += most_points) {
            make_plan(splits, forest.shape(tree), rule, first, scale, fixed, plan);
            add_tree(plan, sides.data(), width, scratch, to, simd);
        }
    }
};

// sums[slot * width + i] becomes out[i * n_slots + slot].
void turn(const double *sums, std::size_t width, std::size_t n_slots, std::size_t count, double *out) {
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t slot = 0; slot < n_slots; ++slot) out[i * n_slots + slot] = sums[slot * width + i];
    }
}

std::vector<std::int32_t> distinct(std::span<const std::int32_t> features) {
    std::vector<std::int32_t> found(features.begin(), features.end());
    std::ranges::sort(found);
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

// Interactions of one document: square[one * n + other] has those of one < other, row sums go to the diagonal.
void complete_square(const double *alone, std::size_t n, double *square) {
    for (std::size_t one = 0; one < n; ++one) {
        for (std::size_t other = one + 1; other < n; ++other) square[other * n + one] = square[one * n + other];
    }
    for (std::size_t one = 0; one < n; ++one) {
        double others = 0.0;
        for (std::size_t other = 0; other < n; ++other) others += other == one ? 0.0 : square[one * n + other];
        square[one * n + one] = alone[one] - others;
    }
}

} // namespace

template <typename Lane>
void tree_contributions(const ValueColumns &columns, const CompiledForest &forest, const SplitShares &shares,
                        std::span<double> out, int threads, Simd simd) {
    const ShapedForest shaped(forest, shares);
    const std::size_t n_rows = columns.features.n_rows, n_features = shares.n_features;
    parallel_for(n_rows, threads, block_width(n_rows, threads), [&](std::size_t first, std::size_t last) {
        const CodedBlock<Lane> block(columns, first, last - first, simd);
        Workplace own;
        const std::size_t width = block.width;
        double *sums = own.zero_sums(n_features * width);
        for (std::size_t tree = 0; tree < shaped.n_trees(); ++tree) {
            block.find_sides(shaped.nodes_of(tree), own.sides);
            own.add(shaped, tree, shaped.splits_of(tree), 1.0, {}, width, sums, simd);
        }
        turn(sums, width, n_features, last - first, out.data() + first * n_features);
    });
}

template <typename Lane>
void background_contributions(const ValueColumns &columns, const ValueColumns &background, const CompiledForest &forest,
                              const SplitShares &shares, std::span<double> out, int threads, Simd simd) {
    const ShapedForest shaped(forest, shares);
    const std::size_t n_rows = columns.features.n_rows, n_features = shares.n_features;
    const std::size_t n_others = background.features.n_rows;
    const CodedBlock<Lane> others(background, 0, n_others, simd);
    parallel_for(n_rows, threads, block_width(n_rows, threads), [&](std::size_t first, std::size_t last) {
        const CodedBlock<Lane> block(columns, first, last - first, simd);
        Workplace own;
        std::vector<double> goes_left;
        const std::size_t width = block.width;
        double *sums = own.zero_sums(n_features * width);
        for (std::size_t tree = 0; tree < shaped.n_trees(); ++tree) {
            const auto nodes = shaped.nodes_of(tree);
            TreeSplits splits = shaped.splits_of(tree);
            block.find_sides(nodes, own.sides);
            goes_left.resize(nodes.size());
            for (std::size_t other = 0; other < n_others; ++other) {
                for (std::size_t node = 0; node < nodes.size(); ++node) {
                    goes_left[node] = others.goes_left(nodes[node], other) ? 1.0 : 0.0;
                }
                splits.share = goes_left; // another document passes all of a path's splits, or not
                own.add(shaped, tree, splits, 1.0 / static_cast<double>(n_others), {}, width, sums, simd);
            }
        }
        turn(sums, width, n_features, last - first, out.data() + first * n_features);
    });
}

// How much the contribution of one feature depends on whether another is known: with that other one fixed, once known
// and once not, the first one's contributions differ by twice their interaction.
template <typename Lane>
void tree_interactions(const ValueColumns &columns, const CompiledForest &forest, const SplitShares &shares,
                       std::span<double> out, int threads, Simd simd) {
    const ShapedForest shaped(forest, shares);
    const std::size_t n_features = shares.n_features, n_cells = n_features * n_features;
    constexpr std::size_t width = documents_at_once; // a square of sums for each takes much memory
    parallel_for(columns.features.n_rows, threads, width, [&](std::size_t first, std::size_t last) {
        const CodedBlock<Lane> block(columns, first, last - first, simd);
        Workplace own;
        double *sums = own.zero_sums((n_cells + n_features) * width);
        double *alone = sums + n_cells * width;
        for (std::size_t tree = 0; tree < shaped.n_trees(); ++tree) {
            const TreeSplits splits = shaped.splits_of(tree);
            block.find_sides(shaped.nodes_of(tree), own.sides);
            own.add(shaped, tree, splits, 1.0, {}, width, alone, simd);
            for (const std::int32_t feature : distinct(splits.feature)) {
                double *row = sums + static_cast<std::size_t>(feature) * n_features * width;
                own.add(shaped, tree, splits, 0.5, {feature, true}, width, row, simd);
                own.add(shaped, tree, splits, -0.5, {feature, false}, width, row, simd);
            }
        }
        std::vector<double> totals((last - first) * n_features);
        turn(sums, width, n_cells, last - first, out.data() + first * n_cells);
        turn(alone, width, n_features, last - first, totals.data());
        for (std::size_t row = first; row < last; ++row) {
            complete_square(totals.data() + (row - first) * n_features, n_features, out.data() + row * n_cells);
        }
    });
}

#define RANKWRIGHT_EXPLAIN(Lane)                                                                                       \
    template void tree_contributions<Lane>(const ValueColumns &, const CompiledForest &, const SplitShares &,          \
                                           std::span<double>, int, Simd);                                              \
    template void background_contributions<Lane>(const ValueColumns &, const ValueColumns &, const CompiledForest &,   \
                                                 const SplitShares &, std::span<double>, int, Simd);                   \
    template void tree_interactions<Lane>(const ValueColumns &, const CompiledForest &, const SplitShares &,           \
                                          std::span<double>, int, Simd);
RANKWRIGHT_EXPLAIN(std::uint8_t)
RANKWRIGHT_EXPLAIN(std::uint16_t)
#undef RANKWRIGHT_EXPLAIN

} // namespace rankwright
