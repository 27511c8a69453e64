#include "core/ranking/ordering.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/common/parallel.hpp"
#include "core/ranking/sorting.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 64;
constexpr std::int64_t large_query = 1 << 17; // documents; all threads work on one such query after the other

struct Buffers {
    std::vector<std::uint64_t> keys, scratch;
};

// Keys with equal high bits are in row order, which need not be the order of the low bits that were cut off.
void settle_low_bits(std::span<const double> scores, std::span<std::uint64_t> keys, std::uint64_t place_mask) {
    std::uint64_t n_shared = 0; // there are seldom any, so first only count them
    for (std::size_t i = 1; i < keys.size(); ++i) n_shared += ((keys[i - 1] ^ keys[i]) & ~place_mask) == 0;
    if (n_shared == 0) return;
    const auto score_key = [&](std::uint64_t key) { return descending_key(scores[key & place_mask]); };
    for (std::size_t first = 0, last; first < keys.size(); first = last) {
        bool in_order = true;
        for (last = first + 1; last < keys.size() && (keys[first] ^ keys[last]) <= place_mask; ++last)
            in_order &= score_key(keys[last - 1]) <= score_key(keys[last]);
        if (in_order) continue;
        std::sort(keys.begin() + first, keys.begin() + last, [&](std::uint64_t a, std::uint64_t b) {
            return std::pair(score_key(a), a) < std::pair(score_key(b), b);
        });
    }
}

template <typename Body> void for_documents(std::size_t n, int threads, Body &&body) {
    constexpr std::size_t documents_at_a_time = 1 << 16;
    if (threads < 2) return body(0, n); // most queries are small and run on one thread: no need to hand out blocks
    parallel_for(n, threads, documents_at_a_time, body);
}

// A key is the score's high bits followed by the document's place in its query, so that sorting moves one word per
// document.
void rank_query(std::span<const double> scores, std::int64_t start, std::span<std::int64_t> ranked, Buffers &buffers,
                int threads) {
    const std::size_t n = scores.size();
    if (n == 0) return;
    const int place_bits = static_cast<int>(std::bit_width(n - 1));
    const std::uint64_t place_mask = (std::uint64_t{1} << place_bits) - 1;
    if (buffers.keys.size() < n) buffers.keys.resize(n), buffers.scratch.resize(n);
    const auto keys = std::span(buffers.keys).first(n);
    for_documents(n, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) keys[i] = (descending_key(scores[i]) & ~place_mask) | i;
    });
    sort_keys(keys, std::span(buffers.scratch).first(n), place_bits, threads);
    settle_low_bits(scores, keys, place_mask);
    for_documents(n, threads, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) ranked[i] = start + static_cast<std::int64_t>(keys[i] & place_mask);
    });
}

} // namespace

void rank_rows(std::span<const double> scores, std::span<const std::int64_t> offsets, std::span<std::int64_t> rows,
               int threads) {
    const auto rank_one = [&](std::size_t query, Buffers &buffers, int query_threads) {
        const auto start = offsets[query], size = offsets[query + 1] - start;
        rank_query(scores.subspan(start, size), start, rows.subspan(start, size), buffers, query_threads);
    };
    const auto is_large = [&](std::size_t query) { return offsets[query + 1] - offsets[query] >= large_query; };
    const std::size_t n_queries = offsets.size() - 1;
    parallel_for(n_queries, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        Buffers buffers;
        for (std::size_t query = first; query < last; ++query)
            if (!is_large(query)) rank_one(query, buffers, 1);
    });
    Buffers buffers;
    for (std::size_t query = 0; query < n_queries; ++query)
        if (is_large(query)) rank_one(query, buffers, threads);
}

void mark_ties(std::span<const double> scores, std::span<const std::int64_t> offsets,
               std::span<const std::int64_t> rows, std::span<bool> tied, int threads) {
    parallel_for(offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t query = first; query < last; ++query) {
            const auto start = offsets[query], stop = offsets[query + 1];
            if (start == stop) continue;
            tied[start] = false;
            for (auto i = start + 1; i < stop; ++i) tied[i] = scores[rows[i]] == scores[rows[i - 1]];
        }
    });
}

void order_ties(std::span<const double> keys, std::span<const bool> tied, std::span<std::int64_t> rows, int threads) {
    constexpr std::size_t ranks_at_a_time = 1 << 14;
    const auto before = [&](std::int64_t a, std::int64_t b) { return std::pair(keys[a], a) < std::pair(keys[b], b); };
    parallel_for(rows.size(), threads, ranks_at_a_time, [&](std::size_t first, std::size_t last) {
        // A run belongs to the block in which it starts.
        while (first < last && tied[first]) ++first;
        for (std::size_t run = first, stop; run < last; run = stop) {
            for (stop = run + 1; stop < rows.size() && tied[stop];) ++stop;
            if (stop - run > 1) std::sort(rows.begin() + run, rows.begin() + stop, before);
        }
    });
}

} // namespace rankwright
