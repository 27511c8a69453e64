#include "core/forests/tree_scores.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/forests/forest.hpp"

namespace rankwright {

namespace {

constexpr std::size_t readable_after = 64; // values that must be readable from any leaf on

// How many leaves lie below each node, and which of the tree's leaves, from left to right, is the first of them.
struct LeafNumbers {
    std::vector<std::uint32_t> count, first;

    explicit LeafNumbers(const GrownNodes &tree) : count(tree.feature.size(), 1), first(tree.feature.size(), 0) {
        for (std::size_t node = count.size(); node-- > 0;) {
            if (tree.feature[node] >= 0) count[node] = count[tree.left[node]] + count[tree.right[node]];
        }
        for (std::size_t node = 0; node < first.size(); ++node) {
            if (tree.feature[node] < 0) continue;
            first[tree.left[node]] = first[node];
            first[tree.right[node]] = first[node] + count[tree.left[node]];
        }
    }
};

// The columns that nodes compare: one for each feature that is a number, one for each split of categories.
class TreeColumns {
  public:
    TreeColumns(const GrownNodes &tree, std::span<const std::int64_t> n_bins) : column_of(tree.feature.size()) {
        std::vector<std::int32_t> column_of_feature(n_bins.size(), -1);
        for (std::size_t node = 0; node < tree.feature.size(); ++node) {
            if (tree.feature[node] < 0) continue;
            const auto own = static_cast<std::size_t>(tree.feature[node]);
            if (tree.bin[node] < 0) {
                column_of[node] = add(own, n_bins[own], static_cast<std::int64_t>(words_.size()));
                add_words(tree, node, static_cast<std::size_t>(n_bins[own]));
            } else {
                if (column_of_feature[own] < 0) {
                    column_of_feature[own] = static_cast<std::int32_t>(add(own, n_bins[own], -1));
                }
                column_of[node] = static_cast<std::uint32_t>(column_of_feature[own]);
            }
        }
    }

    std::uint32_t size() const { return static_cast<std::uint32_t>(feature_.size()); }
    template <typename Code> CodeColumns<Code> over(const Codes<const Code> &codes) const {
        return {codes, feature_, missing_, category_words_, words_};
    }

    std::vector<std::uint32_t> column_of; // of each node

  private:
    std::uint32_t add(std::size_t of_feature, std::int64_t missing_code, std::int64_t first_word) {
        feature_.push_back(static_cast<std::int32_t>(of_feature));
        missing_.push_back(missing_code);
        category_words_.push_back(first_word);
        return size() - 1;
    }

    // The bit after the last category says where values without one go.
    void add_words(const GrownNodes &tree, std::size_t node, std::size_t n_categories) {
        const std::size_t start = words_.size();
        const auto own = tree.categories.subspan(node * tree.words_per_node, tree.words_per_node);
        words_.insert(words_.end(), own.begin(), own.end());
        words_.resize(start + std::max(tree.words_per_node, n_categories / 32 + 1));
        words_[start + n_categories / 32] |= static_cast<std::uint32_t>(tree.missing_left[node]) << (n_categories % 32);
    }

    std::vector<std::int32_t> feature_;
    std::vector<std::int64_t> missing_, category_words_;
    std::vector<std::uint32_t> words_;
};

std::vector<ForestNode> nodes_of(const GrownNodes &tree, const TreeColumns &columns, const LeafNumbers &leaves,
                                 std::uint32_t repeat) {
    std::vector<ForestNode> nodes;
    nodes.reserve(tree.feature.size() / 2);
    for (std::size_t node = 0; node < tree.feature.size(); ++node) {
        if (tree.feature[node] < 0) continue;
        const std::uint32_t column = columns.column_of[node];
        const bool is_number = tree.bin[node] >= 0;
        const std::uint32_t sided = column + (is_number && tree.missing_left[node] ? columns.size() : 0);
        const auto code = static_cast<std::uint32_t>(is_number ? tree.bin[node] : 0);
        nodes.push_back(
            {{column, sided}, leaves.first[node] * repeat, code * repeat, leaves.first[tree.right[node]] * repeat});
    }
    return nodes;
}

std::vector<float> values_of(const GrownNodes &tree, const LeafNumbers &leaves) {
    std::vector<float> values(leaves.count[0] + readable_after);
    for (std::size_t node = 0; node < tree.feature.size(); ++node) {
        if (tree.feature[node] < 0) values[leaves.first[node]] = tree.value[node];
    }
    return values;
}

} // namespace

template <typename Code>
void score_tree(const Codes<const Code> &codes, std::span<const std::int64_t> n_bins, const GrownNodes &tree,
                std::span<double> scores, int threads) {
    const LeafNumbers leaves(tree);
    const TreeColumns columns(tree, n_bins);
    const bool bytes_do = sizeof(Code) == 1 && leaves.count[0] <= 256;
    const auto nodes = nodes_of(tree, columns, leaves, bytes_do ? 0x01010101u : 0x00010001u);
    const auto values = values_of(tree, leaves);
    const std::array<std::int64_t, 2> node_offsets{0, static_cast<std::int64_t>(nodes.size())};
    const std::array<std::int64_t, 2> leaf_offsets{0, static_cast<std::int64_t>(leaves.count[0])};
    const CompiledForest forest{nodes, node_offsets, values, leaf_offsets, false};
    if constexpr (sizeof(Code) == 1) {
        if (bytes_do) return score_forest<std::uint8_t>(columns.over(codes), forest, scores, threads);
    }
    score_forest<std::uint16_t>(columns.over(codes), forest, scores, threads);
}

template void score_tree(const Codes<const std::uint8_t> &, std::span<const std::int64_t>, const GrownNodes &,
                         std::span<double>, int);
template void score_tree(const Codes<const std::uint16_t> &, std::span<const std::int64_t>, const GrownNodes &,
                         std::span<double>, int);

} // namespace rankwright
