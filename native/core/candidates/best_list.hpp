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

inline bool is_better(const ScoredDocument &a, const ScoredDocument &b) {
    return a.score != b.score ? a.score > b.score : a.document < b.document;
}

// A heap with the worst document on top. Documents come in their order, so that a later one of an equal score is worse.
class BestList {
  public:
    BestList(std::span<const double> scores, std::span<const std::int64_t> documents, std::size_t k) : k_(k) {
        heap_.reserve(k);
        for (std::size_t i = 0; i < scores.size(); ++i) heap_.push_back({scores[i], documents[i]});
        std::make_heap(heap_.begin(), heap_.end(), is_better);
        update();
    }

    // A score must exceed it to come in.
    double threshold() const { return threshold_; }

    void add(ScoredDocument found) {
        if (heap_.size() == k_) {
            std::pop_heap(heap_.begin(), heap_.end(), is_better);
            heap_.back() = found;
        } else {
            heap_.push_back(found);
        }
        std::push_heap(heap_.begin(), heap_.end(), is_better);
        update();
    }

    // The documents, best first; the list is of no use afterwards.
    const std::vector<ScoredDocument> &sorted() {
        std::sort(heap_.begin(), heap_.end(), is_better);
        return heap_;
    }

  private:
    void update() { threshold_ = heap_.size() < k_ ? -std::numeric_limits<double>::infinity() : heap_.front().score; }

    std::size_t k_;
    std::vector<ScoredDocument> heap_;
    double threshold_ = 0;
};

} // namespace rankwright
