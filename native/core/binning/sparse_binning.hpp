// From sparse feature values to sparse bin codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>

#include "core/binning/binning.hpp"
#include "core/binning/sparse_codes.hpp"

namespace rankwright {

// A table of floats of which only some are stored, row after row; columns ascend within a row. The others are all
// `absent`, which is 0 or NaN.
struct SparseTable {
    std::span<const std::int64_t> starts; // of each row, and the end
    std::span<const std::int32_t> columns;
    std::span<const float> values;
    std::size_t n_columns;
    float absent;

    std::size_t n_rows() const { return starts.size() - 1; }
    auto entries(std::size_t row) const {
        return std::views::iota(static_cast<std::size_t>(starts[row]), static_cast<std::size_t>(starts[row + 1]));
    }
};

// Fills `out` with the hash of each row, as hash_rows does with all values.
void hash_sparse_rows(const SparseTable &features, std::span<std::uint64_t> out, int threads);

// As find_thresholds, with those of feature f from thresholds[offsets[f]] on.
void find_sparse_thresholds(const SparseTable &features, std::span<const std::int64_t> rows, std::int64_t max_bins,
                            std::span<const std::int64_t> offsets, std::span<float> thresholds,
                            std::span<std::int64_t> n_thresholds, int threads);

// Fills what is known of each feature: the code of absent values, in how many rows another code is set, and whether it
// is that of missing values in any of them.
void count_sparse_codes(const SparseTable &features, const BinEdges &edges, std::span<std::uint32_t> usual,
                        std::span<std::int64_t> n_set, std::span<bool> any_missing, int threads);

// Fills `bundle` with the number of the bundle of each feature, -1 for none, and returns how many bundles there are:
// features that are never set in the same row, each with n_places[f] codes but the usual one. They are tried in their
// order, on some rows; what then is set together in another row is left out, as are bundles that are set in less than
// half of the rows, which take more room than lists.
std::size_t bundle_features(const SparseTable &features, const BinEdges &edges, std::span<const std::uint32_t> usual,
                            std::span<const std::int64_t> n_set, std::span<const std::uint32_t> n_places,
                            std::span<std::int32_t> bundle, int threads);

// Where the codes of rows go. Their columns are filled already, and the starts of lists by count_listed.
struct SparseCodesOut {
    std::span<const std::uint32_t> first, usual;
    std::span<const std::int32_t> bundle;
    std::span<const std::uint32_t> bases;
};

// Fills `counts` with how many codes of each row, in the given order of rows, are listed since no bundle has them.
void count_listed(const SparseTable &features, std::span<const std::int64_t> order, const BinEdges &edges,
                  const SparseCodesOut &columns, std::span<std::int64_t> counts, int threads);

// Fills the bundles and the lists of all rows.
void pack_sparse_codes(const SparseTable &features, std::span<const std::int64_t> order, const BinEdges &edges,
                       const SparseCodesOut &columns, std::span<const std::int64_t> starts,
                       std::span<std::uint16_t> bundled, std::span<std::uint32_t> listed, int threads);

} // namespace rankwright
