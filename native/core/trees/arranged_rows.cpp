#include "core/trees/arranged_rows.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

// Group by group of the codes as they are, where those of a group lie together.
void count_codes(Codes<const std::uint8_t> codes, std::span<const std::int32_t> features,
                 std::span<std::uint32_t> counts, int threads) {
    constexpr std::size_t slots = Codes<const std::uint8_t>::slots, n_codes = ArrangedRows::n_byte_codes;
    std::ranges::fill(counts, 0u);
    parallel_for(codes.n_groups, threads, 1, [&](std::size_t group, std::size_t) {
        std::vector<std::uint32_t> own(slots * n_codes);
        const std::uint8_t *row = codes.group(group);
        for (std::size_t i = 0; i < codes.n_rows; ++i, row += slots) {
            for (std::size_t slot = 0; slot < slots; ++slot) ++own[slot * n_codes + row[slot]];
        }
        for (std::size_t place = 0; place < features.size(); ++place) {
            const auto feature = static_cast<std::size_t>(features[place]);
            if (features[place] < 0 || feature / slots != group) continue;
            std::copy_n(&own[feature % slots * n_codes], n_codes, &counts[place * n_codes]);
        }
    });
}

} // namespace

void arrange_codes(Codes<const std::uint8_t> codes, const ArrangedRows &arrangement, std::span<std::uint8_t> out,
                   std::span<std::uint32_t> counts, int threads) {
    constexpr std::size_t rows_at_a_time = 256; // their codes stay in the first levels of the cache
    const std::size_t pitch = arrangement.pitch, n_skipping = arrangement.n_skipping;
    const std::span<const std::int32_t> features = arrangement.features;
    const std::span<const std::uint8_t> usual = arrangement.usual;
    parallel_for(codes.n_rows, threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        std::uint64_t unusual[rows_at_a_time] = {};
        std::fill(out.begin() + static_cast<std::ptrdiff_t>(first * pitch),
                  out.begin() + static_cast<std::ptrdiff_t>(last * pitch), std::uint8_t{0});
        for (std::size_t place = 0; place < features.size(); ++place) {
            if (features[place] < 0) continue;
            const std::uint8_t *column = codes.column(static_cast<std::size_t>(features[place])) + first * codes.slots;
            const std::size_t group = place / group_bytes;
            const std::uint64_t bit = group < n_skipping ? std::uint64_t{1} << group : 0;
            for (std::size_t i = 0; i < last - first; ++i) {
                const std::uint8_t code = column[i * codes.slots];
                out[(first + i) * pitch + place] = code;
                unusual[i] |= code == usual[place] ? 0 : bit;
            }
        }
        for (std::size_t i = 0; i < last - first; ++i) {
            std::memcpy(&out[(first + i) * pitch + features.size()], &unusual[i], sizeof(unusual[i]));
        }
    });
    count_codes(codes, features, counts, threads);
}

} // namespace rankwright
