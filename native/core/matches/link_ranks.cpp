#include "core/matches/link_ranks.hpp"

#include <cmath>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t documents_at_a_time = 4096;

} // namespace

double page_rank_step(std::span<const std::int64_t> starts, std::span<const std::int32_t> sources,
                      std::span<const std::int32_t> n_targets, double damping, std::span<const double> ranks,
                      std::span<double> passed_on, std::span<double> next, int threads) {
    const std::size_t n = ranks.size();
    double lost = 0.0; // by documents without links; sums over all documents have one order, whatever the threads
    for (std::size_t document = 0; document < n; ++document) {
        if (n_targets[document] == 0) lost += ranks[document];
        passed_on[document] = n_targets[document] == 0 ? 0.0 : ranks[document] / n_targets[document];
    }
    const double alike = (1.0 - damping + damping * lost) / static_cast<double>(n);
    parallel_for(n, threads, documents_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t document = begin; document < end; ++document) {
            double sum = 0.0;
            for (std::int64_t k = starts[document]; k < starts[document + 1]; ++k) sum += passed_on[sources[k]];
            next[document] = alike + damping * sum;
        }
    });
    double change = 0.0;
    for (std::size_t document = 0; document < n; ++document) change += std::abs(next[document] - ranks[document]);
    return change;
}

} // namespace rankwright
