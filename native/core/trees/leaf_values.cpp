#include "core/trees/leaf_values.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_a_time = 4096;
constexpr std::size_t scores_at_a_time = 16384;
constexpr std::size_t scores_worth_threads = std::size_t{1} << 17; // with fewer, starting one takes longer
constexpr int bits_of_largest = 33; // 2^28 rows, the most a tree can have, then sum to less than 2^62

// The power of two that makes whole steps of values up to `largest`.
double steps_per_unit(double largest) {
    int exponent = 0;
    std::frexp(largest, &exponent);
    return std::ldexp(1.0, bits_of_largest - exponent);
}

struct WholeSums {
    std::int64_t gradient = 0, curvature = 0;
};

struct Piece {
    std::size_t leaf, begin, end;
};

std::vector<Piece> pieces_of(std::span<const RowRange> leaves) {
    std::vector<Piece> pieces;
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        const std::size_t end = leaves[leaf].begin + leaves[leaf].count;
        for (std::size_t begin = leaves[leaf].begin; begin < end; begin += rows_at_a_time) {
            pieces.push_back({leaf, begin, std::min(end, begin + rows_at_a_time)});
        }
    }
    return pieces;
}

} // namespace

std::vector<TrueSums> sum_leaves(std::span<const RowRange> leaves, std::span<const std::uint32_t> rows,
                                 std::span<const float> gradient, std::span<const float> curvature,
                                 const LargestForces &largest, Team &team, Exchange *exchange) {
    const std::vector<Piece> pieces = pieces_of(leaves);
    const double gradient_steps = steps_per_unit(largest.gradient), curvature_steps = steps_per_unit(largest.curvature);
    std::vector<WholeSums> of_pieces(pieces.size());
    std::vector<std::int64_t> of_leaves(2 * leaves.size()); // gradient, curvature
    std::atomic<std::size_t> next{0};
    team.run([&](int) {
        for (std::size_t number; (number = next.fetch_add(1)) < pieces.size();) {
            WholeSums sums;
            for (std::size_t i = pieces[number].begin; i < pieces[number].end; ++i) {
                sums.gradient += std::llrint(static_cast<double>(gradient[rows[i]]) * gradient_steps);
                sums.curvature += std::llrint(static_cast<double>(curvature[rows[i]]) * curvature_steps);
            }
            of_pieces[number] = sums;
        }
    });
    for (std::size_t number = 0; number < pieces.size(); ++number) {
        of_leaves[2 * pieces[number].leaf] += of_pieces[number].gradient;
        of_leaves[2 * pieces[number].leaf + 1] += of_pieces[number].curvature;
    }
    if (exchange) exchange->add_up(of_leaves);
    std::vector<TrueSums> true_sums;
    true_sums.reserve(leaves.size());
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        true_sums.push_back({static_cast<double>(of_leaves[2 * leaf]) / gradient_steps,
                             static_cast<double>(of_leaves[2 * leaf + 1]) / curvature_steps});
    }
    return true_sums;
}

void add_leaf_values(std::span<const std::int32_t> feature, std::span<const std::int64_t> begin,
                     std::span<const std::int64_t> count, std::span<const float> value,
                     std::span<const std::uint32_t> rows, std::span<double> scores, int threads) {
    std::vector<RowRange> leaves;
    std::vector<double> value_of_leaf;
    for (std::size_t node = 0; node < feature.size(); ++node) {
        if (feature[node] >= 0) continue;
        leaves.push_back({static_cast<std::size_t>(begin[node]), static_cast<std::size_t>(count[node])});
        value_of_leaf.push_back(static_cast<double>(value[node]));
    }
    // A part is the same share of every leaf's rows. Rows of a leaf mostly ascend, so that parts are mostly apart in
    // memory: threads then do not write to the same lines of the cache, and the scores of a part stay in it.
    const std::size_t n_parts = rows.size() / scores_at_a_time + 1;
    const int n_workers = rows.size() < scores_worth_threads ? 1 : threads;
    parallel_for(n_parts, n_workers, 1, [&](std::size_t part, std::size_t) {
        for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
            const std::size_t first = leaves[leaf].begin + leaves[leaf].count * part / n_parts;
            const std::size_t last = leaves[leaf].begin + leaves[leaf].count * (part + 1) / n_parts;
            for (std::size_t i = first; i < last; ++i) scores[rows[i]] += value_of_leaf[leaf];
        }
    });
}

} // namespace rankwright
