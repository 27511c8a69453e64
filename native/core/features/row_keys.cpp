#include "core/features/row_keys.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/common/counter_random.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_a_time = 512;
constexpr std::size_t queries_at_a_time = 64;
constexpr std::uint32_t one_nan = 0x7FC00000u;

std::uint64_t hash_under_key(std::uint64_t key, float value) {
    if (value == 0.0f) return 0;
    return mix(key ^ (value != value ? one_nan : std::bit_cast<std::uint32_t>(value)));
}

} // namespace

void hash_rows(std::span<const float> features, std::size_t n_features, std::span<std::uint64_t> out, int threads) {
    std::vector<std::uint64_t> keys(n_features);
    for (std::size_t feature = 0; feature < n_features; ++feature) keys[feature] = mix(feature);
    parallel_for(out.size(), threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            const float *values = features.data() + row * n_features;
            std::uint64_t sum = 0;
            for (std::size_t k = 0; k < n_features; ++k) sum += hash_under_key(keys[k], values[k]);
            out[row] = sum;
        }
    });
}

void hash_queries(const LayeredWords &layers, std::span<const std::int64_t> offsets, std::span<std::uint64_t> out,
                  int threads) {
    parallel_for(out.size(), threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t query = first; query < last; ++query) {
            const auto start = static_cast<std::size_t>(offsets[query]);
            const std::size_t n_own = (static_cast<std::size_t>(offsets[query + 1]) - start) * layers.n_words;
            std::uint64_t sum = 0, place = 0;
            for (std::size_t layer = 0; layer < layers.n_layers; ++layer) {
                const std::uint64_t *own = layers.words.data() + (layer * layers.n_rows + start) * layers.n_words;
                for (std::size_t k = 0; k < n_own; ++k) sum += mix(own[k] ^ mix(place++));
            }
            out[query] = sum;
        }
    });
}

void order_by_key(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> ties,
                  std::span<const std::int64_t> offsets, std::span<const std::int64_t> queries,
                  std::span<std::int64_t> rows, int threads) {
    const auto rank_of = [&](std::int64_t row) {
        const auto place = static_cast<std::size_t>(row);
        return std::tuple(keys[place], ties[place], row);
    };
    const auto size_of = [&](std::size_t place) {
        const auto query = static_cast<std::size_t>(queries[place]);
        return static_cast<std::size_t>(offsets[query + 1] - offsets[query]);
    };
    std::vector<std::size_t> starts(queries.size() + 1);
    for (std::size_t place = 0; place < queries.size(); ++place) starts[place + 1] = starts[place] + size_of(place);
    parallel_for(queries.size(), threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t place = first; place < last; ++place) {
            const auto own = rows.subspan(starts[place], size_of(place));
            std::iota(own.begin(), own.end(), offsets[static_cast<std::size_t>(queries[place])]);
            std::ranges::sort(own, {}, rank_of);
        }
    });
}

} // namespace rankwright
