// Ranks of documents by the links to them.
#pragma once

#include <cstdint>
#include <span>

namespace rankwright {

// One step of PageRank's power iteration, from `ranks` to `next`: the links to document d come from sources[starts[d]]
// up to sources[starts[d + 1]], and document d links to n_targets[d] documents. Documents without links give their rank
// to all alike. Returns Σ |next - ranks|.
double page_rank_step(std::span<const std::int64_t> starts, std::span<const std::int32_t> sources,
                      std::span<const std::int32_t> n_targets, double damping, std::span<const double> ranks,
                      std::span<double> passed_on, std::span<double> next, int threads);

} // namespace rankwright
