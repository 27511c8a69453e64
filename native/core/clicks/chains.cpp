#include <algorithm>
#include <mutex>
#include <vector>

#include "core/clicks/models.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 64;
constexpr std::size_t n_of_pair = 6, n_at_rank = 3; // columns of `count_clicks`

struct OneList {
    std::span<const std::int32_t> pairs;
    std::span<const bool> clicked;
    std::int64_t first, last; // ranks of clicks, -1 for none
};

OneList list_at(const PairLists &lists, std::int64_t k) {
    const std::int64_t start = lists.offsets[k], size = lists.offsets[k + 1] - start;
    const auto clicked = lists.clicked.subspan(start, size);
    const auto found = std::find(clicked.begin(), clicked.end(), true) - clicked.begin();
    std::int64_t last = size - 1;
    while (last >= 0 && !clicked[last]) --last;
    return {lists.pairs.subspan(start, size), clicked, last < 0 ? -1 : found, last};
}

} // namespace

void count_clicks(const PairLists &lists, std::size_t n_ranks, std::span<std::int64_t> of_pair,
                  std::span<std::int64_t> at_rank, int threads) {
    std::fill(of_pair.begin(), of_pair.end(), 0);
    std::fill(at_rank.begin(), at_rank.end(), 0);
    std::mutex guard; // whole numbers add up to the same in any order
    parallel_for(lists.n_queries(), threads, queries_at_a_time, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int64_t> own(at_rank.size(), 0);
        for (std::int64_t k = lists.list_starts[begin]; k < lists.list_starts[end]; ++k) {
            const OneList list = list_at(lists, k);
            const std::int64_t count = lists.counts[k], size = static_cast<std::int64_t>(list.pairs.size());
            const std::int64_t to_first = list.first < 0 ? size - 1 : list.first;
            const std::int64_t to_last = list.last < 0 ? size - 1 : list.last;
            for (std::int64_t rank = 0; rank < size; ++rank) {
                std::int64_t *pair = &of_pair[list.pairs[rank] * n_of_pair];
                std::int64_t *place = &own[std::min<std::size_t>(rank, n_ranks - 1) * n_at_rank];
                const bool is_last = rank == list.last;
                pair[0] += count, place[0] += count;
                if (list.clicked[rank]) pair[1] += count, place[1] += count;
                if (rank <= to_first) pair[2] += count;
                if (rank <= to_last) pair[3] += count;
                if (is_last) pair[4] += count, place[2] += count;
                pair[5] += count * rank;
            }
        }
        std::scoped_lock lock(guard);
        for (std::size_t i = 0; i < own.size(); ++i) at_rank[i] += own[i];
    });
}

void dbn_step(const PairLists &lists, std::span<const double> attraction, std::span<const double> satisfaction,
              double persistence, std::span<double> examined, std::span<double> satisfied, std::span<double> went_on,
              std::span<double> could_go_on, int threads) {
    std::fill(examined.begin(), examined.end(), 0.0);
    std::fill(satisfied.begin(), satisfied.end(), 0.0);
    parallel_for(lists.n_queries(), threads, queries_at_a_time, [&](std::size_t begin, std::size_t end) {
        std::vector<double> quiet; // the chance of no more clicks from a rank on, if it is examined
        for (std::size_t query = begin; query < end; ++query) {
            double on = 0, could = 0;
            for (std::int64_t k = lists.list_starts[query]; k < lists.list_starts[query + 1]; ++k) {
                const OneList list = list_at(lists, k);
                const auto count = static_cast<double>(lists.counts[k]);
                const std::int64_t size = static_cast<std::int64_t>(list.pairs.size());
                quiet.assign(size + 1, 1.0);
                const auto after = [&](std::int64_t rank) { // the chance of no more clicks, if the user may go on
                    return rank + 1 == size ? 1.0 : 1 - persistence + persistence * quiet[rank + 1];
                };
                for (std::int64_t rank = size - 1; rank > list.last; --rank)
                    quiet[rank] = (1 - attraction[list.pairs[rank]]) * after(rank);
                for (std::int64_t rank = 0; rank <= list.last; ++rank) examined[list.pairs[rank]] += count;
                double chance = 1; // that the next rank is examined, or at the last click, that the user may go on
                std::int64_t rank = list.last;
                if (rank >= 0) {
                    on += count * static_cast<double>(rank), could += count * static_cast<double>(rank);
                    const double content = satisfaction[list.pairs[rank]];
                    const double leaves = content / (content + (1 - content) * after(rank));
                    satisfied[list.pairs[rank]] += count * leaves;
                    chance = 1 - leaves;
                    if (rank + 1 < size) {
                        could += count * chance;
                        chance *= persistence * quiet[rank + 1] / after(rank);
                        on += count * chance;
                    }
                }
                for (rank = list.last + 1; rank < size; ++rank) {
                    examined[list.pairs[rank]] += count * chance;
                    if (rank + 1 == size) break;
                    could += count * chance;
                    chance *= persistence * quiet[rank + 1] / after(rank);
                    on += count * chance;
                }
            }
            went_on[query] = on, could_go_on[query] = could;
        }
    });
}

} // namespace rankwright
