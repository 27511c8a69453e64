// The comparator net of SortNet (section 2): which of two documents of a query ranks higher.
//
// Every hidden neuron has a dual that sees the two documents the other way round. So the output of a layer for
// the pair (x, y) is two lists, of the neurons and of their duals, and the pair (y, x) has the same lists exchanged.
// The two outputs are such a neuron and its dual: output 0 is N≻(x, y), output 1 is N≺(x, y) = N≻(y, x), to the bit,
// because both sum the same numbers in the same order.
//
// `weights` holds, one after another, with F features and hidden layers of H1, H2, … neurons (duals not counted):
//   first layer    for x: F × H1, for y: F × H1, biases: H1
//   each next one  for neurons: H2 × H1, for duals: H2 × H1, biases: H2
//   outputs        for neurons: Hn, for duals: Hn, bias: 1
// `sizes` is F, H1, H2, …. Hidden neurons are hyperbolic tangents. Missing features (NaN) count as 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankwright {

struct Comparator {
    std::span<const std::int64_t> sizes;
    std::span<const float> weights;
};

// Rows of `n` features each; query q owns rows offsets[q] to offsets[q + 1].
struct Documents {
    std::span<const float> features;
    std::span<const std::int64_t> offsets;
};

// Fills row k of `out` with the two outputs' inputs, before their sigmoids, for the rows left[k] and right[k].
void compare_pairs(const Comparator &net, std::span<const float> features, std::span<const std::int64_t> left,
                   std::span<const std::int64_t> right, std::span<float> out, int threads);

// Pairs of which the first should rank higher; query q owns pairs offsets[q] to offsets[q + 1].
struct TrainingPairs {
    std::span<const std::int64_t> offsets, better, worse;
    std::span<const float> weight;
};

enum class PairCost { squared, logistic };

// The cost of the pairs of some `queries`, the sum over pairs of weight × cost, and its derivatives by the weights.
// Queries are summed in blocks, one after another, whatever the number of threads. `gradient` may be empty.
double comparator_gradient(const Comparator &net, const Documents &documents, const TrainingPairs &pairs,
                           std::span<const std::int64_t> queries, PairCost cost, std::span<double> gradient,
                           int threads);

enum class SortAlgorithm { merge, heap };

// Sorts each query's part of `rows`, best first, and fills how many comparisons that took. Where the net prefers
// neither of two documents, the smaller row goes first; `tied` marks each place whose document the net finds equal to
// the one right above it. With `presort`, rows are first ordered by how the net compares each with a document of zeros:
// the result then does not depend on the order in which they came.
void sort_rows(const Comparator &net, const Documents &documents, SortAlgorithm algorithm, bool presort,
               std::span<std::int64_t> rows, std::span<bool> tied, std::span<std::int64_t> n_comparisons, int threads);

// The same by merge sort alone, which also notes the pairs with different labels that the net compared wrongly: those
// of query q begin at pair mistake_offsets[q] of `mistakes`, which holds the better row and the worse one. A pair is
// compared at most once in a sort. Documents whose label is NaN are in no such pair.
void sort_noting_mistakes(const Comparator &net, const Documents &documents, std::span<const float> labels,
                          std::span<const std::int64_t> mistake_offsets, std::span<std::int64_t> rows,
                          std::span<std::int64_t> n_comparisons, std::span<std::int64_t> n_mistakes,
                          std::span<std::int64_t> mistakes, int threads);

// Fills how many documents of its query each document is preferred to; a document is preferred to its equals below it.
void count_wins(const Comparator &net, const Documents &documents, std::span<std::int64_t> wins, int threads);

} // namespace rankwright
