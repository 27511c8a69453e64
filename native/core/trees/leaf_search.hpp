// Histograms of leaves and the best splits found in them, by many threads at once.
#pragma once

#include <vector>

#include "core/common/team.hpp"
#include "core/trees/grower.hpp"
#include "core/trees/histogram.hpp"

namespace rankwright {

// A leaf as the search sees it. Its histogram is `words`, of which the search fills or replaces the bins.
struct LeafView {
    RowRun rows;
    Sums sums;
    Bounds bounds;
    std::uint64_t *words;
    bool may_be_split;
};

template <typename Code> class LeafSearch {
  public:
    LeafSearch(const TreeData<Code> &tree_data, const SplitRules &split_rules, bool with_wide_bins, Team &threads,
               Simd processor);

    std::size_t histogram_size() const { return layout.n_words; }

    // Builds the leaf's histogram and returns its best split.
    Split search(const LeafView &leaf);

    // The best splits of two siblings. The histogram of the small one is built; the words of the large one hold their
    // parent's histogram, which becomes its own by subtraction.
    std::pair<Split, Split> search(const LeafView &small, const LeafView &large);

  private:
    struct Member { // what a thread works on: groups [first, last), and in large leaves a part of the rows
        std::size_t first, last;
        std::vector<std::uint64_t> words; // the histogram of its part; the first thread's goes straight to the leaf
        HistogramBuilder<Code> builder;
        SplitSearch search;
        Split best[2];
    };

    // Of a large leaf, each member sums a part of the rows; false where the leaf is too small for that.
    bool sum_parts(const LeafView &leaf);
    // Fills the member's groups of the leaf's histogram, from the parts where there are any.
    void fill_histogram(Member &member, const LeafView &leaf, bool in_parts);
    void search_group(Member &member, std::size_t group, const LeafView &leaf, Split &best) const;
    template <typename Bins>
    void search_feature(Member &member, FeatureBins<Bins> bins, const LeafView &leaf, Split &best) const;
    Split best_of(int which) const;

    const TreeData<Code> &data;
    SplitRules rules;
    HistogramLayout layout;
    Team &team;
    Simd simd;
    std::vector<Member> members;
};

extern template class LeafSearch<std::uint8_t>;
extern template class LeafSearch<std::uint16_t>;

} // namespace rankwright
