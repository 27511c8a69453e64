// Which worker looks for splits on which feature, and what passes between them for it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/trees/exchange.hpp"
#include "core/trees/histogram.hpp"
#include "core/trees/split.hpp"

namespace rankwright {

// Each worker sums its own documents in all bins, sends the bins of a feature to the worker that it belongs to, and
// searches its own features there. Without an exchange all features are this worker's, and nothing is sent.
class FeatureShares {
  public:
    FeatureShares(Exchange *exchange, std::span<const std::int64_t> n_bins, std::span<const bool> asked);

    bool alone() const { return exchange_ == nullptr; }
    bool owns(std::size_t feature) const { return own_[feature]; }

    // Makes this worker's features of a histogram sums over the documents of all workers.
    void add_bins(const HistogramLayout &layout, std::uint64_t *histogram, bool wide);
    // Replaces each split by the best that any worker has in that place.
    void choose(std::span<Split> best) const;
    // Adds up over the workers sums of which each has those of its own features, and zeros for others.
    void add_sums(std::span<Sums> sums) const;
    void add_up(std::span<std::int64_t> values) const {
        if (exchange_) exchange_->add_up(values);
    }

  private:
    template <typename Visit>
    void visit_bins(const HistogramLayout &layout, std::uint64_t *histogram, bool wide, std::size_t worker,
                    Visit visit) const;

    Exchange *exchange_;
    std::span<const std::int64_t> n_bins_;
    std::vector<std::uint8_t> own_;                // by feature
    std::vector<std::vector<std::size_t>> shares_; // the features of each worker
    std::vector<std::int64_t> share_bins_;         // of all features of each worker
    std::size_t n_category_words_;
    std::vector<std::int64_t> out_, in_; // what is sent and received
};

} // namespace rankwright
