#include <algorithm>
#include <vector>

#include "core/clicks/models.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t pairs_at_a_time = 4096; // part of the order of sums: changing it changes the last bits

struct Counts {
    std::int64_t shown = 0, clicks = 0;
};

// Calls body(pair within the query, context, whether clicked, count) for each document shown for a query.
template <typename Body>
void each_shown(const PairLists &lists, std::size_t query, std::span<const std::int32_t> context_of,
                std::size_t n_ranks, Body &&body) {
    for (std::int64_t k = lists.list_starts[query]; k < lists.list_starts[query + 1]; ++k) {
        std::size_t last = 0; // one more than the rank of the last click
        const std::int64_t start = lists.offsets[k];
        for (std::int64_t row = start; row < lists.offsets[k + 1]; ++row) {
            const std::size_t rank = std::min<std::size_t>(row - start, n_ranks - 1);
            body(lists.pairs[row] - lists.pair_starts[query], context_of[rank * (n_ranks + 1) + last],
                 lists.clicked[row], lists.counts[k]);
            if (lists.clicked[row]) last = std::min<std::size_t>(row - start + 1, n_ranks);
        }
    }
}

template <typename Body>
void each_query_table(const PairLists &lists, std::span<const std::int32_t> context_of, std::size_t n_ranks,
                      int threads, Body &&body) {
    const std::size_t n_contexts = 1 + *std::max_element(context_of.begin(), context_of.end());
    parallel_for(lists.n_queries(), threads, 16, [&](std::size_t begin, std::size_t end) {
        std::vector<Counts> table;
        for (std::size_t query = begin; query < end; ++query) {
            table.assign((lists.pair_starts[query + 1] - lists.pair_starts[query]) * n_contexts, {});
            each_shown(lists, query, context_of, n_ranks,
                       [&](std::int64_t pair, std::int32_t context, bool clicked, std::int64_t count) {
                           Counts &cell = table[pair * n_contexts + context];
                           cell.shown += count;
                           cell.clicks += clicked ? count : 0;
                       });
            for (std::int64_t pair = lists.pair_starts[query]; pair < lists.pair_starts[query + 1]; ++pair)
                body(pair, std::span<const Counts>(table).subspan((pair - lists.pair_starts[query]) * n_contexts,
                                                                  n_contexts));
        }
    });
}

} // namespace

void count_cells(const PairLists &lists, std::span<const std::int32_t> context_of, std::size_t n_ranks,
                 std::span<std::int64_t> n_cells, int threads) {
    each_query_table(lists, context_of, n_ranks, threads, [&](std::int64_t pair, std::span<const Counts> cells) {
        n_cells[pair] = std::count_if(cells.begin(), cells.end(), [](const Counts &cell) { return cell.shown > 0; });
    });
}

void fill_cells(const PairLists &lists, std::span<const std::int32_t> context_of, std::size_t n_ranks,
                std::span<const std::int64_t> starts, std::span<std::int32_t> contexts, std::span<std::int64_t> shown,
                std::span<std::int64_t> clicks, int threads) {
    each_query_table(lists, context_of, n_ranks, threads, [&](std::int64_t pair, std::span<const Counts> cells) {
        std::int64_t place = starts[pair];
        for (std::size_t context = 0; context < cells.size(); ++context) {
            if (cells[context].shown == 0 || place == starts[pair + 1]) continue;
            contexts[place] = static_cast<std::int32_t>(context);
            shown[place] = cells[context].shown;
            clicks[place++] = cells[context].clicks;
        }
    });
}

void examination_step(const PairCells &cells, std::span<const double> attraction, std::span<const double> examination,
                      std::span<double> examined_of_pair, std::span<double> examined_in_context, int threads) {
    const std::size_t n_pairs = attraction.size(), n_contexts = examination.size();
    const std::size_t n_blocks = (n_pairs + pairs_at_a_time - 1) / pairs_at_a_time;
    std::vector<double> sums(n_blocks * n_contexts, 0.0);
    parallel_for(n_pairs, threads, pairs_at_a_time, [&](std::size_t begin, std::size_t end) {
        double *own = sums.data() + begin / pairs_at_a_time * n_contexts;
        for (std::size_t pair = begin; pair < end; ++pair) {
            double of_pair = 0;
            for (std::int64_t cell = cells.starts[pair]; cell < cells.starts[pair + 1]; ++cell) {
                const double chance = examination[cells.contexts[cell]], attracts = attraction[pair];
                const auto clicks = static_cast<double>(cells.clicks[cell]);
                const double skips = static_cast<double>(cells.shown[cell]) - clicks;
                // Examined in spite of no click: seen, and not found attractive.
                const double examined = clicks + skips * chance * (1 - attracts) / (1 - chance * attracts);
                of_pair += examined;
                own[cells.contexts[cell]] += examined;
            }
            examined_of_pair[pair] = of_pair;
        }
    });
    std::fill(examined_in_context.begin(), examined_in_context.end(), 0.0);
    for (std::size_t block = 0; block < n_blocks; ++block)
        for (std::size_t context = 0; context < n_contexts; ++context)
            examined_in_context[context] += sums[block * n_contexts + context];
}

} // namespace rankwright
