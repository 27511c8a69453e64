// The best k documents met so far.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
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

// Sorts documents by score, the highest first; of equal scores the first stays before. Digits of the scores' bits are
// counted: comparing documents that are in no order takes several times as long.
class ScoreSort {
  public:
    void operator()(std::vector<ScoredDocument> &found) {
        if (found.size() < shortest)
            return std::stable_sort(found.begin(), found.end(), [](auto a, auto b) { return a.score > b.score; });
        std::uint64_t differing = 0;
        for (const ScoredDocument &one : found) differing |= key_of(one.score) ^ key_of(found.front().score);
        if (differing == 0) return;
        const int low = std::countr_zero(differing), n_bits = 64 - std::countl_zero(differing) - low;
        const int n_digits = (n_bits + most_bits - 1) / most_bits, bits = (n_bits + n_digits - 1) / n_digits;
        other_.resize(found.size());
        for (int digit = 0; digit < n_digits; ++digit, found.swap(other_)) spread(found, low + digit * bits, bits);
    }

  private:
    static constexpr std::size_t shortest = 128; // fewer are sorted as fast by comparing them
    static constexpr int most_bits = 11;         // of a digit

    // Rises as the score falls.
    static std::uint64_t key_of(double score) {
        const auto bits = std::bit_cast<std::uint64_t>(score + 0.0); // which makes 0 of -0
        return bits >> 63 != 0 ? bits : ~(bits | std::uint64_t{1} << 63);
    }

    void spread(const std::vector<ScoredDocument> &found, int shift, int bits) {
        const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
        std::array<std::uint32_t, 1 << most_bits> places;
        std::fill_n(places.begin(), mask + 1, 0);
        for (const ScoredDocument &one : found) ++places[key_of(one.score) >> shift & mask];
        std::exclusive_scan(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(mask + 1), places.begin(), 0U);
        for (const ScoredDocument &one : found) other_[places[key_of(one.score) >> shift & mask]++] = one;
    }

    std::vector<ScoredDocument> other_;
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
        return threshold_;
    }

    // Tells that k documents or more score at least so much; a score that equals it may still come in.
    void expect(double score) { threshold_ = std::max(threshold_, score - score_unit); }

    void add(ScoredDocument found) {
        found_.push_back(found);
        if (found_.size() == room_ || found_.size() == k_) drop_worst();
    }

    // The documents, best first; the list is of no use afterwards.
    const std::vector<ScoredDocument> &sorted() {
        ScoreSort()(found_);
        found_.resize(size());
        return found_;
    }

  private:
    static constexpr std::size_t least_room = 64;
    static constexpr double score_unit = 1.0 / (1LL << 32); // scores are multiples of it

    // Those that stay, stay in their order.
    void drop_worst() {
        scores_.resize(found_.size());
        std::transform(found_.begin(), found_.end(), scores_.begin(), [](const auto &one) { return one.score; });
        const auto last = scores_.begin() + static_cast<std::ptrdiff_t>(k_ - 1);
        std::nth_element(scores_.begin(), last, scores_.end(), std::greater<>());
        const double worst = *last;
        auto n_equal = k_ - static_cast<std::size_t>(
                                std::count_if(scores_.begin(), last, [&](double score) { return score > worst; }));
        std::size_t n_kept = 0;
        for (const ScoredDocument one : found_) {
            found_[n_kept] = one;
            const bool is_equal = one.score == worst && n_equal > 0;
            n_equal -= is_equal ? 1 : 0;
            n_kept += one.score > worst || is_equal ? 1 : 0;
        }
        found_.resize(k_);
        threshold_ = std::max(threshold_, worst);
    }

    std::size_t k_, room_;
    std::vector<ScoredDocument> found_;
    std::vector<double> scores_;
    double threshold_ = -std::numeric_limits<double>::infinity();
};

} // namespace rankwright
