// What the splits of a level gain, summed over its leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/trees/chance.hpp"
#include "core/trees/split.hpp"

namespace rankwright {

// For each feature and bin, what all leaves together gain by sending codes up to the bin left, once with missing values
// on the right and once on the left. Threads may work on different features at a time.
class LevelGains {
  public:
    explicit LevelGains(std::span<const std::int64_t> n_bins) : lacking_(n_bins.size()), first_{0} {
        for (const std::int64_t bins : n_bins) first_.push_back(first_.back() + 2 * static_cast<std::size_t>(bins));
        gains_.resize(first_.back());
    }

    void clear() { std::ranges::fill(gains_, 0.0); }

    std::span<double> missing_right(std::size_t feature) { return {gains_.data() + first_[feature], n_bins(feature)}; }
    // Without the last bin, which would leave nothing on the right; empty where no document lacks the feature.
    std::span<double> missing_left(std::size_t feature) {
        if (!lacking_[feature] || n_bins(feature) == 0) return {};
        return {gains_.data() + first_[feature] + n_bins(feature), n_bins(feature) - 1};
    }
    void note_lacking(std::size_t feature) { lacking_[feature] = 1; }
    bool is_lacking(std::size_t feature) const { return lacking_[feature] != 0; }

    // Replaces `best` by the feature's best split where that is better; its score is what it gains.
    void offer(std::size_t feature, const SplitChance &chance, Split &best) {
        if (!chance.takes(feature)) return;
        const std::span<const double> right = missing_right(feature), left = missing_left(feature);
        Split own;
        own.score = 0.0;
        own.feature = static_cast<std::int32_t>(feature);
        for (std::size_t bin = 0; bin < right.size(); ++bin) {
            for (const bool side : {false, true}) {
                if (side && bin >= left.size()) continue;
                const double gain = side ? left[bin] : right[bin];
                if (gain <= own.score) continue;
                own.score = gain;
                own.bin = static_cast<std::int32_t>(bin);
                own.missing_left = side;
            }
        }
        if (own.bin < 0) return;
        if (chance.draws_gains()) own.worth = chance.worth(own.score, own.feature);
        if (own.better_than(best)) best = std::move(own);
    }

  private:
    std::size_t n_bins(std::size_t feature) const { return (first_[feature + 1] - first_[feature]) / 2; }

    std::vector<std::uint8_t> lacking_; // whether a document of the tree lacks the feature
    std::vector<std::size_t> first_;    // of each feature's gains
    std::vector<double> gains_;
};

} // namespace rankwright
