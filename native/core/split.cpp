#include "core/split.hpp"

#include <algorithm>
#include <utility>

namespace rankwright {

namespace {

// The score of two sides without bounds: the sum of gradient² / below, with one division.
[[gnu::always_inline]] inline double score_of(double left, double left_below, double right, double right_below) {
    return (left * left * right_below + right * right * left_below) / (left_below * right_below);
}

struct Places { // what is on the left of each place
    const double *gradient, *curvature, *count;
    std::size_t n;
};

struct ScorePlaces {
    [[gnu::always_inline]] static void run(Places left, Sums leaf, const SplitRules *rules, double *scores) {
        const double gradient = static_cast<double>(leaf.gradient), curvature = static_cast<double>(leaf.curvature);
        const double count = static_cast<double>(leaf.count), min_docs = static_cast<double>(rules->min_docs);
        const double min_curvature = rules->min_curvature, l2 = rules->l2;
        const bool newton = rules->newton;
        for (std::size_t place = 0; place < left.n; ++place) {
            const double right_curvature = curvature - left.curvature[place], right_count = count - left.count[place];
            const double left_below = newton ? left.curvature[place] + l2 : left.count[place];
            const double right_below = newton ? right_curvature + l2 : right_count;
            const bool allowed = (left.count[place] >= min_docs) & (right_count >= min_docs) &
                                 (left.curvature[place] >= min_curvature) & (right_curvature >= min_curvature) &
                                 (left_below > 0) & (right_below > 0);
            const double score =
                score_of(left.gradient[place], left_below, gradient - left.gradient[place], right_below);
            scores[place] = allowed ? score : Split::none;
        }
    }
};

// Nothing, or the documents that lack a value.
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

SplitSearch::SplitSearch(const SplitRules &split_rules, std::size_t max_bins, Simd processor)
    : rules(split_rules), simd(processor), gradient(max_bins), curvature(max_bins), count(max_bins), scores(max_bins),
      ratio(max_bins + 1) {
    order.reserve(max_bins + 1);
}

void SplitSearch::offer(Split &best, double score, std::int32_t feature, std::size_t bin, Sums left, Sums leaf,
                        Missing missing) {
    const auto place = static_cast<std::int32_t>(bin);
    const bool lower_place = score == best.score && feature == best.feature && place < best.bin;
    if (score == Split::none || (score <= best.score && !lower_place)) return;
    // Where no document lacks the value, one that does later goes with the greater part.
    const bool missing_left = missing == Missing::none ? 2 * left.count >= leaf.count : missing == Missing::left;
    best = {score, feature, place, missing_left, left, {}};
}

template <typename Bins>
void SplitSearch::scan(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, Missing missing, Split &best) {
    auto left = sum_before(feature, missing == Missing::left);
    for (std::size_t place = 0; place < n_places; ++place) {
        left = left + feature.bins[place];
        const Sums sums = left.sums();
        gradient[place] = static_cast<double>(sums.gradient);
        curvature[place] = static_cast<double>(sums.curvature);
        count[place] = static_cast<double>(sums.count);
    }
    if (n_places == 0) return;
    const Places left_of{gradient.data(), curvature.data(), count.data(), n_places};
    run_for<ScorePlaces>(simd, left_of, leaf, &std::as_const(rules), scores.data());
    const auto bin =
        static_cast<std::size_t>(std::max_element(scores.data(), scores.data() + n_places) - scores.data());
    const Sums left_of_bin{static_cast<std::int64_t>(gradient[bin]), static_cast<std::int64_t>(curvature[bin]),
                           static_cast<std::int64_t>(count[bin])};
    offer(best, scores[bin], feature.feature, bin, left_of_bin, leaf, missing);
}

template <typename Bins> void SplitSearch::numbers(FeatureBins<Bins> feature, Sums leaf, Split &best) {
    const bool any_missing = feature.bins[feature.n_bins].sums().count > 0;
    if (!any_missing) return scan(feature, feature.n_bins - 1, leaf, Missing::none, best);
    scan(feature, feature.n_bins, leaf, Missing::right, best);
    scan(feature, feature.n_bins - 1, leaf, Missing::left, best);
}

template <typename Bins>
void SplitSearch::scan_monotone(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, Missing missing,
                                int direction, Bounds bounds, Split &best) {
    auto sum = sum_before(feature, missing == Missing::left);
    for (std::size_t place = 0; place < n_places; ++place) {
        sum = sum + feature.bins[place];
        const Sums left = sum.sums(), right = leaf - left;
        if (!rules.allows(left) || !rules.allows(right)) continue;
        const double rise = rules.value(right, bounds) - rules.value(left, bounds);
        if (direction * rise < 0) continue;
        offer(best, rules.score(left, right, bounds), feature.feature, place, left, leaf, missing);
    }
}

template <typename Bins>
void SplitSearch::monotone_numbers(FeatureBins<Bins> feature, Sums leaf, int direction, Bounds bounds, Split &best) {
    const bool any_missing = feature.bins[feature.n_bins].sums().count > 0;
    if (!any_missing) return scan_monotone(feature, feature.n_bins - 1, leaf, Missing::none, direction, bounds, best);
    scan_monotone(feature, feature.n_bins, leaf, Missing::right, direction, bounds, best);
    scan_monotone(feature, feature.n_bins - 1, leaf, Missing::left, direction, bounds, best);
}

template <typename Bins>
void SplitSearch::categories(FeatureBins<Bins> feature, Sums leaf, Bounds bounds, Split &best) {
    // Missing values are one more category; those without documents here will go where missing values go.
    const double mean = rules.denominator(leaf) / static_cast<double>(leaf.count);
    order.clear();
    for (std::size_t code = 0; code <= feature.n_bins; ++code) {
        const Sums sums = feature.bins[code].sums();
        if (sums.count == 0) continue;
        const double below = rules.denominator(sums) + rules.category_smoothing * mean;
        ratio[code] = below > 0 ? static_cast<double>(sums.gradient) / below : 0.0;
        order.push_back(static_cast<std::uint16_t>(code));
    }
    std::ranges::sort(order, [&](std::uint16_t a, std::uint16_t b) {
        return ratio[a] < ratio[b] || (ratio[a] == ratio[b] && a < b);
    });
    const auto most = static_cast<std::size_t>(rules.max_split_categories);
    Sums left, left_of_best;
    std::size_t n_left = 0; // categories of the best split
    for (std::size_t n = 1; n < order.size(); ++n) {
        left = left + feature.bins[order[n - 1]].sums();
        if (std::min(n, order.size() - n) > most || !rules.allows(left) || !rules.allows(leaf - left)) continue;
        const double score = rules.score(left, leaf - left, bounds);
        if (score <= best.score) continue;
        best.score = score;
        n_left = n;
        left_of_best = left;
    }
    if (n_left == 0) return;
    std::vector<bool> went_left(feature.n_bins + 1);
    for (std::size_t n = 0; n < n_left; ++n) went_left[order[n]] = true;
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

} // namespace rankwright
