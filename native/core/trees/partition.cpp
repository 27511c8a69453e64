#include "core/trees/partition.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace rankwright {

namespace {

constexpr std::size_t rows_worth_a_thread = 8192;
constexpr std::size_t rows_ahead = 64;
constexpr std::size_t rows_at_a_time = 1024;

// Fills sides[i] with 1 where row i goes left, and returns how many do.
template <typename Code>
std::size_t find_sides(const Code *column, std::span<const std::uint8_t> goes_left, RowRun part, std::uint8_t *sides) {
    constexpr std::size_t stride = Codes<Code>::slots;
    std::size_t n_left = 0;
    if (!part.rows) {
        column += part.first * stride;
        for (std::size_t i = 0; i < part.count; ++i) n_left += sides[i] = goes_left[column[i * stride]];
        return n_left;
    }
    const std::size_t n_with_prefetch = part.count - std::min(part.count, rows_ahead);
    for (std::size_t i = 0; i < n_with_prefetch; ++i) {
        __builtin_prefetch(column + part.rows[i + rows_ahead] * stride);
        n_left += sides[i] = goes_left[column[part.rows[i] * stride]];
    }
    for (std::size_t i = n_with_prefetch; i < part.count; ++i) {
        n_left += sides[i] = goes_left[column[part.rows[i] * stride]];
    }
    return n_left;
}

// Copies each row to `left` or `right`. Every row is written to both of two buffers, and only one of them advances, so
// that there is no branch to mispredict. The buffers keep the extra writes away from rows that other threads place.
void place_rows(RowRun part, const std::uint8_t *sides, std::uint32_t *left, std::uint32_t *right) {
    std::array<std::uint32_t, rows_at_a_time> left_buffer, right_buffer;
    for (std::size_t begin = 0; begin < part.count; begin += rows_at_a_time) {
        const std::size_t end = std::min(part.count, begin + rows_at_a_time);
        std::size_t n_left = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const auto row = static_cast<std::uint32_t>(part[i]);
            left_buffer[n_left] = row;
            right_buffer[i - begin - n_left] = row;
            n_left += sides[i];
        }
        left = std::copy_n(left_buffer.data(), n_left, left);
        right = std::copy_n(right_buffer.data(), end - begin - n_left, right);
    }
}

} // namespace

std::size_t divide_rows(const FindSides &find_sides, RowRun leaf, std::uint32_t *out, std::uint8_t *sides, Team &team) {
    const auto n_parts = std::min<std::size_t>(static_cast<std::size_t>(team.size()),
                                               std::max<std::size_t>(leaf.count / rows_worth_a_thread, 1));
    if (n_parts == 1) {
        const std::size_t n_left = find_sides(leaf, sides);
        place_rows(leaf, sides, out, out + n_left);
        return n_left;
    }
    std::vector<std::size_t> n_left_of(n_parts);
    const auto begin_of = [&](std::size_t part) { return leaf.count * part / n_parts; };
    const auto run = [&](std::size_t part) { return leaf.part(begin_of(part), begin_of(part + 1) - begin_of(part)); };
    team.run([&](int member) {
        const auto part = static_cast<std::size_t>(member);
        if (part < n_parts) n_left_of[part] = find_sides(run(part), sides + begin_of(part));
    });
    std::size_t n_left = 0;
    std::vector<std::size_t> left_before(n_parts);
    for (std::size_t part = 0; part < n_parts; ++part) {
        left_before[part] = n_left;
        n_left += n_left_of[part];
    }
    team.run([&](int member) {
        const auto part = static_cast<std::size_t>(member);
        if (part >= n_parts) return;
        std::uint32_t *right = out + n_left + (begin_of(part) - left_before[part]);
        place_rows(run(part), sides + begin_of(part), out + left_before[part], right);
    });
    return n_left;
}

template <typename Code>
std::size_t divide_rows(Codes<const Code> codes, std::size_t feature, std::span<const std::uint8_t> goes_left,
                        RowRun leaf, std::uint32_t *out, std::uint8_t *sides, Team &team) {
    const Code *column = codes.column(feature);
    const auto find = [&](RowRun part, std::uint8_t *own) { return find_sides(column, goes_left, part, own); };
    return divide_rows(find, leaf, out, sides, team);
}

template std::size_t divide_rows(Codes<const std::uint8_t>, std::size_t, std::span<const std::uint8_t>, RowRun,
                                 std::uint32_t *, std::uint8_t *, Team &);
template std::size_t divide_rows(Codes<const std::uint16_t>, std::size_t, std::span<const std::uint8_t>, RowRun,
                                 std::uint32_t *, std::uint8_t *, Team &);

} // namespace rankwright
