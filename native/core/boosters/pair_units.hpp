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

// Fills, for each document i, the mean of tanh(input of i - input of j) over the documents j of its query.
void pair_unit_sums(const PairUnits &units, std::span<double> sums, int threads);

// Fills the derivatives of a loss by the inputs, given its derivatives `of_sums` by the output of pair_unit_sums.
void pair_unit_gradient(const PairUnits &units, std::span<const double> of_sums, std::span<double> gradient,
                        int threads);

} // namespace rankwright
