// Result lists with clicks, flat and ragged.
#pragma once

#include <cstdint>
#include <span>

#include "core/common/counter_random.hpp"

namespace rankwright {

// List k was shown for queries[k]; its documents stand at offsets[k] to offsets[k + 1], in the order shown.
struct ShownLists {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> queries;
    std::span<const std::int32_t> documents;
    std::span<const bool> clicked;

    std::size_t size() const { return queries.size(); }
};

// Lists whose documents are numbered within the log: a pair is a document of a query. The lists of query q stand at
// list_starts[q] to list_starts[q + 1], and its pairs have the numbers pair_starts[q] to pair_starts[q + 1]; so queries
// share no pair, and each can be worked on alone. counts[k] tells how often list k was seen.
struct PairLists {
    std::span<const std::int64_t> list_starts;
    std::span<const std::int64_t> pair_starts;
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> pairs;
    std::span<const bool> clicked;
    std::span<const std::int64_t> counts;

    std::size_t n_queries() const { return list_starts.size() - 1; }
};

// A number that equal lists share.
inline std::uint64_t list_hash(const ShownLists &lists, std::size_t k) {
    std::uint64_t hash = mix(static_cast<std::uint64_t>(lists.queries[k]));
    for (std::int64_t row = lists.offsets[k]; row < lists.offsets[k + 1]; ++row) {
        const auto document = static_cast<std::uint64_t>(static_cast<std::uint32_t>(lists.documents[row]));
        hash = mix(hash ^ (document << 1) ^ static_cast<std::uint64_t>(lists.clicked[row]));
    }
    return hash;
}

} // namespace rankwright
