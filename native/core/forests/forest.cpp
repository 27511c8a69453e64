#include "core/forests/forest.hpp"

#include <array>
#include <memory>

#include "core/common/parallel.hpp"
#include "core/forests/columns.hpp"
#include "core/forests/walk.hpp"

namespace rankwright {

namespace {

template <typename Lane> inline constexpr std::size_t max_width = max_registers * lanes_per_register<Lane>;

// Some documents, made ready for any number of trees.
template <typename Lane> class ReadyBlock {
  public:
    template <typename Columns>
    ReadyBlock(const Columns &columns, std::size_t first, std::size_t count, Simd simd) : simd_(simd) {
        const std::size_t n_registers = (count + lanes_per_register<Lane> - 1) / lanes_per_register<Lane>;
        block_.n_registers = n_registers > 2 ? 4 : n_registers;
        const std::size_t n_lanes = 2 * columns.feature.size() * block_.width();
        lanes_ = std::make_unique_for_overwrite<Lane[]>(n_lanes);
        if (count < block_.width()) std::fill_n(lanes_.get(), n_lanes, Lane{0}); // places without a document
        block_.lanes = lanes_.get();
        block_.sided = fill_columns(columns, {first, count, block_.width()}, simd_, lanes_.get());
    }

    std::size_t width() const { return block_.width(); }

    // Calls take(t, leaves) for every tree in order, leaves[i] being the leaf that document i reaches.
    template <typename Take> void for_each_tree(const CompiledForest &forest, Take &&take) const {
        std::array<std::span<const ForestNode>, registers_at_once> trees;
        std::array<Lane, registers_at_once * lanes_per_register<Lane>> leaves;
        for (std::size_t done = 0; done < forest.n_trees(); done += block_.trees_at_once()) {
            const std::size_t n_now = std::min(block_.trees_at_once(), forest.n_trees() - done);
            trees.fill({});
            for (std::size_t i = 0; i < n_now; ++i) trees[i] = forest.nodes_of(done + i);
            walk_trees(trees.data(), forest.by_bits, block_, leaves.data(), simd_);
            for (std::size_t i = 0; i < n_now; ++i) take(done + i, leaves.data() + i * width());
        }
    }

  private:
    Simd simd_;
    std::unique_ptr<Lane[]> lanes_;
    Block<Lane> block_;
};

} // namespace

template <typename Lane, typename Columns>
void score_forest(const Columns &columns, const CompiledForest &forest, std::span<double> scores, int threads,
                  Simd simd) {
    parallel_for(scores.size(), threads, max_width<Lane>, [&](std::size_t first, std::size_t last) {
        const ReadyBlock<Lane> block(columns, first, last - first, simd);
        std::array<double, max_width<Lane>> sums{};
        std::copy(scores.begin() + first, scores.begin() + last, sums.begin());
        block.for_each_tree(forest, [&](std::size_t tree, const Lane *leaves) {
            add_values(forest.values_of(tree), leaves, block.width(), sums.data(), simd);
        });
        std::copy_n(sums.begin(), last - first, scores.begin() + first);
    });
}

template <typename Lane, typename Columns>
void find_leaves(const Columns &columns, const CompiledForest &forest, std::span<std::uint16_t> leaves_of_rows,
                 int threads, Simd simd) {
    const std::size_t n_trees = forest.n_trees(), n_rows = n_trees == 0 ? 0 : leaves_of_rows.size() / n_trees;
    parallel_for(n_rows, threads, max_width<Lane>, [&](std::size_t first, std::size_t last) {
        const ReadyBlock<Lane> block(columns, first, last - first, simd);
        block.for_each_tree(forest, [&](std::size_t tree, const Lane *leaves) {
            for (std::size_t row = first; row < last; ++row) leaves_of_rows[row * n_trees + tree] = leaves[row - first];
        });
    });
}

template void score_forest<std::uint8_t>(const ValueColumns &, const CompiledForest &, std::span<double>, int, Simd);
template void score_forest<std::uint16_t>(const ValueColumns &, const CompiledForest &, std::span<double>, int, Simd);
template void score_forest<std::uint8_t>(const CodeColumns<std::uint8_t> &, const CompiledForest &, std::span<double>,
                                         int, Simd);
template void score_forest<std::uint16_t>(const CodeColumns<std::uint8_t> &, const CompiledForest &, std::span<double>,
                                          int, Simd);
template void score_forest<std::uint16_t>(const CodeColumns<std::uint16_t> &, const CompiledForest &, std::span<double>,
                                          int, Simd);
template void find_leaves<std::uint8_t>(const ValueColumns &, const CompiledForest &, std::span<std::uint16_t>, int,
                                        Simd);
template void find_leaves<std::uint16_t>(const ValueColumns &, const CompiledForest &, std::span<std::uint16_t>, int,
                                         Simd);

} // namespace rankwright
