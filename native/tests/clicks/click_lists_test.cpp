#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "core/clicks/grouping.hpp"
#include "core/clicks/models.hpp"
#include "core/clicks/votes.hpp"

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

// Lists of random lengths, with clicks; `clicked` is an array, since std::vector<bool> has no span.
struct Lists {
    explicit Lists(std::size_t n, std::uint64_t seed = 1) {
        std::mt19937_64 random(seed);
        offsets.push_back(0);
        for (std::size_t k = 0; k < n; ++k) {
            queries.push_back(static_cast<std::int32_t>(random() % 20));
            for (std::size_t size = random() % 6, i = 0; i < size; ++i)
                documents.push_back(static_cast<std::int32_t>(random() % 7));
            offsets.push_back(static_cast<std::int64_t>(documents.size()));
        }
        clicked = std::make_unique<bool[]>(documents.size());
        for (std::size_t row = 0; row < documents.size(); ++row) clicked[row] = random() % 3 == 0;
    }
    rankwright::ShownLists view() const { return {offsets, queries, documents, {clicked.get(), documents.size()}}; }

    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> queries, documents;
    std::unique_ptr<bool[]> clicked;
};

void grouping() {
    const Lists lists(3000);
    std::vector<std::vector<std::int64_t>> found;
    for (int threads : {1, 2, 7}) {
        std::vector<std::uint64_t> hashes(3000);
        std::vector<std::int64_t> first(3000);
        rankwright::hash_lists(lists.view(), hashes, threads);
        rankwright::group_lists(lists.view(), hashes, first, threads);
        for (std::size_t k = 0; k < 3000; ++k) {
            CHECK(first[k] <= static_cast<std::int64_t>(k) && first[first[k]] == first[k]);
            CHECK(hashes[first[k]] == hashes[k]);
        }
        found.push_back(first);

        std::vector<std::int64_t> order(3000);
        rankwright::order_by_query(lists.queries, hashes, 20, order, threads);
        for (std::size_t i = 1; i < 3000; ++i) {
            const auto key = [&](std::int64_t k) { return std::tuple(lists.queries[k], hashes[k], k); };
            CHECK(key(order[i - 1]) < key(order[i]));
        }
    }
    CHECK(found[0] == found[1] && found[0] == found[2]);
}

void taking() {
    const Lists lists(500);
    std::vector<std::int64_t> places, offsets{0};
    for (std::int64_t k = 499; k >= 0; k -= 3) {
        places.push_back(k);
        offsets.push_back(offsets.back() + lists.offsets[k + 1] - lists.offsets[k]);
    }
    std::vector<std::int32_t> documents(offsets.back());
    const auto clicked = std::make_unique<bool[]>(offsets.back());
    rankwright::take_lists(lists.view(), places, offsets, documents, {clicked.get(), documents.size()}, 2);
    for (std::size_t i = 0; i < places.size(); ++i)
        for (std::int64_t at = 0; at < offsets[i + 1] - offsets[i]; ++at) {
            CHECK(documents[offsets[i] + at] == lists.documents[lists.offsets[places[i]] + at]);
            CHECK(clicked[offsets[i] + at] == lists.clicked[lists.offsets[places[i]] + at]);
        }
}

// Votes are the same for any number of threads and parts, and when small tables are emptied again and again.
std::map<std::pair<std::int32_t, std::uint64_t>, std::int64_t> votes_of(const Lists &lists, std::size_t n_parts,
                                                                        std::size_t capacity, int threads) {
    std::map<std::pair<std::int32_t, std::uint64_t>, std::int64_t> sums;
    std::vector<std::int64_t> done(n_parts, 0);
    const auto is_done = [&](std::int64_t at) { return at == static_cast<std::int64_t>(lists.queries.size()); };
    while (!std::all_of(done.begin(), done.end(), is_done)) {
        std::vector<std::int32_t> queries(n_parts * capacity, -1);
        std::vector<std::uint64_t> pairs(queries.size());
        std::vector<std::int64_t> above(queries.size()), below(queries.size()), n_used(n_parts);
        rankwright::count_votes(lists.view(), {}, rankwright::VoteRule::skip_above, {}, 1,
                                {queries, pairs, above, below, n_used}, done, threads);
        for (std::size_t slot = 0; slot < queries.size(); ++slot)
            if (queries[slot] >= 0) sums[{queries[slot], pairs[slot]}] += above[slot] + below[slot];
    }
    return sums;
}

void votes() {
    const Lists lists(2000);
    const auto expected = votes_of(lists, 1, 1 << 14, 1);
    CHECK(expected.size() > 100);
    for (int threads : {1, 2, 7}) {
        CHECK(votes_of(lists, 8, 1 << 12, threads) == expected);
        CHECK(votes_of(lists, 4, 1 << 6, threads) == expected);
    }
}

// Queries of a few lists each, whose pairs are numbered by query.
struct Pairs {
    Pairs() {
        std::mt19937_64 random(2);
        list_starts.push_back(0), pair_starts.push_back(0), offsets.push_back(0);
        for (std::int32_t query = 0; query < 200; ++query) {
            for (std::size_t n = random() % 5, k = 0; k < n; ++k) {
                for (std::size_t size = 1 + random() % 6, i = 0; i < size; ++i)
                    pairs.push_back(query * 8 + static_cast<std::int32_t>(random() % 8));
                offsets.push_back(static_cast<std::int64_t>(pairs.size()));
                counts.push_back(1 + static_cast<std::int64_t>(random() % 4));
            }
            list_starts.push_back(static_cast<std::int64_t>(counts.size()));
            pair_starts.push_back((query + 1) * 8);
        }
        clicked = std::make_unique<bool[]>(pairs.size());
        for (std::size_t row = 0; row < pairs.size(); ++row) clicked[row] = random() % 4 == 0;
    }
    rankwright::PairLists view() const {
        return {list_starts, pair_starts, offsets, pairs, {clicked.get(), pairs.size()}, counts};
    }
    std::size_t n_pairs() const { return pair_starts.back(); }

    std::vector<std::int64_t> list_starts, pair_starts, offsets, counts;
    std::vector<std::int32_t> pairs;
    std::unique_ptr<bool[]> clicked;
};

void sums_of_pairs() {
    const Pairs pairs;
    std::vector<std::int64_t> expected;
    for (int threads : {1, 2, 7}) {
        std::vector<std::int64_t> of_pair(pairs.n_pairs() * 6), at_rank(4 * 3);
        rankwright::count_clicks(pairs.view(), 4, of_pair, at_rank, threads);
        for (std::size_t pair = 0; pair < pairs.n_pairs(); ++pair) {
            const std::int64_t *row = &of_pair[pair * 6];
            CHECK(row[0] >= row[3] && row[3] >= row[2] && row[1] >= row[4]); // shown, to last, to first; clicks, last
        }
        if (expected.empty()) expected = of_pair;
        CHECK(of_pair == expected);
    }
}

void steps() {
    const Pairs pairs;
    const std::vector<double> attraction(pairs.n_pairs(), 0.3), satisfaction(pairs.n_pairs(), 0.5);
    std::vector<double> expected;
    for (int threads : {1, 2, 7}) {
        std::vector<double> examined(pairs.n_pairs()), satisfied(pairs.n_pairs()), on(200), could(200);
        rankwright::dbn_step(pairs.view(), attraction, satisfaction, 0.8, examined, satisfied, on, could, threads);
        if (expected.empty()) expected = examined;
        CHECK(examined == expected);
        for (std::size_t query = 0; query < 200; ++query) CHECK(on[query] <= could[query]);
    }
    const std::vector<std::int32_t> contexts{0, 0, 0, 1, 1, 1}; // two ranks: deeper ones count as the second
    std::vector<std::int64_t> n_cells(pairs.n_pairs());
    rankwright::count_cells(pairs.view(), contexts, 2, n_cells, 2);
    std::vector<std::int64_t> starts{0};
    for (const std::int64_t n : n_cells) starts.push_back(starts.back() + n);
    std::vector<std::int32_t> of_cell(starts.back());
    std::vector<std::int64_t> shown(starts.back()), clicks(starts.back());
    rankwright::fill_cells(pairs.view(), contexts, 2, starts, of_cell, shown, clicks, 2);
    std::vector<double> first;
    for (int threads : {1, 2, 7}) {
        std::vector<double> of_pair(pairs.n_pairs()), in_context(2);
        rankwright::examination_step({starts, of_cell, shown, clicks}, attraction, std::vector<double>{1.0, 0.4},
                                     of_pair, in_context, threads);
        if (first.empty()) first = in_context;
        CHECK(in_context == first && in_context[0] > 0 && in_context[1] > 0);
    }
}

const rankwright::Test test("click_lists", [] {
    grouping();
    taking();
    votes();
    sums_of_pairs();
    steps();
});

} // namespace
