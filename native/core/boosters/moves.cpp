#include "core/boosters/moves.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 16;
constexpr std::size_t patience = 6; // steps per document: where more are needed, sorting again is faster

// Puts `order` in order of `before` by insertion, which costs as many steps as documents change places.
template <typename Before> void settle(std::span<std::int64_t> order, Before &&before) {
    std::size_t steps = patience * order.size() + 1;
    for (std::size_t i = 1; i < order.size(); ++i) {
        const auto row = order[i];
        std::size_t place = i;
        for (; place > 0 && before(row, order[place - 1]); --place) {
            order[place] = order[place - 1];
            if (--steps == 0) {
                order[place - 1] = row;
                std::sort(order.begin(), order.end(), before);
                return;
            }
        }
        order[place] = row;
    }
}

} // namespace

void rank_moves(std::span<const double> scores, std::span<const double> column, std::span<const double> moves,
                std::span<const std::int64_t> offsets, std::span<double> moved, std::span<std::int64_t> rows,
                int threads) {
    const std::size_t n_docs = scores.size();
    parallel_for(offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        std::vector<std::int64_t> order;
        for (std::size_t query = first; query < last; ++query) {
            const auto start = static_cast<std::size_t>(offsets[query]);
            order.resize(static_cast<std::size_t>(offsets[query + 1]) - start);
            std::iota(order.begin(), order.end(), static_cast<std::int64_t>(start));
            for (std::size_t m = 0; m < moves.size(); ++m) {
                const auto now = moved.subspan(m * n_docs, n_docs);
                for (std::size_t row = start; row < start + order.size(); ++row)
                    now[row] = scores[row] + moves[m] * column[row];
                settle(std::span(order),
                       [&](std::int64_t a, std::int64_t b) { return now[a] > now[b] || (now[a] == now[b] && a < b); });
                const auto from = static_cast<std::int64_t>(m * n_docs);
                for (std::size_t i = 0; i < order.size(); ++i) rows[m * n_docs + start + i] = order[i] + from;
            }
        }
    });
}

} // namespace rankwright
