// Bin codes of rows that have the usual code in most features: only the others are kept.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/binning/codes.hpp"

namespace rankwright {

struct SparseCode; // stands for such codes where functions are told the type of a code

// Where the bins of a feature lie. Each code but the usual one has a place, in the order of codes.
struct SparseColumn {
    std::uint32_t first;    // place
    std::uint32_t n_places; // 0 where all rows have the usual code
    std::uint32_t usual;    // code
    std::int32_t bundle;    // -1: none

    std::uint32_t code_at(std::uint32_t place) const {
        return place - first < usual ? place - first : place - first + 1;
    }
};

// Features that are never set together, that is never differ from their usual codes in the same row, are one bundle,
// whose rows have two bytes each: where the code that is set lies after the bundle's base, 0 if none is. What is set in
// features without a bundle is listed row by row, in ascending order.
template <> struct Codes<const SparseCode> {
    static constexpr std::size_t slots = 1;

    std::span<const std::uint32_t> first, n_places, usual; // of each feature, as in SparseColumn
    std::span<const std::int32_t> bundle;
    std::span<const std::uint32_t> bases;   // of each bundle
    std::span<const std::uint16_t> bundled; // [row][bundle]
    std::span<const std::int64_t> starts;   // of each row's list, and the end
    std::span<const std::uint32_t> listed;  // places
    std::span<const std::uint32_t> crowded; // runs of places, first and end of each, of features set in many rows
    std::size_t n_total_places;

    std::size_t n_rows() const { return starts.size() - 1; }
    SparseColumn column(std::size_t feature) const {
        return {first[feature], n_places[feature], usual[feature], bundle[feature]};
    }
    const std::uint16_t *bundled_row(std::size_t row) const { return bundled.data() + row * bases.size(); }
    std::span<const std::uint32_t> listed_row(std::size_t row) const {
        return listed.subspan(static_cast<std::size_t>(starts[row]),
                              static_cast<std::size_t>(starts[row + 1] - starts[row]));
    }
    // How far after the column's first place the row's code lies; n_places or more where it is the usual one.
    std::uint32_t offset_in(const SparseColumn &column, std::size_t row) const {
        if (column.bundle >= 0) {
            const auto number = static_cast<std::size_t>(column.bundle);
            return bases[number] + bundled_row(row)[number] - column.first;
        }
        const std::span<const std::uint32_t> own = listed_row(row);
        const auto *found = std::ranges::lower_bound(own, column.first).base();
        return found == own.data() + own.size() ? column.n_places : *found - column.first;
    }
    std::uint32_t code(const SparseColumn &column, std::size_t row) const {
        const std::uint32_t offset = offset_in(column, row);
        return offset < column.n_places ? column.code_at(column.first + offset) : column.usual;
    }
};

} // namespace rankwright
