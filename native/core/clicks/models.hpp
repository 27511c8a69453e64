// Sums that click models are made from, and the steps of their expectation-maximisation.
#pragma once

#include "core/clicks/lists.hpp"

namespace rankwright {

// How often each pair was shown and clicked in each context, pair after pair: the cells of pair p are starts[p] to
// starts[p + 1]. A context is whatever the chance of examination depends on: the rank, or the rank and the last click.
struct PairCells {
    std::span<const std::int64_t> starts;
    std::span<const std::int32_t> contexts;
    std::span<const std::int64_t> shown;
    std::span<const std::int64_t> clicks;
};

// How many cells each pair has. context_of[rank, last + 1] is the context of a document at that rank after a last click
// at rank `last`, -1 for none; ranks beyond the table count as its last one.
void count_cells(const PairLists &lists, std::span<const std::int32_t> context_of, std::size_t n_ranks,
                 std::span<std::int64_t> n_cells, int threads);

void fill_cells(const PairLists &lists, std::span<const std::int32_t> context_of, std::size_t n_ranks,
                std::span<const std::int64_t> starts, std::span<std::int32_t> contexts, std::span<std::int64_t> shown,
                std::span<std::int64_t> clicks, int threads);

// One expectation step: a click is an examination and an attraction. Adds up the chances that pairs, and contexts,
// were examined, given the clicks.
void examination_step(const PairCells &cells, std::span<const double> attraction, std::span<const double> examination,
                      std::span<double> examined_of_pair, std::span<double> examined_in_context, int threads);

// Of each pair six counts: shown, clicked, shown down to the list's first click, shown down to its last click, clicked
// last, and the sum of its ranks. Lists without a click count as examined to their end. By rank: shown, clicked,
// clicked last.
void count_clicks(const PairLists &lists, std::size_t n_ranks, std::span<std::int64_t> of_pair,
                  std::span<std::int64_t> at_rank, int threads);

// One expectation step of the dynamic Bayesian network: the user goes from the top down, clicks what attracts, leaves
// where satisfied, and else goes on with the chance `persistence`. Adds up, for each pair, the chances of having been
// examined and of having satisfied, and for each query those of having gone on and of having had the choice.
void dbn_step(const PairLists &lists, std::span<const double> attraction, std::span<const double> satisfaction,
              double persistence, std::span<double> examined, std::span<double> satisfied, std::span<double> went_on,
              std::span<double> could_go_on, int threads);

} // namespace rankwright
