#include "core/clicks/grouping.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t n_parts = 64; // of the lists, by hash; each part has a table of its own
constexpr std::size_t lists_at_a_time = 1 << 14;

std::size_t part_of(std::uint64_t hash) { return hash >> 58; }

bool equal_lists(const ShownLists &lists, std::int64_t a, std::int64_t b) {
    const std::int64_t size = lists.offsets[a + 1] - lists.offsets[a];
    if (lists.queries[a] != lists.queries[b] || size != lists.offsets[b + 1] - lists.offsets[b]) return false;
    const auto *documents = lists.documents.data();
    const auto *clicked = lists.clicked.data();
    const std::int64_t from_a = lists.offsets[a], from_b = lists.offsets[b];
    return std::equal(documents + from_a, documents + from_a + size, documents + from_b) &&
           std::equal(clicked + from_a, clicked + from_a + size, clicked + from_b);
}

// Finds for each list of a part, in their order, the first that equals it.
void group_part(const ShownLists &lists, std::span<const std::uint64_t> hashes, std::span<const std::int64_t> part,
                std::span<std::int64_t> first) {
    const std::size_t size = std::bit_ceil(2 * part.size() + 2);
    std::vector<std::int64_t> table(size, -1);
    for (const std::int64_t list : part) {
        std::size_t slot = hashes[list] & (size - 1);
        while (table[slot] >= 0 && !(hashes[table[slot]] == hashes[list] && equal_lists(lists, table[slot], list))) {
            slot = (slot + 1) & (size - 1);
        }
        if (table[slot] < 0) table[slot] = list;
        first[list] = table[slot];
    }
}

} // namespace

void hash_lists(const ShownLists &lists, std::span<std::uint64_t> hashes, int threads) {
    parallel_for(lists.size(), threads, lists_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) hashes[k] = list_hash(lists, k);
    });
}

void take_lists(const ShownLists &lists, std::span<const std::int64_t> places, std::span<const std::int64_t> offsets,
                std::span<std::int32_t> documents, std::span<bool> clicked, int threads) {
    parallel_for(places.size(), threads, lists_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            const std::int64_t start = lists.offsets[places[k]], n = offsets[k + 1] - offsets[k];
            std::copy_n(lists.documents.begin() + start, n, documents.begin() + offsets[k]);
            std::copy_n(lists.clicked.begin() + start, n, clicked.begin() + offsets[k]);
        }
    });
}

void group_lists(const ShownLists &lists, std::span<const std::uint64_t> hashes, std::span<std::int64_t> first,
                 int threads) {
    std::array<std::size_t, n_parts + 1> starts{};
    for (const std::uint64_t hash : hashes) ++starts[part_of(hash) + 1];
    for (std::size_t part = 0; part < n_parts; ++part) starts[part + 1] += starts[part];
    std::vector<std::int64_t> by_part(lists.size());
    auto next = starts;
    for (std::size_t k = 0; k < lists.size(); ++k) by_part[next[part_of(hashes[k])]++] = static_cast<std::int64_t>(k);
    parallel_for(n_parts, threads, 1, [&](std::size_t part, std::size_t) {
        group_part(lists, hashes, std::span(by_part).subspan(starts[part], starts[part + 1] - starts[part]), first);
    });
}

void number_documents(std::span<const std::int64_t> starts, std::span<const std::int32_t> documents,
                      std::span<std::int32_t> numbers, std::span<std::int64_t> n_distinct, int threads) {
    parallel_for(n_distinct.size(), threads, 64, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int32_t> distinct;
        for (std::size_t query = begin; query < end; ++query) {
            const auto own = documents.subspan(starts[query], starts[query + 1] - starts[query]);
            distinct.assign(own.begin(), own.end());
            std::sort(distinct.begin(), distinct.end());
            distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
            n_distinct[query] = static_cast<std::int64_t>(distinct.size());
            for (std::size_t i = 0; i < own.size(); ++i) {
                const auto place = std::lower_bound(distinct.begin(), distinct.end(), own[i]) - distinct.begin();
                numbers[starts[query] + i] = static_cast<std::int32_t>(place);
            }
        }
    });
}

void order_by_query(std::span<const std::int32_t> queries, std::span<const std::uint64_t> keys, std::size_t n_queries,
                    std::span<std::int64_t> order, int threads) {
    std::vector<std::size_t> starts(n_queries + 1, 0);
    for (const std::int32_t query : queries) ++starts[query + 1];
    for (std::size_t query = 0; query < n_queries; ++query) starts[query + 1] += starts[query];
    struct Keyed {
        std::uint64_t key;
        std::int64_t place;
        auto operator<=>(const Keyed &) const = default;
    };
    std::vector<Keyed> keyed(queries.size());
    auto next = starts;
    for (std::size_t i = 0; i < queries.size(); ++i)
        keyed[next[queries[i]]++] = {keys[i], static_cast<std::int64_t>(i)};
    parallel_for(n_queries, threads, 64, [&](std::size_t begin, std::size_t end) {
        for (std::size_t query = begin; query < end; ++query) {
            std::sort(keyed.begin() + starts[query], keyed.begin() + starts[query + 1]);
            for (std::size_t i = starts[query]; i < starts[query + 1]; ++i) order[i] = keyed[i].place;
        }
    });
}

} // namespace rankwright
