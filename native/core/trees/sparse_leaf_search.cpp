#include "core/trees/sparse_leaf_search.hpp"

#include <algorithm>

namespace rankwright {

namespace {

std::size_t most_codes(std::span<const std::int64_t> n_bins) {
    return n_bins.empty() ? 1 : static_cast<std::size_t>(std::ranges::max(n_bins)) + 1;
}

double set_per_row(const Codes<const SparseCode> &codes) {
    const auto n_rows = static_cast<double>(std::max<std::size_t>(codes.n_rows(), 1));
    return static_cast<double>(codes.bases.size()) + static_cast<double>(codes.listed.size()) / n_rows;
}

Wide wide_of(Sums sums) {
    const auto curvature = static_cast<std::uint64_t>(sums.curvature), count = static_cast<std::uint64_t>(sums.count);
    return {sums.gradient, (curvature << Wide::curvature_shift) + count};
}

} // namespace

LeafSearch<SparseCode>::LeafSearch(const TreeData<SparseCode> &data, const ArrangedRows &, const SplitRules &rules,
                                   bool, bool symmetric, Team &team, Simd simd)
    : data_(data), rules_(rules), layout_(data_.codes), alone_(nullptr, data_.columns.n_bins, data_.columns.asked),
      level_(symmetric ? data_.columns.n_bins : std::span<const std::int64_t>{}), team_(team), simd_(simd),
      n_codes_(most_codes(data_.columns.n_bins)), set_per_row_(set_per_row(data_.codes)) {
    for (std::size_t feature = 0; feature < data_.columns.n_bins.size(); ++feature) {
        const SparseColumn column = data_.codes.column(feature);
        if (!data_.columns.asked[feature] || column.n_places == 0) continue;
        const bool crowded = layout_.is_crowded(column.first);
        const bool one = column.n_places == 1 && column.usual == 0 && data_.columns.n_bins[feature] == 2 &&
                         !data_.columns.categorical[feature];
        searched_.push_back({feature, column, crowded, crowded ? layout_.wide_word(column.first) : 0, one});
    }
    std::ranges::sort(searched_, {}, [](const Searched &one) { return one.column.first; });
    const auto n_members = static_cast<std::size_t>(team_.size());
    members_.reserve(n_members);
    for (std::size_t number = 0; number < n_members; ++number) {
        members_.push_back({searched_.size() * number / n_members,
                            searched_.size() * (number + 1) / n_members,
                            {},
                            std::vector<std::uint64_t>(2 * n_codes_),
                            SplitSearch(rules_, n_codes_, simd_),
                            {}});
    }
}

void LeafSearch<SparseCode>::build(const LeafView &leaf) {
    const std::size_t n_rows = leaf.rows.count, n_words = layout_.n_words(), n_members = members_.size();
    // Each part has a histogram to clear and to add: that must be less than there is to sum.
    const std::size_t worth = static_cast<std::size_t>(set_per_row_ * static_cast<double>(n_rows)) / (n_words + 1);
    const std::size_t n_parts = std::clamp<std::size_t>(worth / 2, 1, n_members);
    if (n_parts == 1) return build_sparse(data_.codes, layout_, data_.quantised.documents, leaf.rows, leaf.words);
    team_.run([&](int number) {
        const auto part = static_cast<std::size_t>(number);
        if (part >= n_parts) return;
        if (part > 0) members_[part].words.resize(n_words);
        const std::size_t begin = n_rows * part / n_parts, end = n_rows * (part + 1) / n_parts;
        build_sparse(data_.codes, layout_, data_.quantised.documents, leaf.rows.part(begin, end - begin),
                     part == 0 ? leaf.words : members_[part].words.data());
    });
    team_.run([&](int number) {
        const auto own = static_cast<std::size_t>(number);
        for (std::size_t part = 1; part < n_parts; ++part) {
            add_words(leaf.words, members_[part].words.data(), n_words * own / n_members,
                      n_words * (own + 1) / n_members, simd_);
        }
    });
}

void LeafSearch<SparseCode>::subtract(const LeafView &small, const LeafView &large) {
    const std::size_t n_words = layout_.n_words(), n_members = members_.size();
    team_.run([&](int number) {
        const auto own = static_cast<std::size_t>(number);
        subtract_words(large.words, small.words, n_words * own / n_members, n_words * (own + 1) / n_members, simd_);
    });
}

template <typename Visit> void LeafSearch<SparseCode>::visit_features(Visit visit) {
    team_.run([&](int number) {
        Member &member = members_[static_cast<std::size_t>(number)];
        for (std::size_t place = member.first; place < member.last; ++place) visit(member, searched_[place]);
    });
}

Split LeafSearch<SparseCode>::search(const LeafView &leaf) {
    build(leaf);
    for (Member &member : members_) member.best[0] = {};
    visit_features(
        [&](Member &member, const Searched &feature) { search_feature(member, feature, leaf, member.best[0]); });
    return best_of(0);
}

std::pair<Split, Split> LeafSearch<SparseCode>::search(const LeafView &small, const LeafView &large) {
    build(small);
    subtract(small, large);
    for (Member &member : members_) member.best[0] = member.best[1] = {};
    visit_features([&](Member &member, const Searched &feature) {
        search_feature(member, feature, small, member.best[0]);
        search_feature(member, feature, large, member.best[1]);
    });
    return {best_of(0), best_of(1)};
}

Sums LeafSearch<SparseCode>::sums_of_set(const Searched &feature, const std::uint64_t *words) const {
    const std::uint32_t n = feature.column.n_places;
    if (!feature.is_crowded) {
        Packed sum;
        for (std::uint32_t i = 0; i < n; ++i) sum = sum + Packed{words[feature.column.first + i]};
        return sum.sums();
    }
    Wide sum;
    const std::uint64_t *gradient = words + feature.wide, *rest = gradient + layout_.n_crowded();
    for (std::uint32_t i = 0; i < n; ++i) sum = sum + Wide{static_cast<std::int64_t>(gradient[i]), rest[i]};
    return sum.sums();
}

FeatureBins<WideBins> LeafSearch<SparseCode>::bins_of(const Searched &feature, const LeafView &leaf, Sums set,
                                                      std::vector<std::uint64_t> &bins) const {
    const auto n_bins = static_cast<std::size_t>(data_.columns.n_bins[feature.feature]);
    std::uint64_t *gradient = bins.data(), *rest = gradient + n_codes_;
    const auto write = [&](std::size_t code, Wide wide) {
        gradient[code] = static_cast<std::uint64_t>(wide.gradient);
        rest[code] = wide.rest;
    };
    for (std::size_t code = 0; code <= n_bins; ++code) write(code, {});
    const std::uint32_t first = feature.column.first;
    const std::uint64_t *wide = leaf.words + feature.wide;
    for (std::uint32_t i = 0; i < feature.column.n_places; ++i) {
        const Wide sum = feature.is_crowded ? Wide{static_cast<std::int64_t>(wide[i]), wide[i + layout_.n_crowded()]}
                                            : widened({leaf.words[first + i]});
        write(feature.column.code_at(first + i), sum);
    }
    write(feature.column.usual, wide_of(leaf.sums - set));
    const HistogramLayout::Group shape{0, n_codes_, 1, {}};
    return {{shape, bins.data(), 0}, n_bins, static_cast<std::int32_t>(feature.feature)};
}

// Whether no split of the feature can be better than `best`, told without its bins where that is easy.
bool LeafSearch<SparseCode>::cannot_win(const Searched &feature, const LeafView &leaf, Sums set,
                                        const Split &best) const {
    if (set.count < rules_.min_docs) return true; // one side of any split has only documents that are not usual
    if (!feature.has_one_split || rules_.constrained || leaf.chance.draws_gains()) return false;
    const Sums usual = leaf.sums - set;
    return !rules_.allows(usual) || !rules_.allows(set) || rules_.score(usual, set, leaf.bounds) < best.score;
}

void LeafSearch<SparseCode>::search_feature(Member &member, const Searched &feature, const LeafView &leaf,
                                            Split &best) const {
    if (!leaf.may_be_split || !leaf.chance.takes(feature.feature)) return;
    const Sums set = sums_of_set(feature, leaf.words);
    if (cannot_win(feature, leaf, set, best)) return;
    const FeatureBins<WideBins> bins = bins_of(feature, leaf, set, member.bins);
    if (!leaf.chance.draws_gains()) return find_split(member, bins, leaf, best);
    Split own;
    find_split(member, bins, leaf, own);
    const double gain = own.score - leaf.rule.before;
    if (!own.found() || gain <= leaf.rule.least) return; // noise makes no split out of none
    own.worth = leaf.chance.worth(gain, own.feature);
    if (own.better_than(best)) best = std::move(own);
}

void LeafSearch<SparseCode>::find_split(Member &member, FeatureBins<WideBins> bins, const LeafView &leaf,
                                        Split &best) const {
    const auto feature = static_cast<std::size_t>(bins.feature);
    if (data_.columns.categorical[feature]) return member.search.categories(bins, leaf.sums, leaf.bounds, best);
    if (!rules_.constrained) return member.search.numbers(bins, leaf.sums, best);
    member.search.monotone_numbers(bins, leaf.sums, data_.columns.monotone[feature], leaf.bounds, best);
}

Split LeafSearch<SparseCode>::best_of(int which) const {
    Split best;
    for (const Member &member : members_) {
        if (member.best[which].better_than(best)) best = member.best[which];
    }
    return best;
}

void LeafSearch<SparseCode>::add_root(const LeafView &leaf) {
    build(leaf);
    visit_features([&](Member &member, const Searched &feature) {
        const Sums set = sums_of_set(feature, leaf.words);
        const FeatureBins<WideBins> bins = bins_of(feature, leaf, set, member.bins);
        if (bins.bins[bins.n_bins].sums().count > 0) level_.note_lacking(feature.feature);
    });
    add_kept(leaf);
}

void LeafSearch<SparseCode>::add_siblings(const LeafView &left, const LeafView &right) {
    const bool left_is_small = left.sums.count <= right.sums.count;
    const LeafView &small = left_is_small ? left : right, &large = left_is_small ? right : left;
    build(small);
    subtract(small, large);
    visit_features([&](Member &member, const Searched &feature) {
        add_gains(member, feature, left);
        add_gains(member, feature, right);
    });
}

void LeafSearch<SparseCode>::add_kept(const LeafView &leaf) {
    visit_features([&](Member &member, const Searched &feature) { add_gains(member, feature, leaf); });
}

void LeafSearch<SparseCode>::add_gains(Member &member, const Searched &feature, const LeafView &leaf) {
    if (!leaf.may_be_split) return;
    const Sums set = sums_of_set(feature, leaf.words);
    if (set.count < rules_.min_docs) return; // no place is allowed
    member.search.add_gains(bins_of(feature, leaf, set, member.bins), leaf.sums,
                            data_.columns.monotone[feature.feature], leaf.bounds, leaf.rule,
                            level_.missing_right(feature.feature), level_.missing_left(feature.feature));
}

Split LeafSearch<SparseCode>::finish_level(const SplitChance &chance) {
    for (Member &member : members_) member.best[0] = {};
    visit_features(
        [&](Member &member, const Searched &feature) { level_.offer(feature.feature, chance, member.best[0]); });
    level_.clear();
    return best_of(0);
}

Sums LeafSearch<SparseCode>::left_of(const LeafView &leaf, const Split &split) const {
    const auto found = std::ranges::find(searched_, static_cast<std::size_t>(split.feature), &Searched::feature);
    if (found == searched_.end()) return {};
    std::vector<std::uint64_t> memory(2 * n_codes_);
    const Sums set = sums_of_set(*found, leaf.words);
    return bins_of(*found, leaf, set, memory).up_to(split.bin, split.missing_left);
}

} // namespace rankwright
