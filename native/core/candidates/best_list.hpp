// The best k documents met so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rankwright {

struct ScoredDocument {
    double score;
    std::int64_t document;
};

struct IsBetter {
    bool operator()(const ScoredDocument &a, const ScoredDocument &b) const {
        return a.score != b.score ? a.score > b.score : a.document < b.document;
    }
};

// More documents than k are gathered before the worst are dropped at once: that is faster than a heap. Documents come
// in their order, so that a later one of an equal score is worse.
class BestList {
  public:
    BestList(std::span<const double> scores, std::span<const std::int64_t> documents, std::size_t k)
        : k_(k), room_(2 * k + least_room) {
        found_.reserve(room_);
        for (std::size_t i = 0; i < scores.size(); ++i) found_.push_back({scores[i], documents[i]});
        if (found_.size() == k_) drop_worst();
    }

    // A score must exceed it to come in.
    double threshold() const { return threshold_; }

    // How many documents were found, and k at most.
    std::size_t size() const { return std::min(found_.size(), k_); }

    // The worst score of the best k, where so many were found.
    double worst() {
        drop_worst();
        return found_.back().score;
    }

    // Tells that k documents or more score at least so much; a score that equals it may still come in.
    void expect(double score) { threshold_ = std::max(threshold_, score - score_unit); }

    void add(ScoredDocument found) {
        found_.push_back(found);
        if (found_.size() == room_ || found_.size() == k_) drop_worst();
    }

    // The documents, best first; the list is of no use afterwards.
    const std::vector<ScoredDocument> &sorted() {
        if (found_.size() > k_) drop_worst();
        std::sort(found_.begin(), found_.end(), IsBetter());
        return found_;
    }

  private:
    static constexpr std::size_t least_room = 64;
    static constexpr double score_unit = 1.0 / (1LL << 32); // scores are multiples of it

    void drop_worst() {
        std::nth_element(found_.begin(), found_.begin() + (k_ - 1), found_.end(), IsBetter());
        found_.resize(k_);
        threshold_ = std::max(threshold_, found_.back().score);
    }

    std::size_t k_, room_;
    std::vector<ScoredDocument> found_;
    double threshold_ = -std::numeric_limits<double>::infinity();
};

} // namespace rankwright
