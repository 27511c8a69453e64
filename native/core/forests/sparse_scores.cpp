#include "core/forests/sparse_scores.hpp"

#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_a_time = 4096;

bool goes_left(const GrownNodes &tree, std::size_t node, std::size_t code, std::size_t missing) {
    if (code == missing) return tree.missing_left[node];
    if (tree.bin[node] >= 0) return code <= static_cast<std::size_t>(tree.bin[node]);
    return (tree.categories[node * tree.words_per_node + code / 32] >> (code % 32)) & 1u;
}

} // namespace

void score_sparse_tree(const Codes<const SparseCode> &codes, std::span<const std::int64_t> n_bins,
                       const GrownNodes &tree, std::span<double> scores, int threads) {
    std::vector<SparseColumn> columns(tree.feature.size());
    for (std::size_t node = 0; node < columns.size(); ++node) {
        if (tree.feature[node] >= 0) columns[node] = codes.column(static_cast<std::size_t>(tree.feature[node]));
    }
    parallel_for(scores.size(), threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            std::size_t node = 0;
            while (tree.feature[node] >= 0) {
                const auto missing = static_cast<std::size_t>(n_bins[static_cast<std::size_t>(tree.feature[node])]);
                const bool left = goes_left(tree, node, codes.code(columns[node], row), missing);
                node = static_cast<std::size_t>(left ? tree.left[node] : tree.right[node]);
            }
            scores[row] += static_cast<double>(tree.value[node]);
        }
    });
}

} // namespace rankwright
