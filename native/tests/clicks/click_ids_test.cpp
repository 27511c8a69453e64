#include "core/clicks/numbering.hpp"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

using rankwright::IdTable;

struct Slots {
    explicit Slots(std::size_t n) : hashes(n, 0), numbers(n, -1) {}
    IdTable table() { return {hashes, numbers}; }
    std::vector<std::uint64_t> hashes;
    std::vector<std::int32_t> numbers;
};

void integers(int threads) {
    std::mt19937_64 random(1);
    std::vector<std::int64_t> ids(50000);
    for (auto &id : ids) id = static_cast<std::int64_t>(random() % 3000) - 1500;
    std::vector<std::int32_t> numbers(ids.size());
    std::size_t n_slots = 16, rounds = 0;
    std::int64_t n_known = 0, done = 0;
    std::vector<std::int64_t> known;
    for (std::size_t row = 0; row < ids.size(); row = done, ++rounds, n_slots *= 2) {
        Slots slots(n_slots);
        std::vector<std::int64_t> larger(n_slots / 2);
        std::int64_t again = 0, at = 0; // what was known goes into the larger table first
        std::vector<std::int32_t> same(known.size());
        rankwright::number_integers(known, slots.table(), larger, {again, at}, same, threads);
        CHECK(again == n_known && at == n_known);
        rankwright::number_integers(ids, slots.table(), larger, {n_known, done}, numbers, threads);
        known.assign(larger.begin(), larger.begin() + n_known);
    }
    CHECK(rounds > 5);
    std::map<std::int64_t, std::int32_t> expected;
    for (std::size_t row = 0; row < ids.size(); ++row) {
        const auto [place, is_new] = expected.emplace(ids[row], static_cast<std::int32_t>(expected.size()));
        CHECK(numbers[row] == place->second);
        CHECK(known[numbers[row]] == ids[row]);
    }
    CHECK(static_cast<std::size_t>(n_known) == expected.size());
}

void texts(int threads) {
    const std::vector<std::string> ids{
        "", "a", "", "a long text of more than eight bytes", "b", "a", "a long text of "};
    std::string bytes;
    std::vector<std::int64_t> starts{0};
    for (const auto &id : ids) bytes += id, starts.push_back(static_cast<std::int64_t>(bytes.size()));
    const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
    Slots slots(16);
    std::vector<std::uint8_t> known(bytes.size());
    std::vector<std::int64_t> known_starts(9, 0);
    std::vector<std::int32_t> numbers(ids.size());
    std::int64_t n_known = 0, done = 0;
    rankwright::number_texts({data, starts}, slots.table(), {known, known_starts}, {n_known, done}, numbers, threads);
    CHECK((numbers == std::vector<std::int32_t>{0, 1, 0, 2, 3, 1, 4}));
    CHECK(n_known == 5 && done == 7);

    // Room for three bytes: the long text does not fit, and the numbering stops at its row.
    Slots others(16);
    std::vector<std::uint8_t> short_room(3);
    std::fill(known_starts.begin(), known_starts.end(), 0);
    n_known = 0, done = 0;
    rankwright::number_texts({data, starts}, others.table(), {short_room, known_starts}, {n_known, done}, numbers,
                             threads);
    CHECK(n_known == 2 && done == 3);
}

// A table whose slots say, wrongly, that every hash is that of text 0: texts are compared, and none is mistaken.
void equal_hashes() {
    const std::vector<std::uint8_t> data{'x', 'y'};
    const std::vector<std::int64_t> starts{0, 1, 2};
    Slots slots(8);
    std::vector<std::uint8_t> known(8);
    std::vector<std::int64_t> known_starts(5, 0);
    std::vector<std::int32_t> numbers(2);
    std::int64_t n_known = 0, done = 0;
    rankwright::number_texts({data, starts}, slots.table(), {known, known_starts}, {n_known, done}, numbers, 1);
    std::uint64_t hash_of_y = 0;
    for (std::size_t slot = 0; slot < 8; ++slot)
        if (slots.numbers[slot] == 1) hash_of_y = slots.hashes[slot];
    Slots faked(8); // only x is known, under the hash of y
    faked.hashes[hash_of_y & 7] = hash_of_y;
    faked.numbers[hash_of_y & 7] = 0;
    n_known = 1, done = 1;
    rankwright::number_texts({data, starts}, faked.table(), {known, known_starts}, {n_known, done}, numbers, 1);
    CHECK(numbers[1] == 1 && n_known == 2);
}

const rankwright::Test test("click_ids", [] {
    for (int threads : {1, 2, 7}) {
        integers(threads);
        texts(threads);
    }
    equal_hashes();
});

} // namespace
