// The best place to split a leaf, found in its histogram.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/common/simd.hpp"
#include "core/trees/histogram.hpp"

namespace rankwright {

// The values that a leaf may have under the monotone constraints above it.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();

    double clamp(double value) const { return value < low ? low : value > high ? high : value; }
};

// Which splits are allowed, and how good they are. Curvatures, l2, scores and values are in units of quantised sums.
struct SplitRules {
    std::int64_t min_docs;
    double min_curvature;
    double l2;
    bool newton;      // a side scores gradient² / (curvature + l2); otherwise gradient² / count
    bool constrained; // whether any feature is monotone
    double category_smoothing;
    std::int64_t max_split_categories;

    double denominator(Sums side) const {
        return newton ? static_cast<double>(side.curvature) + l2 : static_cast<double>(side.count);
    }
    bool allows(Sums side) const {
        return side.count >= min_docs && static_cast<double>(side.curvature) >= min_curvature && denominator(side) > 0;
    }
    // Both sides, and where direction is not 0, the right side's value is not lower (+1) or not higher (-1).
    bool allows(Sums left, Sums right, int direction, Bounds bounds) const {
        return allows(left) && allows(right) && direction * (value(right, bounds) - value(left, bounds)) >= 0;
    }
    // The Newton step, within bounds.
    double value(Sums side, Bounds bounds) const;
    // Twice the drop of the cost by a leaf's value, to second order; 0 where it is undefined.
    double score(Sums side, Bounds bounds) const;
    // The same for two leaves together.
    double score(Sums left, Sums right, Bounds bounds) const;
};

// A split of a leaf: documents with codes up to `bin` go left, or for a categorical feature those with listed codes.
struct Split {
    static constexpr double none = -std::numeric_limits<double>::infinity();

    double score = none; // of both sides together; of a level's split, what it gains in all leaves
    double worth = none; // what splits are drawn by; the same for all where nothing is drawn
    std::int32_t feature = -1;
    std::int32_t bin = -1;
    bool missing_left = false;
    Sums left;
    std::vector<std::uint16_t> categories; // codes that go left

    bool found() const { return feature >= 0; }
    // Higher worth first, then higher scores; among equals the lowest feature, within it the lowest bin, and there
    // missing values right.
    bool better_than(const Split &other) const {
        if (!found() || worth != other.worth) return worth > other.worth;
        return score > other.score || (score == other.score && feature < other.feature);
    }
};

// A gain that counts, beside what the leaf scores without a split.
struct GainRule {
    double before; // the leaf's own score
    double least;  // a gain must be more than this
};

// One feature's bins of a leaf: `n_bins` in the order of values, then that of missing values.
template <typename Bins> struct FeatureBins {
    Bins bins;
    std::size_t n_bins;
    std::int32_t feature;

    // The sums of bins up to `last`, and of those that lack a value where these go left.
    Sums up_to(std::int32_t last, bool missing_left) const {
        Sums sum = missing_left ? bins[n_bins].sums() : Sums{};
        for (std::int32_t bin = 0; bin <= last; ++bin) sum = sum + bins[static_cast<std::size_t>(bin)].sums();
        return sum;
    }
};

// Looks through features one by one, in any order; one search, with its scratch, per thread.
class SplitSearch {
  public:
    SplitSearch(const SplitRules &rules, std::size_t max_bins, Simd simd);

    // Each replaces `best` by the feature's best split where that is better.
    template <typename Bins> void numbers(FeatureBins<Bins> feature, Sums leaf, Split &best);
    template <typename Bins> void categories(FeatureBins<Bins> feature, Sums leaf, Bounds bounds, Split &best);
    // As `numbers`, with values in bounds and, where direction is not 0, the right side's value not lower (+1) or not
    // higher (-1) than the left one's.
    template <typename Bins>
    void monotone_numbers(FeatureBins<Bins> feature, Sums leaf, int direction, Bounds bounds, Split &best);

    // Adds what each split of the feature gains in the leaf: at place b of `missing_right` that of bins up to b, with
    // missing values on the right, and the same in `missing_left`, unless that is empty.
    template <typename Bins>
    void add_gains(FeatureBins<Bins> feature, Sums leaf, int direction, Bounds bounds, GainRule rule,
                   std::span<double> missing_right, std::span<double> missing_left);

  private:
    enum class Missing { none, right, left };

    void add_up(const FeatureBins<PackedBins> &feature, std::size_t n_places, bool with_missing);
    void add_up(const FeatureBins<WideBins> &feature, std::size_t n_places, bool with_missing);

    // Fills `scores` and returns the bits of the greatest.
    template <typename Bins>
    std::int64_t score_places(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, bool missing_left);
    template <typename Bins>
    void score_monotone_places(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, bool missing_left,
                               int direction, Bounds bounds);
    template <typename Bins>
    void scan(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, Missing missing, Split &best);
    template <typename Bins>
    void scan_monotone(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, Missing missing, int direction,
                       Bounds bounds, Split &best);
    static void offer(Split &best, double score, std::int32_t feature, std::size_t bin, Sums left, Sums leaf,
                      Missing missing);

    SplitRules rules_;
    Simd simd_;
    std::vector<std::uint64_t> words_, rest_; // sums left of each place
    std::vector<double> scores_;              // of each place
    std::vector<double> ratio_;               // by category
    std::vector<std::uint16_t> order_;        // of categories
};

} // namespace rankwright
