#include "core/trees/split.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

namespace rankwright {

namespace {

// The score of two sides without bounds: the sum of gradient² / below, with one division.
[[gnu::always_inline]] inline double score_of(double left, double left_below, double right, double right_below) {
    return (left * left * right_below + right * right * left_below) / (left_below * right_below);
}

// Sums left of each place, in either form.
struct PackedPlaces {
    const std::uint64_t *words;
    PackedPlaces(const std::uint64_t *packed, const std::uint64_t *) : words(packed) {}
    [[gnu::always_inline]] Sums operator[](std::size_t place) const { return Packed{words[place]}.sums(); }
};
struct WidePlaces {
    const std::uint64_t *words, *rest;
    [[gnu::always_inline]] Sums operator[](std::size_t place) const {
        return Wide{static_cast<std::int64_t>(words[place]), rest[place]}.sums();
    }
};

template <typename Bins>
using PlacesOf = std::conditional_t<std::is_same_v<Bins, PackedBins>, PackedPlaces, WidePlaces>;

// Scores are never negative, so their bits, read as integers, are in the same order, with minus infinity below them
// all; and the compiler can find the greatest of many integers at a time.
std::int64_t as_bits(double score) { return std::bit_cast<std::int64_t>(score); }

template <typename Places> struct ScorePlaces {
    [[gnu::always_inline]] static void run(Places places, std::size_t n, Sums leaf, const SplitRules *rules,
                                           double *scores, std::int64_t *greatest) {
        const double min_curvature = rules->min_curvature, l2 = rules->l2;
        const std::int64_t min_docs = rules->min_docs;
        const bool newton = rules->newton;
        for (std::size_t place = 0; place < n; ++place) {
            const Sums left = places[place], right = leaf - left;
            const auto left_curvature = static_cast<double>(left.curvature);
            const auto right_curvature = static_cast<double>(right.curvature);
            const double left_below = newton ? left_curvature + l2 : static_cast<double>(left.count);
            const double right_below = newton ? right_curvature + l2 : static_cast<double>(right.count);
            const bool allowed = (left.count >= min_docs) & (right.count >= min_docs) &
                                 (left_curvature >= min_curvature) & (right_curvature >= min_curvature) &
                                 (left_below > 0) & (right_below > 0);
            const double score = score_of(static_cast<double>(left.gradient), left_below,
                                          static_cast<double>(right.gradient), right_below);
            scores[place] = allowed ? score : Split::none;
        }
        std::int64_t most = as_bits(Split::none);
        for (std::size_t place = 0; place < n; ++place) most = std::max(most, as_bits(scores[place]));
        *greatest = most;
    }
};

// A place where the leaf may not be split, or would gain nothing, adds nothing.
struct AddGains {
    [[gnu::always_inline]] static void run(const double *scores, std::size_t n, double before, double least,
                                           double *gains) {
        for (std::size_t place = 0; place < n; ++place) {
            const double gain = scores[place] - before;
            gains[place] += gain > least ? gain : 0.0;
        }
    }
};

// The sums of the documents that lack a value; zero where these go to the other side.
template <typename Bins> auto sum_before(const FeatureBins<Bins> &feature, bool missing) {
    const auto bin = feature.bins[feature.n_bins];
    return missing ? bin : decltype(bin){};
}

} // namespace

double SplitRules::value(Sums side, Bounds bounds) const {
    const double below = static_cast<double>(side.curvature) + l2;
    return bounds.clamp(below > 0 ? -static_cast<double>(side.gradient) / below : 0.0);
}

double SplitRules::score(Sums side, Bounds bounds) const {
    const auto gradient = static_cast<double>(side.gradient);
    const double below = denominator(side);
    if (newton && constrained) {
        const double step = value(side, bounds);
        return -(2.0 * gradient * step + below * step * step);
    }
    return below > 0 ? gradient * gradient / below : 0.0;
}

double SplitRules::score(Sums left, Sums right, Bounds bounds) const {
    if (newton && constrained) return score(left, bounds) + score(right, bounds);
    return score_of(static_cast<double>(left.gradient), denominator(left), static_cast<double>(right.gradient),
                    denominator(right));
}

SplitSearch::SplitSearch(const SplitRules &rules, std::size_t max_bins, Simd simd)
    : rules_(rules), simd_(simd), words_(max_bins), rest_(max_bins), scores_(max_bins), ratio_(max_bins + 1) {
    order_.reserve(max_bins + 1);
}

void SplitSearch::offer(Split &best, double score, std::int32_t feature, std::size_t bin, Sums left, Sums leaf,
                        Missing missing) {
    const auto place = static_cast<std::int32_t>(bin);
    const bool comes_first = feature < best.feature || (feature == best.feature && place < best.bin);
    if (score == Split::none || score < best.score || (score == best.score && !comes_first)) return;
    // Where no document here lacks the value, documents that lack it in scoring go to the larger side.
    const bool missing_left = missing == Missing::none ? 2 * left.count >= leaf.count : missing == Missing::left;
    best = {score, best.worth, feature, place, missing_left, left, {}};
}

void SplitSearch::add_up(const FeatureBins<PackedBins> &feature, std::size_t n_places, bool with_missing) {
    Packed left = sum_before(feature, with_missing);
    for (std::size_t place = 0; place < n_places; ++place) words_[place] = (left = left + feature.bins[place]).word;
}

void SplitSearch::add_up(const FeatureBins<WideBins> &feature, std::size_t n_places, bool with_missing) {
    Wide left = sum_before(feature, with_missing);
    for (std::size_t place = 0; place < n_places; ++place) {
        left = left + feature.bins[place];
        words_[place] = static_cast<std::uint64_t>(left.gradient);
        rest_[place] = left.rest;
    }
}

template <typename Bins>
std::int64_t SplitSearch::score_places(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, bool missing_left) {
    add_up(feature, n_places, missing_left);
    std::int64_t greatest;
    run_for<ScorePlaces<PlacesOf<Bins>>>(simd_, PlacesOf<Bins>{words_.data(), rest_.data()}, n_places, leaf,
                                         &std::as_const(rules_), scores_.data(), &greatest);
    return greatest;
}

template <typename Bins>
void SplitSearch::scan(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, Missing missing, Split &best) {
    if (n_places == 0) return;
    const std::int64_t greatest = score_places(feature, n_places, leaf, missing == Missing::left);
    if (greatest < as_bits(best.score)) return; // most features are not the best
    const double score = std::bit_cast<double>(greatest);
    const auto bin =
        static_cast<std::size_t>(std::find(scores_.data(), scores_.data() + n_places, score) - scores_.data());
    const PlacesOf<Bins> places{words_.data(), rest_.data()};
    offer(best, score, feature.feature, bin, places[bin], leaf, missing);
}

template <typename Bins> void SplitSearch::numbers(FeatureBins<Bins> feature, Sums leaf, Split &best) {
    const bool any_missing = feature.bins[feature.n_bins].sums().count > 0;
    if (!any_missing) return scan(feature, feature.n_bins - 1, leaf, Missing::none, best);
    scan(feature, feature.n_bins, leaf, Missing::right, best);
    scan(feature, feature.n_bins - 1, leaf, Missing::left, best);
}

template <typename Bins>
void SplitSearch::score_monotone_places(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, bool missing_left,
                                        int direction, Bounds bounds) {
    auto sum = sum_before(feature, missing_left);
    for (std::size_t place = 0; place < n_places; ++place) {
        sum = sum + feature.bins[place];
        const Sums left = sum.sums(), right = leaf - left;
        const bool allowed = rules_.allows(left, right, direction, bounds);
        scores_[place] = allowed ? rules_.score(left, right, bounds) : Split::none;
    }
}

template <typename Bins>
void SplitSearch::scan_monotone(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, Missing missing,
                                int direction, Bounds bounds, Split &best) {
    if (n_places == 0) return;
    const bool missing_left = missing == Missing::left;
    score_monotone_places(feature, n_places, leaf, missing_left, direction, bounds);
    const double *greatest = std::max_element(scores_.data(), scores_.data() + n_places);
    const auto bin = static_cast<std::size_t>(greatest - scores_.data());
    const Sums left = feature.up_to(static_cast<std::int32_t>(bin), missing_left);
    offer(best, *greatest, feature.feature, bin, left, leaf, missing);
}

template <typename Bins>
void SplitSearch::monotone_numbers(FeatureBins<Bins> feature, Sums leaf, int direction, Bounds bounds, Split &best) {
    const bool any_missing = feature.bins[feature.n_bins].sums().count > 0;
    if (!any_missing) return scan_monotone(feature, feature.n_bins - 1, leaf, Missing::none, direction, bounds, best);
    scan_monotone(feature, feature.n_bins, leaf, Missing::right, direction, bounds, best);
    scan_monotone(feature, feature.n_bins - 1, leaf, Missing::left, direction, bounds, best);
}

template <typename Bins>
void SplitSearch::add_gains(FeatureBins<Bins> feature, Sums leaf, int direction, Bounds bounds, GainRule rule,
                            std::span<double> missing_right, std::span<double> missing_left) {
    const auto fill_scores = [&](std::size_t n_places, bool left) {
        if (!rules_.constrained) return void(score_places(feature, n_places, leaf, left));
        score_monotone_places(feature, n_places, leaf, left, direction, bounds);
    };
    const auto add_to = [&](std::span<double> gains) {
        run_for<AddGains>(simd_, scores_.data(), gains.size(), rule.before, rule.least, gains.data());
    };
    fill_scores(missing_right.size(), false);
    add_to(missing_right);
    if (missing_left.empty()) return;
    const bool any_missing = feature.bins[feature.n_bins].sums().count > 0;
    if (any_missing) fill_scores(missing_left.size(), true);
    add_to(missing_left);
}

template <typename Bins>
void SplitSearch::categories(FeatureBins<Bins> feature, Sums leaf, Bounds bounds, Split &best) {
    // Missing values are one more category; those without documents here will go where missing values go.
    const double mean = rules_.denominator(leaf) / static_cast<double>(leaf.count);
    order_.clear();
    for (std::size_t code = 0; code <= feature.n_bins; ++code) {
        const Sums sums = feature.bins[code].sums();
        if (sums.count == 0) continue;
        const double below = rules_.denominator(sums) + rules_.category_smoothing * mean;
        ratio_[code] = below > 0 ? static_cast<double>(sums.gradient) / below : 0.0;
        order_.push_back(static_cast<std::uint16_t>(code));
    }
    std::ranges::sort(order_, [&](std::uint16_t a, std::uint16_t b) {
        return ratio_[a] < ratio_[b] || (ratio_[a] == ratio_[b] && a < b);
    });
    const auto most = static_cast<std::size_t>(rules_.max_split_categories);
    bool wins_ties = feature.feature < best.feature;
    Sums left, left_of_best;
    std::size_t n_left = 0; // categories of the best split
    for (std::size_t n = 1; n < order_.size(); ++n) {
        left = left + feature.bins[order_[n - 1]].sums();
        if (std::min(n, order_.size() - n) > most || !rules_.allows(left) || !rules_.allows(leaf - left)) continue;
        const double score = rules_.score(left, leaf - left, bounds);
        if (score < best.score || (score == best.score && !wins_ties)) continue;
        best.score = score;
        wins_ties = false;
        n_left = n;
        left_of_best = left;
    }
    if (n_left == 0) return;
    std::vector<bool> went_left(feature.n_bins + 1);
    for (std::size_t n = 0; n < n_left; ++n) went_left[order_[n]] = true;
    const bool any_missing = feature.bins[feature.n_bins].sums().count > 0;
    best.feature = feature.feature;
    best.bin = -1;
    best.left = left_of_best;
    best.missing_left = any_missing ? went_left[feature.n_bins] : 2 * left_of_best.count >= leaf.count;
    best.categories.clear();
    for (std::size_t code = 0; code < feature.n_bins; ++code) {
        const bool unseen = feature.bins[code].sums().count == 0;
        if (unseen ? best.missing_left : went_left[code]) best.categories.push_back(static_cast<std::uint16_t>(code));
    }
}

template void SplitSearch::numbers(FeatureBins<PackedBins>, Sums, Split &);
template void SplitSearch::numbers(FeatureBins<WideBins>, Sums, Split &);
template void SplitSearch::monotone_numbers(FeatureBins<PackedBins>, Sums, int, Bounds, Split &);
template void SplitSearch::monotone_numbers(FeatureBins<WideBins>, Sums, int, Bounds, Split &);
template void SplitSearch::categories(FeatureBins<PackedBins>, Sums, Bounds, Split &);
template void SplitSearch::categories(FeatureBins<WideBins>, Sums, Bounds, Split &);
template void SplitSearch::add_gains(FeatureBins<PackedBins>, Sums, int, Bounds, GainRule, std::span<double>,
                                     std::span<double>);
template void SplitSearch::add_gains(FeatureBins<WideBins>, Sums, int, Bounds, GainRule, std::span<double>,
                                     std::span<double>);

} // namespace rankwright
