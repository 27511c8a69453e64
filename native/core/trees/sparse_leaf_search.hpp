// The search for splits in histograms of sparse codes.
#pragma once

#include <utility>
#include <vector>

#include "core/trees/leaf_search.hpp"
#include "core/trees/sparse_histogram.hpp"

namespace rankwright {

// Gives the same splits as the search over all codes: sums are whole numbers, and what the usual code of a feature has
// is what the leaf has less the feature's other codes. All documents must be here.
template <> class LeafSearch<SparseCode> {
  public:
    LeafSearch(const TreeData<SparseCode> &data, const ArrangedRows &, const SplitRules &rules, bool with_wide_bins,
               bool symmetric, Team &team, Simd simd);

    std::size_t histogram_size() const { return layout_.n_words(); }

    Split search(const LeafView &leaf);
    std::pair<Split, Split> search(const LeafView &small, const LeafView &large);

    void add_root(const LeafView &leaf);
    void add_siblings(const LeafView &left, const LeafView &right);
    void add_kept(const LeafView &leaf);
    Split finish_level(const SplitChance &chance);
    bool is_lacking(std::size_t feature) const { return level_.is_lacking(feature); }

    void build(const LeafView &leaf);
    Sums left_of(const LeafView &leaf, const Split &split) const;

    const FeatureShares &workers() const { return alone_; }

  private:
    struct Searched { // a feature that may be split on
        std::size_t feature;
        SparseColumn column;
        bool is_crowded;
        std::size_t wide;   // the word of its first wide gradient
        bool has_one_split; // rows with the usual code on the left, those with its only other one on the right
    };
    struct Member {
        std::size_t first, last;          // of the features that it searches
        std::vector<std::uint64_t> words; // the histogram of its part of the rows
        std::vector<std::uint64_t> bins;  // of one feature, all codes
        SplitSearch search;
        Split best[2];
    };

    template <typename Visit> void visit_features(Visit visit);
    // Replaces the words of `large`, those of its parent, by its own.
    void subtract(const LeafView &small, const LeafView &large);
    Sums sums_of_set(const Searched &feature, const std::uint64_t *words) const;
    // All bins of a feature, written to `bins`; `set` is what the codes have together that are not the usual one.
    FeatureBins<WideBins> bins_of(const Searched &feature, const LeafView &leaf, Sums set,
                                  std::vector<std::uint64_t> &bins) const;
    bool cannot_win(const Searched &feature, const LeafView &leaf, Sums set, const Split &best) const;
    void search_feature(Member &member, const Searched &feature, const LeafView &leaf, Split &best) const;
    void find_split(Member &member, FeatureBins<WideBins> bins, const LeafView &leaf, Split &best) const;
    void add_gains(Member &member, const Searched &feature, const LeafView &leaf);
    Split best_of(int which) const;

    const TreeData<SparseCode> &data_;
    SplitRules rules_;
    SparseLayout layout_;
    FeatureShares alone_;
    LevelGains level_;
    Team &team_;
    Simd simd_;
    std::size_t n_codes_; // of the feature that has most
    double set_per_row_;
    std::vector<Searched> searched_; // in the order of places
    std::vector<Member> members_;
};

} // namespace rankwright
