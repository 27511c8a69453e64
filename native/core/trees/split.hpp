// The best place to split a leaf, found in its histogram.
#pragma once

#include <cstdint>
#include <limits>
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

    double score = none; // of both sides together
    std::int32_t feature = -1;
    std::int32_t bin = -1;
    bool missing_left = false;
    Sums left;
    std::vector<std::uint16_t> categories; // codes that go left

    bool found() const { return feature >= 0; }
    // Higher scores first; among equals the lowest feature, within it the lowest bin, and there missing values right.
    bool better_than(const Split &other) const {
        return found() && (score > other.score || (score == other.score && feature < other.feature));
    }
};

// One feature's bins of a leaf: `n_bins` in the order of values, then that of missing values.
template <typename Bins> struct FeatureBins {
    Bins bins;
    std::size_t n_bins;
    std::int32_t feature;
};

// Looks through features one by one, in ascending order; one search, with its scratch, per thread.
class SplitSearch {
  public:
    SplitSearch(const SplitRules &split_rules, std::size_t max_bins, Simd processor);

    // Each replaces `best` by the feature's best split where that is better.
    template <typename Bins> void numbers(FeatureBins<Bins> feature, Sums leaf, Split &best);
    template <typename Bins> void categories(FeatureBins<Bins> feature, Sums leaf, Bounds bounds, Split &best);
    // As `numbers`, with values in bounds and, where direction is not 0, the right side's value not lower (+1) or not
    // higher (-1) than the left one's.
    template <typename Bins>
    void monotone_numbers(FeatureBins<Bins> feature, Sums leaf, int direction, Bounds bounds, Split &best);

  private:
    enum class Missing { none, right, left };

    void add_up(const FeatureBins<PackedBins> &feature, std::size_t n_places, bool with_missing);
    void add_up(const FeatureBins<WideBins> &feature, std::size_t n_places, bool with_missing);

    template <typename Bins>
    void scan(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, Missing missing, Split &best);
    template <typename Bins>
    void scan_monotone(FeatureBins<Bins> feature, std::size_t n_places, Sums leaf, Missing missing, int direction,
                       Bounds bounds, Split &best);
    static void offer(Split &best, double score, std::int32_t feature, std::size_t bin, Sums left, Sums leaf,
                      Missing missing);

    SplitRules rules;
    Simd simd;
    std::vector<std::uint64_t> words, rest; // sums left of each place
    std::vector<double> scores;             // of each place
    std::vector<double> ratio;              // by category
    std::vector<std::uint16_t> order;       // of categories
};

} // namespace rankwright
