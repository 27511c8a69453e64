#include "core/trees/leaf_search.hpp"

#include <algorithm>
#include <utility>

namespace rankwright {

namespace {

// Where each member's groups begin, and the end: neighbouring groups, about the same weight for each.
std::vector<std::size_t> share_groups(std::span<const std::size_t> weights, std::size_t n_members) {
    std::size_t total = 0;
    for (const std::size_t weight : weights) total += weight;
    std::vector<std::size_t> first{0};
    std::size_t before = 0;
    for (std::size_t number = 0; number < weights.size(); ++number) {
        const std::size_t middle = 2 * before + weights[number];
        while (first.size() < n_members && middle * n_members >= 2 * total * first.size()) first.push_back(number);
        before += weights[number];
    }
    first.resize(n_members + 1, weights.size());
    return first;
}

// The slots of each group whose features this worker searches.
std::vector<std::vector<std::uint8_t>> searched_slots(const HistogramLayout &layout, const FeatureShares &shares) {
    std::vector<std::vector<std::uint8_t>> searched(layout.groups.size());
    for (std::size_t group = 0; group < layout.groups.size(); ++group) {
        for (const std::uint8_t slot : layout.groups[group].asked) {
            if (shares.owns(static_cast<std::size_t>(layout.feature_at(group, slot)))) searched[group].push_back(slot);
        }
    }
    return searched;
}

// A leaf with so many rows for each thread is shared by rows: all have the same work, and read each row once. Others
// are shared by groups of features, which leaves nothing to add up afterwards.
constexpr std::size_t rows_worth_a_part = 4096;

// With fewer rows, clearing and adding up the bins of a group's pieces takes longer than uneven shares of whole groups.
constexpr std::size_t rows_worth_a_piece = 1024;

bool is_wide(const LeafView &leaf) { return leaf.sums.count > Packed::max_count; }

std::size_t max_codes(std::span<const std::int64_t> n_bins) {
    return n_bins.empty() ? 1 : static_cast<std::size_t>(std::ranges::max(n_bins)) + 1;
}

} // namespace

template <typename Code>
LeafSearch<Code>::LeafSearch(const TreeData<Code> &data, const ArrangedRows &arranged, const SplitRules &rules,
                             bool with_wide_bins, bool symmetric, Team &team, Simd simd)
    : data_(data), rules_(rules),
      layout_(data_.columns.n_bins, data_.columns.asked, data_.codes.slots, with_wide_bins, arranged.features),
      shares_(data_.exchange, data_.columns.n_bins, data_.columns.asked), searched_(searched_slots(layout_, shares_)),
      level_(symmetric ? data_.columns.n_bins : std::span<const std::int64_t>{}), team_(team), simd_(simd) {
    const auto n_members = static_cast<std::size_t>(team_.size());
    std::vector<std::size_t> to_build, to_search;
    for (std::size_t group = 0; group < layout_.groups.size(); ++group) {
        to_build.push_back(layout_.groups[group].asked.empty() ? 0 : layout_.groups[group].n_slots);
        to_search.push_back(shares_.alone() ? to_build[group] : searched_[group].size());
    }
    const std::vector<std::size_t> first = share_groups(to_build, n_members);
    const std::vector<std::size_t> first_searched = share_groups(to_search, n_members);
    members_.reserve(n_members);
    for (std::size_t number = 0; number < n_members; ++number) {
        members_.push_back({first[number],
                            first[number + 1],
                            first[number],
                            first[number + 1],
                            {},
                            first_searched[number],
                            first_searched[number + 1],
                            {},
                            {data_.codes, arranged, data_.quantised.documents, layout_, simd_},
                            SplitSearch(rules_, max_codes(data_.columns.n_bins), simd_),
                            {}});
    }
    cut_groups(to_build);
}

template <typename Code> void LeafSearch<Code>::cut_groups(std::span<const std::size_t> weights) {
    std::size_t total = 0;
    for (const std::size_t weight : weights) total += weight;
    sharers_.resize(weights.size());
    n_summed_ = std::vector<std::atomic<std::size_t>>(weights.size());
    for (std::size_t number = 0; number < members_.size(); ++number) {
        Member &member = members_[number];
        // In units of which each group has weight × members, and each member `total`.
        const std::size_t begin = number * total, end = begin + total;
        std::size_t before = 0;
        member.first_whole = member.last_whole = 0;
        for (std::size_t group = 0; group < weights.size(); ++group) {
            const std::size_t whole = weights[group] * members_.size(), after = before + whole;
            const std::size_t from = std::max(begin, before), to = std::min(end, after);
            if (from < to && to - from == whole) {
                if (member.first_whole == member.last_whole) member.first_whole = group;
                member.last_whole = group + 1;
            } else if (from < to) {
                member.pieces.push_back({group, from - before, to - before, whole});
                sharers_[group].push_back(number);
            }
            before = after;
        }
    }
}

template <typename Code> bool LeafSearch<Code>::sum_parts(const LeafView &leaf) {
    const std::size_t n_parts = members_.size(), n_rows = leaf.rows.count;
    if (n_parts == 1 || n_rows < n_parts * rows_worth_a_part) return false;
    team_.run([&](int number) {
        const auto part = static_cast<std::size_t>(number);
        Member &member = members_[part];
        const std::size_t begin = n_rows * part / n_parts, end = n_rows * (part + 1) / n_parts;
        if (part > 0) member.words.resize(layout_.n_words);
        member.builder.build(leaf.rows.part(begin, end - begin), is_wide(leaf), 0, layout_.groups.size(),
                             part == 0 ? leaf.words : member.words.data());
    });
    return true;
}

template <typename Code>
template <typename Ready>
void LeafSearch<Code>::fill_histogram(Member &member, const LeafView &leaf, bool in_parts, Ready done) {
    const auto ready = [&](std::size_t group) {
        if (member.builder.knows_counts(leaf.rows, is_wide(leaf))) member.builder.set_counts(group, leaf.words);
        done(group);
    };
    if (in_parts) {
        for (std::size_t group = member.first; group < member.last; ++group) {
            if (layout_.groups[group].asked.empty()) continue;
            for (std::size_t part = 1; part < members_.size(); ++part) {
                add_histogram(layout_.groups[group], leaf.words, members_[part].words.data(), is_wide(leaf), simd_);
            }
            ready(group);
        }
        return;
    }
    const bool in_pieces = leaf.rows.count >= rows_worth_a_piece;
    if (in_pieces) fill_pieces(member, leaf, ready); // first: who waits for a piece then does not wait long
    const std::size_t first = in_pieces ? member.first_whole : member.first;
    const std::size_t last = in_pieces ? member.last_whole : member.last;
    member.builder.build(leaf.rows, is_wide(leaf), first, last, leaf.words);
    for (std::size_t group = first; group < last; ++group) {
        if (!layout_.groups[group].asked.empty()) ready(group);
    }
}

// The first of those who share a group sums straight into the leaf's histogram; whoever is last adds the others' sums.
template <typename Code>
template <typename Ready>
void LeafSearch<Code>::fill_pieces(Member &member, const LeafView &leaf, Ready ready) {
    for (const auto &[group, begin, end, whole] : member.pieces) {
        const std::size_t first = leaf.rows.count * begin / whole, last = leaf.rows.count * end / whole;
        if (begin > 0) member.words.resize(layout_.n_words);
        member.builder.build(leaf.rows.part(first, last - first), is_wide(leaf), group, group + 1,
                             begin == 0 ? leaf.words : member.words.data());
        const std::span<const std::size_t> sharing = sharers_[group];
        if (n_summed_[group].fetch_add(1, std::memory_order_acq_rel) + 1 < sharing.size()) continue;
        n_summed_[group].store(0, std::memory_order_relaxed);
        for (const std::size_t other : sharing.subspan(1)) {
            add_histogram(layout_.groups[group], leaf.words, members_[other].words.data(), is_wide(leaf), simd_);
        }
        ready(group);
    }
}

template <typename Code> Split LeafSearch<Code>::search(const LeafView &leaf) {
    if (!shares_.alone()) {
        build(leaf);
        const LeafView *const leaves[] = {&leaf};
        search_shared(leaves);
        Split best[] = {best_of(0)};
        shares_.choose(best);
        return best[0];
    }
    const bool in_parts = sum_parts(leaf);
    team_.run([&](int number) {
        Member &member = members_[static_cast<std::size_t>(number)];
        member.best[0] = {};
        fill_histogram(member, leaf, in_parts,
                       [&](std::size_t group) { search_group(member, group, leaf, member.best[0]); });
    });
    return best_of(0);
}

template <typename Code>
std::pair<Split, Split> LeafSearch<Code>::search(const LeafView &small, const LeafView &large) {
    if (!shares_.alone()) {
        build(small);
        visit_groups([&](Member &, std::size_t group) { subtract_group(group, small, large); });
        const LeafView *const leaves[] = {&small, &large};
        search_shared(leaves);
        Split best[] = {best_of(0), best_of(1)};
        shares_.choose(best);
        return {best[0], best[1]};
    }
    const bool in_parts = sum_parts(small);
    team_.run([&](int number) {
        Member &member = members_[static_cast<std::size_t>(number)];
        member.best[0] = member.best[1] = {};
        fill_histogram(member, small, in_parts, [&](std::size_t group) {
            subtract_group(group, small, large);
            search_group(member, group, small, member.best[0]);
            search_group(member, group, large, member.best[1]);
        });
    });
    return {best_of(0), best_of(1)};
}

template <typename Code> void LeafSearch<Code>::search_shared(std::span<const LeafView *const> leaves) {
    for (Member &member : members_) member.best[0] = member.best[1] = {};
    visit_groups([&](Member &member, std::size_t group) {
        for (std::size_t which = 0; which < leaves.size(); ++which) {
            search_group(member, group, *leaves[which], member.best[which]);
        }
    });
}

template <typename Code>
void LeafSearch<Code>::subtract_group(std::size_t group, const LeafView &small, const LeafView &large) const {
    const auto n_small = static_cast<std::size_t>(small.sums.count),
               n_large = static_cast<std::size_t>(large.sums.count);
    subtract(layout_.groups[group], large.words, small.words, n_large + n_small, n_small, simd_);
}

template <typename Code>
template <typename Visit>
void LeafSearch<Code>::visit_features(std::size_t number, const LeafView &leaf, Visit visit) const {
    const HistogramLayout::Group &group = layout_.groups[number];
    for (const std::uint8_t slot : searched_[number]) {
        const auto feature = static_cast<std::size_t>(layout_.feature_at(number, slot));
        const auto n_bins = static_cast<std::size_t>(data_.columns.n_bins[feature]);
        const auto name = static_cast<std::int32_t>(feature);
        if (is_wide(leaf)) {
            visit(FeatureBins<WideBins>{{group, leaf.words, slot}, n_bins, name});
        } else {
            visit(FeatureBins<PackedBins>{{group, leaf.words, slot}, n_bins, name});
        }
    }
}

template <typename Code>
void LeafSearch<Code>::search_group(Member &member, std::size_t number, const LeafView &leaf, Split &best) const {
    if (!leaf.may_be_split) return;
    visit_features(number, leaf, [&](auto bins) { search_feature(member, bins, leaf, best); });
}

template <typename Code>
template <typename Bins>
void LeafSearch<Code>::search_feature(Member &member, FeatureBins<Bins> bins, const LeafView &leaf, Split &best) const {
    if (!leaf.chance.takes(static_cast<std::size_t>(bins.feature))) return;
    if (!leaf.chance.draws_gains()) return find_split(member, bins, leaf, best);
    Split own;
    find_split(member, bins, leaf, own);
    const double gain = own.score - leaf.rule.before;
    if (!own.found() || gain <= leaf.rule.least) return; // noise makes no split out of none
    own.worth = leaf.chance.worth(gain, own.feature);
    if (own.better_than(best)) best = std::move(own);
}

template <typename Code>
template <typename Bins>
void LeafSearch<Code>::find_split(Member &member, FeatureBins<Bins> bins, const LeafView &leaf, Split &best) const {
    const auto feature = static_cast<std::size_t>(bins.feature);
    if (data_.columns.categorical[feature]) return member.search.categories(bins, leaf.sums, leaf.bounds, best);
    if (!rules_.constrained) return member.search.numbers(bins, leaf.sums, best);
    member.search.monotone_numbers(bins, leaf.sums, data_.columns.monotone[feature], leaf.bounds, best);
}

template <typename Code> Split LeafSearch<Code>::best_of(int which) const {
    Split best;
    for (const Member &member : members_) {
        if (member.best[which].better_than(best)) best = member.best[which];
    }
    return best;
}

template <typename Code> template <typename Visit> void LeafSearch<Code>::visit_groups(Visit visit) {
    team_.run([&](int number) {
        Member &member = members_[static_cast<std::size_t>(number)];
        for (std::size_t group = member.first_searched; group < member.last_searched; ++group) {
            if (!searched_[group].empty()) visit(member, group);
        }
    });
}

template <typename Code> void LeafSearch<Code>::build(const LeafView &leaf) {
    const bool in_parts = sum_parts(leaf);
    team_.run([&](int number) {
        fill_histogram(members_[static_cast<std::size_t>(number)], leaf, in_parts, [](std::size_t) {});
    });
    shares_.add_bins(layout_, leaf.words, is_wide(leaf));
}

template <typename Code> void LeafSearch<Code>::add_group(Member &member, std::size_t group, const LeafView &leaf) {
    if (!leaf.may_be_split) return;
    visit_features(group, leaf, [&](auto bins) {
        const auto feature = static_cast<std::size_t>(bins.feature);
        member.search.add_gains(bins, leaf.sums, data_.columns.monotone[feature], leaf.bounds, leaf.rule,
                                level_.missing_right(feature), level_.missing_left(feature));
    });
}

template <typename Code> void LeafSearch<Code>::add_root(const LeafView &leaf) {
    build(leaf);
    visit_groups([&](Member &, std::size_t group) {
        visit_features(group, leaf, [&](auto bins) {
            if (bins.bins[bins.n_bins].sums().count > 0) level_.note_lacking(static_cast<std::size_t>(bins.feature));
        });
    });
    if (!shares_.alone()) {
        std::vector<std::int64_t> lacking(data_.columns.n_bins.size());
        for (std::size_t feature = 0; feature < lacking.size(); ++feature)
            lacking[feature] = level_.is_lacking(feature);
        shares_.add_up(lacking);
        for (std::size_t feature = 0; feature < lacking.size(); ++feature) {
            if (lacking[feature] > 0) level_.note_lacking(feature);
        }
    }
    add_kept(leaf);
}

template <typename Code> void LeafSearch<Code>::add_siblings(const LeafView &left, const LeafView &right) {
    const bool left_is_small = left.sums.count <= right.sums.count;
    const LeafView &small = left_is_small ? left : right, &large = left_is_small ? right : left;
    build(small);
    visit_groups([&](Member &member, std::size_t group) {
        subtract_group(group, small, large);
        add_group(member, group, left);
        add_group(member, group, right);
    });
}

template <typename Code> void LeafSearch<Code>::add_kept(const LeafView &leaf) {
    visit_groups([&](Member &member, std::size_t group) { add_group(member, group, leaf); });
}

template <typename Code> Split LeafSearch<Code>::finish_level(const SplitChance &chance) {
    for (Member &member : members_) member.best[0] = {};
    visit_groups([&](Member &member, std::size_t group) {
        for (const std::uint8_t slot : searched_[group]) {
            level_.offer(static_cast<std::size_t>(layout_.feature_at(group, slot)), chance, member.best[0]);
        }
    });
    Split best[] = {best_of(0)};
    shares_.choose(best);
    level_.clear();
    return best[0];
}

template <typename Code> Sums LeafSearch<Code>::left_of(const LeafView &leaf, const Split &split) const {
    Sums left;
    const auto feature = static_cast<std::size_t>(split.feature);
    visit_features(layout_.group_of(feature), leaf, [&](auto bins) {
        if (bins.feature == split.feature) left = bins.up_to(split.bin, split.missing_left);
    });
    return left;
}

template class LeafSearch<std::uint8_t>;
template class LeafSearch<std::uint16_t>;

} // namespace rankwright
