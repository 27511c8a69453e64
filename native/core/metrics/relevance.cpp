#include "core/metrics/relevance.hpp"

#include <algorithm>
#include <vector>

namespace rankwright {

namespace {

std::size_t depth_of(const RankedList &list, std::int64_t cutoff) {
    return std::min(list.n_ranked, static_cast<std::size_t>(cutoff));
}

struct Precisions {
    double sum = 0.0;
    std::size_t n_relevant = 0;
};

// Without ties. A rank without a relevant document adds 0, so that there is no branch.
Precisions precisions(std::span<const bool> relevant, std::span<const std::int64_t> ranked) {
    Precisions result;
    for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
        const bool hit = relevant[ranked[rank]];
        result.n_relevant += hit;
        result.sum +=
            static_cast<double>(hit) * (static_cast<double>(result.n_relevant) / static_cast<double>(rank + 1));
    }
    return result;
}

// Each rank of a run holds a relevant document with probability `share`; the run's other relevant documents are spread
// evenly over its other ranks.
void add_run(Precisions &so_far, std::size_t start, std::size_t n_run, std::size_t n_counted, std::size_t n_hits) {
    const auto run = static_cast<double>(n_run), hits = static_cast<double>(n_hits);
    const double share = hits / run, above = static_cast<double>(so_far.n_relevant) + 1.0;
    for (std::size_t place = 0; n_hits > 0 && place < n_counted; ++place) {
        const double before = place ? static_cast<double>(place) * (hits - 1.0) / (run - 1.0) : 0.0;
        so_far.sum += share * (above + before) / static_cast<double>(start + place + 1);
    }
    so_far.n_relevant += n_hits;
}

Precisions precisions_with_ties(std::span<const bool> relevant, const RankedList &list, std::size_t depth) {
    Precisions result;
    for (std::size_t rank = 0, end; rank < list.n_ranked; rank = end) {
        end = list.run_end(rank);
        std::size_t n_hits = 0;
        for (std::size_t i = rank; i < end; ++i) n_hits += relevant[list.rows[i]];
        add_run(result, rank, end - rank, std::min(end, depth) - std::min(rank, depth), n_hits);
    }
    return result;
}

std::size_t count(std::span<const bool> relevant, std::span<const std::int64_t> rows) {
    std::size_t n = 0;
    for (const auto row : rows) n += relevant[row];
    return n;
}

// How far a user has come: the expected value so far, and the probability that they still read.
struct Reader {
    double reciprocal = 0.0;
    double reading = 1.0;
};

// Each document of the run satisfies the user for sure or not at all: `n_zero` of `n_run` do not.
void read_binary_run(Reader &reader, std::size_t start, std::size_t stop, std::size_t n_run, std::size_t n_zero) {
    const std::size_t n_hits = n_run - n_zero;
    for (std::size_t rank = start; rank < stop && reader.reading > 0.0; ++rank) {
        const auto n_left = static_cast<double>(n_run - (rank - start));
        const double hit = static_cast<double>(n_hits) / n_left;
        reader.reciprocal += reader.reading * hit / static_cast<double>(rank + 1);
        reader.reading *= (n_left - static_cast<double>(n_hits)) / n_left;
    }
}

// Any probabilities: the chance to read past j documents of the run is the mean, over all sets of j of them, of the
// product of their 1 - stop; `past[j]` is that mean over the documents met so far.
void read_mixed_run(Reader &reader, std::span<const double> stops, std::size_t start, std::size_t depth) {
    std::vector<double> past(depth + 1, 0.0);
    past[0] = 1.0;
    for (std::size_t met = 1; met <= stops.size(); ++met) {
        const double go_on = 1.0 - stops[met - 1];
        const auto n = static_cast<double>(met);
        for (std::size_t j = std::min(met, depth); j > 0; --j) {
            const auto chosen = static_cast<double>(j);
            past[j] = past[j] * ((n - chosen) / n) + past[j - 1] * go_on * (chosen / n);
        }
    }
    for (std::size_t j = 1; j <= depth; ++j)
        reader.reciprocal += reader.reading * (past[j - 1] - past[j]) / static_cast<double>(start + j);
    reader.reading *= past[depth];
}

void read_run(Reader &reader, std::span<const double> stop, const RankedList &list, std::size_t start, std::size_t end,
              std::size_t depth) {
    std::vector<double> stops;
    std::size_t n_zero = 0, n_one = 0;
    for (const auto row : list.rows.subspan(start, end - start)) {
        stops.push_back(stop[row]);
        n_zero += stop[row] == 0.0;
        n_one += stop[row] == 1.0;
    }
    if (n_zero + n_one == stops.size()) {
        read_binary_run(reader, start, std::min(end, depth), stops.size(), n_zero);
    } else {
        read_mixed_run(reader, stops, start, std::min(end, depth) - start);
    }
}

Reader read_list(std::span<const double> stop, const RankedList &list, std::size_t depth) {
    Reader reader;
    for (std::size_t rank = 0; rank < depth && reader.reading > 0.0;) {
        const std::size_t end = list.run_end(rank);
        if (end == rank + 1) {
            const double satisfied = stop[list.rows[rank]];
            reader.reciprocal += reader.reading * satisfied / static_cast<double>(rank + 1);
            reader.reading *= 1.0 - satisfied;
        } else {
            read_run(reader, stop, list, rank, end, depth);
        }
        rank = end;
    }
    return reader;
}

} // namespace

void precision_sums(std::span<const bool> relevant, const RankedLists &lists, std::int64_t cutoff,
                    std::span<double> sums, std::span<std::int64_t> n_relevant, int threads) {
    for_lists(lists, threads, [&](std::size_t query, const RankedList &list) {
        const std::size_t depth = depth_of(list, cutoff);
        const std::size_t n_read = list.tied.empty() ? depth : list.n_ranked;
        const Precisions read = list.tied.empty() ? precisions(relevant, list.rows.first(depth))
                                                  : precisions_with_ties(relevant, list, depth);
        sums[query] = read.sum;
        n_relevant[query] = static_cast<std::int64_t>(read.n_relevant + count(relevant, list.rows.subspan(n_read)));
    });
}

void read_until_satisfied(std::span<const double> stop, const RankedLists &lists, std::int64_t cutoff,
                          std::span<double> reciprocal, std::span<double> stopped, int threads) {
    for_lists(lists, threads, [&](std::size_t query, const RankedList &list) {
        const Reader reader = read_list(stop, list, depth_of(list, cutoff));
        reciprocal[query] = reader.reciprocal;
        stopped[query] = 1.0 - reader.reading;
    });
}

} // namespace rankwright
