// What is random in the choice of splits: numbers of the counter-based generator under tree, node and feature.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/common/counter_random.hpp"

namespace rankwright {

// The chance of one leaf, or of one level of a symmetric tree.
struct SplitChance {
    double deviation = 0.0; // of the noise on the root of a gain, in units of quantised sums; 0 draws nothing
    std::uint64_t noise_key = 0;
    std::uint64_t draw_key = 0;
    std::uint64_t greatest = everything; // of the numbers of features that take part

    static constexpr std::uint64_t everything = std::numeric_limits<std::uint64_t>::max();

    bool draws_gains() const { return deviation > 0; }
    // What a feature's best split is drawn by: its root is taken from about a normal distribution around the true one.
    double worth(double gain, std::int32_t feature) const {
        return std::sqrt(gain) + deviation * about_normal(stream_of(noise_key, static_cast<std::uint64_t>(feature)));
    }
    bool takes(std::size_t feature) const { return greatest == everything || stream_of(draw_key, feature) <= greatest; }
};

// The chance of all leaves or levels of a tree.
class TreeChance {
  public:
    // `fraction` is the share of the features asked for that are drawn for each split, `noise_deviation` that of the
    // noise on the root of a gain.
    TreeChance(std::uint64_t key, double fraction, std::span<const bool> asked, double noise_deviation)
        : key_(key), noise_deviation_(noise_deviation) {
        if (fraction >= 1) return;
        for (std::size_t feature = 0; feature < asked.size(); ++feature) {
            if (asked[feature]) features_.push_back(feature);
        }
        const double share = std::floor(fraction * static_cast<double>(features_.size()) + 0.5);
        n_drawn_ = std::max<std::size_t>(static_cast<std::size_t>(share), 1);
        numbers_.resize(features_.size());
    }

    SplitChance of(std::uint64_t number) {
        SplitChance chance{noise_deviation_, stream_of(key_, first_noise_stream + number),
                           stream_of(key_, first_draw_stream + number), SplitChance::everything};
        if (n_drawn_ >= features_.size()) return chance;
        std::ranges::transform(features_, numbers_.begin(),
                               [&](std::size_t feature) { return stream_of(chance.draw_key, feature); });
        const auto last = numbers_.begin() + static_cast<std::ptrdiff_t>(n_drawn_) - 1;
        std::ranges::nth_element(numbers_, last);
        chance.greatest = *last;
        return chance;
    }

  private:
    // The numbers before them are those of rows, whose rounding is drawn under the same key.
    static constexpr std::uint64_t first_noise_stream = std::uint64_t{1} << 32;
    static constexpr std::uint64_t first_draw_stream = std::uint64_t{1} << 33;

    std::uint64_t key_;
    double noise_deviation_;
    std::size_t n_drawn_ = 0;           // of the features, for each split
    std::vector<std::size_t> features_; // to draw from; none where all take part
    std::vector<std::uint64_t> numbers_;
};

} // namespace rankwright
