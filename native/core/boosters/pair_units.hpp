// Units that compare a document with each other one of its query: tanh of the difference of two inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

// Inputs, sums and gradients have a row per document and a column per unit.
struct PairUnits {
    const double *inputs;
    std::size_t n_units;
    std::span<const std::int64_t> offsets; // of queries
};

// Fills, for each document i of m in its query, the mean over them, j, of tanh(input of i - input of j).
void pair_unit_sums(const PairUnits &units, std::span<double> sums, int threads);

// Fills the slopes of a loss in the inputs, given its slopes `of_sums` in what pair_unit_sums fills.
void pair_unit_gradient(const PairUnits &units, std::span<const double> of_sums, std::span<double> gradient,
                        int threads);

} // namespace rankwright
