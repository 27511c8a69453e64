#include "core/nets/plain_net.hpp"

#include <algorithm>
#include <vector>

#include "core/common/parallel.hpp"
#include "core/nets/net_pass.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_once = 64; // few enough that a wide layer's outputs stay in the processor's cache
constexpr std::size_t most_parts = 8;    // that derivatives are summed in, whatever the number of threads

} // namespace

void net_scores(const PlainNet &net, const NetFeatures &features, std::span<const std::int64_t> rows, std::uint64_t key,
                std::span<double> scores, int threads) {
    const std::size_t n_members = net.n_members;
    const NetMatrices matrices(net, features.pieces, NetMatrices::Ways::forward);
    parallel_for(rows.size(), threads, 8 * rows_at_once, [&](std::size_t first, std::size_t last) {
        NetPass pass(matrices);
        std::vector<double> own(rows_at_once * n_members);
        for (std::size_t k = first; k < last; k += rows_at_once) {
            const std::size_t n = std::min(rows_at_once, last - k);
            pass.forward(features, rows.subspan(k, n), key, std::span(own).first(n * n_members));
            mean_scores(own, n_members, scores.subspan(k, n));
        }
    });
}

void net_member_scores(const PlainNet &net, const NetFeatures &features, std::span<const std::int64_t> rows,
                       std::uint64_t key, std::span<double> scores, int threads) {
    const std::size_t n_members = net.n_members;
    const NetMatrices matrices(net, features.pieces, NetMatrices::Ways::forward);
    parallel_for(rows.size(), threads, 8 * rows_at_once, [&](std::size_t first, std::size_t last) {
        NetPass pass(matrices);
        for (std::size_t k = first; k < last; k += rows_at_once) {
            const std::size_t n = std::min(rows_at_once, last - k);
            pass.forward(features, rows.subspan(k, n), key, scores.subspan(k * n_members, n * n_members));
        }
    });
}

void net_gradient(const PlainNet &net, const NetFeatures &features, std::span<const std::int64_t> rows,
                  std::uint64_t key, std::span<const float> forces, std::span<float> gradient, int threads) {
    const std::size_t n_members = net.n_members;
    const NetMatrices matrices(net, features.pieces, NetMatrices::Ways::both);
    const std::size_t n_blocks = (rows.size() + rows_at_once - 1) / rows_at_once;
    std::vector<Numbers> parts(std::min(most_parts, n_blocks)); // sums of derivatives
    parallel_for(parts.size(), threads, 1, [&](std::size_t part, std::size_t) {
        NetPass pass(matrices);
        parts[part].assign(matrices.n_sums(), 0.0F);
        std::vector<double> scores(rows_at_once * n_members);
        for (std::size_t block = part * n_blocks / parts.size(); block < (part + 1) * n_blocks / parts.size();
             ++block) {
            const std::size_t k = block * rows_at_once, n = std::min(rows_at_once, rows.size() - k);
            WayBack way_back = pass.forward(features, rows.subspan(k, n), key, std::span(scores).first(n * n_members));
            way_back.add_derivatives(forces.subspan(k * n_members, n * n_members), parts[part]);
        }
    });
    Numbers all(matrices.n_sums());
    for (const Numbers &sums : parts) add_numbers(sums, all);
    matrices.write_gradient(all, gradient);
}

} // namespace rankwright
