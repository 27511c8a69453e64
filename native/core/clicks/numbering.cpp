#include "core/clicks/numbering.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/common/counter_random.hpp"
#include "core/common/parallel.hpp"
#include "core/common/text_hash.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_a_time = 1 << 14;
constexpr std::size_t in_flight = 64; // rows whose slots are fetched from memory at the same time

// What the numbering asks of whole numbers. Their hashes differ where they do: `mix` can be undone.
struct Integers {
    std::span<const std::int64_t> ids;
    std::span<std::int64_t> known;

    std::uint64_t hash(std::size_t row) const { return mix(static_cast<std::uint64_t>(ids[row])); }
    bool equal(std::size_t, std::int32_t) const { return true; }
    void fetch_place(std::int32_t) const {}
    void fetch_id(std::int32_t) const {}
    bool has_room(std::size_t, std::int64_t n_known) const { return static_cast<std::size_t>(n_known) < known.size(); }
    void add(std::size_t row, std::int64_t n_known) const { known[n_known] = ids[row]; }
};

// What it asks of texts: those of equal hashes are compared.
struct Words {
    Texts ids;
    KnownTexts known;

    std::size_t length(std::size_t row) const { return ids.starts[row + 1] - ids.starts[row]; }
    std::uint64_t hash(std::size_t row) const { return hash_of_bytes(ids.bytes.data() + ids.starts[row], length(row)); }
    bool equal(std::size_t row, std::int32_t number) const {
        const std::size_t n = length(row), start = known.starts[number];
        if (known.starts[number + 1] - known.starts[number] != static_cast<std::int64_t>(n)) return false;
        return n == 0 || std::memcmp(ids.bytes.data() + ids.starts[row], known.bytes.data() + start, n) == 0;
    }
    void fetch_place(std::int32_t number) const { __builtin_prefetch(known.starts.data() + number); }
    void fetch_id(std::int32_t number) const { __builtin_prefetch(known.bytes.data() + known.starts[number]); }
    bool has_room(std::size_t row, std::int64_t n_known) const {
        return static_cast<std::size_t>(n_known) + 1 < known.starts.size() &&
               known.starts[n_known] + length(row) <= known.bytes.size();
    }
    void add(std::size_t row, std::int64_t n_known) const {
        const std::size_t n = length(row), start = known.starts[n_known];
        if (n > 0) std::memcpy(known.bytes.data() + start, ids.bytes.data() + ids.starts[row], n);
        known.starts[n_known + 1] = static_cast<std::int64_t>(start + n);
    }
};

// The first slot, from the one given on, that is free or has this hash.
std::size_t next_slot(const IdTable &table, std::uint64_t hash, std::size_t slot) {
    const std::size_t mask = table.n_slots() - 1;
    while (table.numbers[slot] >= 0 && table.hashes[slot] != hash) slot = (slot + 1) & mask;
    return slot;
}

// The slot of an id, or the free one where it belongs.
template <typename Ids> std::size_t slot_of(const Ids &ids, const IdTable &table, std::uint64_t hash, std::size_t row) {
    const std::size_t mask = table.n_slots() - 1;
    std::size_t slot = next_slot(table, hash, hash & mask);
    while (table.numbers[slot] >= 0 && !ids.equal(row, table.numbers[slot]))
        slot = next_slot(table, hash, (slot + 1) & mask);
    return slot;
}

// The numbers of ids that are known, -1 for others. What a row needs from memory is asked for long before it is used:
// a table of millions of ids is in no cache.
template <typename Ids>
void find(const Ids &ids, const IdTable &table, std::span<std::int32_t> numbers, std::size_t begin, std::size_t end) {
    const std::size_t mask = table.n_slots() - 1;
    std::array<std::uint64_t, in_flight> hashes;
    for (std::size_t start = begin; start < end; start += in_flight) {
        const std::size_t n = std::min(in_flight, end - start);
        for (std::size_t i = 0; i < n; ++i) {
            hashes[i] = ids.hash(start + i);
            __builtin_prefetch(table.hashes.data() + (hashes[i] & mask));
            __builtin_prefetch(table.numbers.data() + (hashes[i] & mask));
        }
        for (std::size_t i = 0; i < n; ++i) {
            numbers[start + i] = table.numbers[next_slot(table, hashes[i], hashes[i] & mask)];
            if (numbers[start + i] >= 0) ids.fetch_place(numbers[start + i]);
        }
        for (std::size_t i = 0; i < n; ++i)
            if (numbers[start + i] >= 0) ids.fetch_id(numbers[start + i]);
        for (std::size_t i = 0; i < n; ++i)
            if (numbers[start + i] >= 0 && !ids.equal(start + i, numbers[start + i]))
                numbers[start + i] = table.numbers[slot_of(ids, table, hashes[i], start + i)];
    }
}

template <typename Ids>
void number(const Ids &ids, std::size_t n_rows, IdTable table, Progress progress, std::span<std::int32_t> numbers,
            int threads) {
    const std::size_t first = progress.done;
    parallel_for(n_rows - first, threads, rows_at_a_time,
                 [&](std::size_t begin, std::size_t end) { find(ids, table, numbers, first + begin, first + end); });
    for (std::size_t row = first; row < n_rows; ++row) {
        if (numbers[row] >= 0) continue;
        const std::uint64_t hash = ids.hash(row);
        const std::size_t slot = slot_of(ids, table, hash, row);
        if (table.numbers[slot] < 0) {
            if (2 * (progress.n_known + 1) > static_cast<std::int64_t>(table.n_slots()) ||
                !ids.has_room(row, progress.n_known)) {
                progress.done = static_cast<std::int64_t>(row);
                return;
            }
            ids.add(row, progress.n_known);
            table.hashes[slot] = hash;
            table.numbers[slot] = static_cast<std::int32_t>(progress.n_known++);
        }
        numbers[row] = table.numbers[slot];
    }
    progress.done = static_cast<std::int64_t>(n_rows);
}

} // namespace

void number_integers(std::span<const std::int64_t> ids, IdTable table, std::span<std::int64_t> known, Progress progress,
                     std::span<std::int32_t> numbers, int threads) {
    number(Integers{ids, known}, ids.size(), table, progress, numbers, threads);
}

void number_texts(const Texts &ids, IdTable table, KnownTexts known, Progress progress, std::span<std::int32_t> numbers,
                  int threads) {
    number(Words{ids, known}, ids.size(), table, progress, numbers, threads);
}

} // namespace rankwright
