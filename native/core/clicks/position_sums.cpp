#include "core/clicks/position_sums.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 64; // part of the order of sums: changing it changes the last bits

double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

} // namespace

void position_losses(std::span<const std::int64_t> offsets, std::span<const float> labels,
                     std::span<const double> scores, std::span<const std::int64_t> positions,
                     std::span<const double> clicked_weight, std::span<const double> other_weight,
                     std::span<double> of_clicked, std::span<double> of_other, int threads) {
    const std::size_t n_queries = offsets.size() - 1, n_positions = clicked_weight.size();
    const std::size_t n_blocks = (n_queries + queries_at_a_time - 1) / queries_at_a_time;
    std::vector<double> sums(n_blocks * 2 * n_positions, 0.0);
    parallel_for(n_queries, threads, queries_at_a_time, [&](std::size_t begin, std::size_t end) {
        double *clicked = sums.data() + begin / queries_at_a_time * 2 * n_positions, *other = clicked + n_positions;
        for (std::size_t query = begin; query < end; ++query) {
            for (std::int64_t hi = offsets[query]; hi < offsets[query + 1]; ++hi) {
                if (!(labels[hi] > 0)) continue;
                for (std::int64_t lo = offsets[query]; lo < offsets[query + 1]; ++lo) {
                    if (!(labels[hi] > labels[lo])) continue;
                    const double cost = softplus(scores[lo] - scores[hi]);
                    clicked[positions[hi]] += cost * other_weight[positions[lo]];
                    other[positions[lo]] += cost * clicked_weight[positions[hi]];
                }
            }
        }
    });
    std::fill(of_clicked.begin(), of_clicked.end(), 0.0);
    std::fill(of_other.begin(), of_other.end(), 0.0);
    for (std::size_t block = 0; block < n_blocks; ++block) {
        for (std::size_t position = 0; position < n_positions; ++position) {
            of_clicked[position] += sums[(2 * block) * n_positions + position];
            of_other[position] += sums[(2 * block + 1) * n_positions + position];
        }
    }
}

} // namespace rankwright
