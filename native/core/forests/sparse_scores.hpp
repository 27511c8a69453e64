// Scoring documents, given as sparse bin codes, with a tree that was just grown on such codes.
#pragma once

#include <cstdint>
#include <span>

#include "core/binning/sparse_codes.hpp"
#include "core/forests/tree_scores.hpp"

namespace rankwright {

// As score_tree does with all codes.
void score_sparse_tree(const Codes<const SparseCode> &codes, std::span<const std::int64_t> n_bins,
                       const GrownNodes &tree, std::span<double> scores, int threads);

} // namespace rankwright
