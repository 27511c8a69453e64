#include "core/clicks/votes.hpp"

#include <algorithm>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

// Calls vote(better, worse) with ranks of one list.
template <typename Vote> void votes_of(VoteRule rule, std::span<const bool> clicked, Vote &&vote) {
    const std::size_t n = clicked.size();
    const auto over_skipped_above = [&](std::size_t better) {
        for (std::size_t worse = 0; worse < better; ++worse)
            if (!clicked[worse]) vote(better, worse);
    };
    const auto over_next = [&](std::size_t better) {
        if (better + 1 < n && !clicked[better + 1]) vote(better, better + 1);
    };
    switch (rule) {
    case VoteRule::skip_above:
        for (std::size_t rank = 0; rank < n; ++rank)
            if (clicked[rank]) over_skipped_above(rank);
        break;
    case VoteRule::last_click:
        for (std::size_t rank = n; rank-- > 0;)
            if (clicked[rank]) {
                over_skipped_above(rank);
                break;
            }
        break;
    case VoteRule::skip_above_and_next:
        for (std::size_t rank = 0; rank < n; ++rank)
            if (clicked[rank]) over_skipped_above(rank), over_next(rank);
        break;
    case VoteRule::next:
        for (std::size_t rank = 0; rank < n; ++rank)
            if (clicked[rank]) over_next(rank);
        break;
    case VoteRule::neighbours:
        for (std::size_t rank = 0; rank + 1 < n; ++rank)
            if (clicked[rank] != clicked[rank + 1]) vote(rank + clicked[rank + 1], rank + clicked[rank]);
        break;
    case VoteRule::exposure:
        for (std::size_t lower = 1; lower < n; ++lower)
            for (std::size_t upper = 0; upper < lower; ++upper) vote(lower, upper);
        break;
    }
}

struct Vote {
    std::int32_t query;
    std::uint64_t pair;
    bool is_above;
    std::int64_t amount;
};

void add(VoteTable &table, std::size_t part, const Vote &vote) {
    const std::size_t capacity = table.capacity(), base = part * capacity;
    const std::uint64_t hash = mix(vote.pair ^ mix(static_cast<std::uint64_t>(vote.query)));
    std::size_t place = hash & (capacity - 1);
    for (;; place = (place + 1) & (capacity - 1)) {
        const std::size_t slot = base + place;
        if (table.queries[slot] < 0) {
            table.queries[slot] = vote.query;
            table.pairs[slot] = vote.pair;
            ++table.n_used[part];
        } else if (table.queries[slot] != vote.query || table.pairs[slot] != vote.pair) {
            continue;
        }
        (vote.is_above ? table.above : table.below)[slot] += vote.amount;
        return;
    }
}

// The places of the lists of each part, in ascending order.
class PartedLists {
  public:
    PartedLists(const ShownLists &lists, std::size_t n_parts) : starts_(n_parts + 1, 0), places_(lists.size()) {
        const auto part_of = [&](std::size_t k) { return mix(static_cast<std::uint64_t>(lists.queries[k])) % n_parts; };
        for (std::size_t k = 0; k < lists.size(); ++k) ++starts_[part_of(k) + 1];
        for (std::size_t part = 0; part < n_parts; ++part) starts_[part + 1] += starts_[part];
        auto next = starts_;
        for (std::size_t k = 0; k < lists.size(); ++k) places_[next[part_of(k)]++] = static_cast<std::int64_t>(k);
    }
    std::span<const std::int64_t> of(std::size_t part) const {
        return std::span(places_).subspan(starts_[part], starts_[part + 1] - starts_[part]);
    }

  private:
    std::vector<std::size_t> starts_;
    std::vector<std::int64_t> places_;
};

std::uint64_t pair_of(std::int32_t better, std::int32_t worse) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(better)) << 32 | static_cast<std::uint32_t>(worse);
}

} // namespace

std::size_t most_votes(VoteRule rule, std::span<const bool> clicked) {
    const bool of_all = rule == VoteRule::exposure; // documents, or clicks alone; neighbours vote once each
    const std::size_t n_voting = of_all ? clicked.size() : std::count(clicked.begin(), clicked.end(), true);
    return rule == VoteRule::neighbours ? clicked.size() : n_voting * clicked.size();
}

void count_votes(const ShownLists &lists, std::span<const std::int64_t> counts, VoteRule rule,
                 std::span<const std::int64_t> amounts, std::size_t n_ranks, VoteTable table,
                 std::span<std::int64_t> done, int threads) {
    const std::size_t n_parts = table.n_parts(), most = table.capacity() / 2;
    const PartedLists parted(lists, n_parts);
    parallel_for(n_parts, threads, 1, [&](std::size_t part, std::size_t) {
        const auto own = parted.of(part);
        auto next = std::lower_bound(own.begin(), own.end(), done[part]);
        for (; next != own.end(); ++next) {
            const std::size_t k = *next;
            const std::size_t start = lists.offsets[k], n = lists.offsets[k + 1] - lists.offsets[k];
            const auto clicked = lists.clicked.subspan(start, n);
            // Even in an empty table they must fit.
            if (table.n_used[part] > 0 && table.n_used[part] + most_votes(rule, clicked) > most) break;
            votes_of(rule, clicked, [&](std::size_t better, std::size_t worse) {
                const std::int32_t first = lists.documents[start + better], second = lists.documents[start + worse];
                if (first == second) return; // shown twice: says nothing
                const std::size_t upper = std::min({better, worse, n_ranks - 1});
                const std::size_t lower = std::min(std::max(better, worse), n_ranks - 1);
                const std::int64_t amount = amounts.empty() ? 1 : amounts[upper * n_ranks + lower];
                const std::int64_t times = counts.empty() ? 1 : counts[k];
                add(table, part, {lists.queries[k], pair_of(first, second), better < worse, amount * times});
            });
        }
        done[part] = next == own.end() ? static_cast<std::int64_t>(lists.size()) : *next;
    });
}

} // namespace rankwright
