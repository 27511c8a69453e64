#include "core/trees/arranged_rows.hpp"

#include <algorithm>
#include <cstring>

#include "core/common/parallel.hpp"

namespace rankwright {

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
    std::ranges::fill(counts, 0u);
    constexpr std::size_t places_at_a_time = 8; // as many as a word has, and there are
    parallel_for(features.size(), threads, places_at_a_time, [&](std::size_t first, std::size_t last) {
        std::uint32_t *own = counts.data() + first * ArrangedRows::n_byte_codes;
        for (std::size_t row = 0; row < codes.n_rows; ++row) {
            const std::uint8_t *places = out.data() + row * pitch + first;
            for (std::size_t i = 0; i < last - first; ++i) ++own[i * ArrangedRows::n_byte_codes + places[i]];
        }
    });
}

} // namespace rankwright
