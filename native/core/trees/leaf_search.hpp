// Histograms of leaves and the best splits found in them, by many threads at once.
#pragma once

#include <atomic>
#include <vector>

#include "core/common/team.hpp"
#include "core/trees/chance.hpp"
#include "core/trees/feature_shares.hpp"
#include "core/trees/grower.hpp"
#include "core/trees/histogram.hpp"
#include "core/trees/level_gains.hpp"

namespace rankwright {

// A leaf as the search sees it: its rows here, and the sums of all its documents. Its histogram is `words`, of which
// the search fills or replaces the bins.
struct LeafView {
    RowRun rows;
    Sums sums;
    Bounds bounds;
    std::uint64_t *words;
    bool may_be_split;
    GainRule rule;
    SplitChance chance;
};

template <typename Code> class LeafSearch {
  public:
    LeafSearch(const TreeData<Code> &data, const ArrangedRows &arranged, const SplitRules &rules, bool with_wide_bins,
               bool symmetric, Team &team, Simd simd);

    std::size_t histogram_size() const { return layout_.n_words; }

    // Builds the leaf's histogram and returns its best split.
    Split search(const LeafView &leaf);

    // The best splits of two siblings. The histogram of the small one is built; the words of the large one hold their
    // parent's histogram, which becomes its own by subtraction.
    std::pair<Split, Split> search(const LeafView &small, const LeafView &large);

    // The same for trees with one split a level, where what a split gains is added up leaf by leaf, in the order of
    // these calls.
    void add_root(const LeafView &leaf);
    void add_siblings(const LeafView &left, const LeafView &right); // words as of `search`, the small one's built
    void add_kept(const LeafView &leaf);                            // its histogram is there
    // The best split of the leaves added so far, which are then forgotten: the next ones begin another level.
    Split finish_level(const SplitChance &chance);
    bool is_lacking(std::size_t feature) const { return level_.is_lacking(feature); }

    // Builds the leaf's histogram, and nothing else.
    void build(const LeafView &leaf);
    // The sums of the leaf's documents that a split sends left, from its histogram.
    Sums left_of(const LeafView &leaf, const Split &split) const;

    const FeatureShares &workers() const { return shares_; }

  private:
    // A part of a leaf's rows, of which a thread sums one group: the rows from begin / whole to end / whole of them.
    struct Piece {
        std::size_t group, begin, end, whole;
    };
    struct Member { // what a thread works on: groups [first, last), and in large leaves a part of the rows
        std::size_t first, last;
        std::size_t first_whole, last_whole;       // of the groups that it has alone where others are in pieces
        std::vector<Piece> pieces;                 // of the groups that it has together with others
        std::size_t first_searched, last_searched; // of the groups with features of this worker
        std::vector<std::uint64_t> words;          // the histogram of its part, where that does not go to the leaf's
        HistogramBuilder<Code> builder;
        SplitSearch search;
        Split best[2];
    };

    // Divides the groups so that all members have the same work: some groups in pieces.
    void cut_groups(std::span<const std::size_t> weights);
    // Of a large leaf, each member sums a part of the rows; false where the leaf is too small for that.
    bool sum_parts(const LeafView &leaf);
    // Fills the histogram of a leaf, together with the other members, and calls done(group) for each group of which
    // this member has made the last sum. `in_parts` says that the members have summed their parts of the rows.
    template <typename Ready> void fill_histogram(Member &member, const LeafView &leaf, bool in_parts, Ready done);
    template <typename Ready> void fill_pieces(Member &member, const LeafView &leaf, Ready ready);
    // The same as the public ones, with other workers: histograms are exchanged between building and searching.
    void search_shared(std::span<const LeafView *const> leaves);
    void search_group(Member &member, std::size_t group, const LeafView &leaf, Split &best) const;
    template <typename Bins>
    void search_feature(Member &member, FeatureBins<Bins> bins, const LeafView &leaf, Split &best) const;
    // The same without chance.
    template <typename Bins>
    void find_split(Member &member, FeatureBins<Bins> bins, const LeafView &leaf, Split &best) const;
    Split best_of(int which) const;

    // Calls visit(member, group) for every group with features to split on, each group by the thread it belongs to.
    template <typename Visit> void visit_groups(Visit visit);
    // Calls visit(bins) for every feature of a leaf's group that may be split on.
    template <typename Visit> void visit_features(std::size_t group, const LeafView &leaf, Visit visit) const;
    void add_group(Member &member, std::size_t group, const LeafView &leaf);
    void subtract_group(std::size_t group, const LeafView &small, const LeafView &large) const;

    const TreeData<Code> &data_;
    SplitRules rules_;
    HistogramLayout layout_;
    FeatureShares shares_;
    std::vector<std::vector<std::uint8_t>> searched_; // slots of each group that this worker searches
    LevelGains level_;
    Team &team_;
    Simd simd_;
    std::vector<Member> members_;
    std::vector<std::vector<std::size_t>> sharers_;  // of each group in pieces, the members that have one, in order
    std::vector<std::atomic<std::size_t>> n_summed_; // how many pieces of each group are there
};

extern template class LeafSearch<std::uint8_t>;
extern template class LeafSearch<std::uint16_t>;

} // namespace rankwright
