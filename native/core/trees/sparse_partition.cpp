#include "core/trees/sparse_partition.hpp"

#include <algorithm>
#include <vector>

namespace rankwright {

namespace {

constexpr std::size_t rows_ahead = 32;

// Calls offset_of(row) for each row of a part, and ask(row) for rows that come soon; sides_of_places tells where the
// code at each of the column's places goes, and after them where all others go.
template <typename OffsetOf, typename Ask>
std::size_t find_sides(RowRun part, std::span<const std::uint8_t> sides_of_places, std::uint8_t *sides,
                       OffsetOf offset_of, Ask ask) {
    const std::size_t usual = sides_of_places.size() - 1;
    std::size_t n_left = 0;
    for (std::size_t i = 0; i < part.count; ++i) {
        if (i + rows_ahead < part.count) ask(part[i + rows_ahead]);
        n_left += sides[i] = sides_of_places[std::min<std::size_t>(offset_of(part[i]), usual)];
    }
    return n_left;
}

} // namespace

std::size_t divide_rows(const Codes<const SparseCode> &codes, std::size_t feature,
                        std::span<const std::uint8_t> goes_left, RowRun leaf, std::uint32_t *out, std::uint8_t *sides,
                        Team &team) {
    const SparseColumn column = codes.column(feature);
    std::vector<std::uint8_t> of_places(column.n_places + 1, goes_left[column.usual]);
    for (std::uint32_t i = 0; i < column.n_places; ++i) of_places[i] = goes_left[column.code_at(column.first + i)];
    const FindSides in_bundle = [&](RowRun part, std::uint8_t *own) {
        const auto number = static_cast<std::size_t>(column.bundle);
        const std::uint16_t *bundled = codes.bundled.data() + number;
        const std::size_t stride = codes.bases.size();
        const std::uint32_t before = codes.bases[number] - column.first;
        return find_sides(
            part, of_places, own, [&](std::size_t row) { return before + bundled[row * stride]; },
            [&](std::size_t row) { __builtin_prefetch(bundled + row * stride); });
    };
    const FindSides in_lists = [&](RowRun part, std::uint8_t *own) {
        return find_sides(
            part, of_places, own, [&](std::size_t row) { return codes.offset_in(column, row); },
            [&](std::size_t row) {
                const auto start = static_cast<std::size_t>(codes.starts[row]);
                const auto end = static_cast<std::size_t>(codes.starts[row + 1]);
                __builtin_prefetch(codes.listed.data() + (start + end) / 2);
            });
    };
    return divide_rows(column.bundle >= 0 ? in_bundle : in_lists, leaf, out, sides, team);
}

} // namespace rankwright
