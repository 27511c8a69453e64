#include "core/trees/grower.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/trees/leaf_search.hpp"
#include "core/trees/leaf_values.hpp"
#include "core/trees/partition.hpp"
#include "core/trees/sparse_leaf_search.hpp"
#include "core/trees/sparse_partition.hpp"

namespace rankwright {

namespace {

// A gain smaller than this part of the leaf's score may be only rounding.
constexpr double smallest_relative_gain = 0x1p-40;

constexpr std::size_t no_slot = static_cast<std::size_t>(-1);

// Where a leaf's rows are listed: nowhere while they are all rows in order, else in the tree's list or the scratch.
enum class Listed { nowhere, tree, scratch };

struct Leaf {
    std::size_t node;
    std::size_t begin, n_rows; // of its rows here, which are all its documents unless other workers have some
    Sums sums;
    Bounds bounds;
    std::int64_t depth;
    Listed listed;
    std::size_t slot = no_slot; // of its histogram, where that is kept
    Split split = {};           // the best one
    double gain = 0.0;          // of that split; 0 where no split is worth making
};

// Room for a number of histograms.
class HistogramPool {
  public:
    HistogramPool(std::span<std::uint64_t> memory, std::size_t histogram_size) : words_(memory), size_(histogram_size) {
        free_slots_.resize(size_ == 0 ? 2 : words_.size() / size_);
        if (free_slots_.size() < 2) throw std::invalid_argument("two histograms need more memory than given");
        std::iota(free_slots_.rbegin(), free_slots_.rend(), std::size_t{0});
    }
    bool empty() const { return free_slots_.empty(); }
    std::size_t take() {
        const std::size_t slot = free_slots_.back();
        free_slots_.pop_back();
        return slot;
    }
    void release(Leaf &leaf) {
        if (leaf.slot != no_slot) free_slots_.push_back(leaf.slot);
        leaf.slot = no_slot;
    }
    std::uint64_t *at(std::size_t slot) const { return words_.data() + slot * size_; }

  private:
    std::span<std::uint64_t> words_;
    std::size_t size_;
    std::vector<std::size_t> free_slots_;
};

// The settings in units of quantised sums.
template <typename Code> SplitRules rules_of(const TreeData<Code> &data, const TreeSettings &settings) {
    return {settings.min_docs,
            settings.min_curvature * data.quantised.curvature_scale,
            settings.l2 * data.quantised.curvature_scale,
            settings.newton,
            std::ranges::any_of(data.columns.monotone, [](std::int8_t direction) { return direction != 0; }),
            settings.category_smoothing,
            settings.max_split_categories};
}

// Calls visit(document) for each document of the tree that is here.
template <typename Code, typename Visit>
void visit_documents(const TreeData<Code> &data, std::span<const std::uint32_t> rows, Visit visit) {
    if (data.all_rows) {
        for (const std::int32_t document : data.quantised.documents) visit(document);
    } else {
        for (const std::uint32_t row : rows) visit(data.quantised.documents[row]);
    }
}

template <typename Code> Sums sums_of_all(const TreeData<Code> &data, std::span<const std::uint32_t> rows) {
    Sums all{0, 0, static_cast<std::int64_t>(rows.size())};
    visit_documents(data, rows, [&](std::int32_t document) {
        all.gradient += document >> curvature_bits;
        all.curvature += document & curvature_limit;
    });
    if (!data.exchange) return all;
    std::int64_t parts[] = {all.gradient, all.curvature, all.count};
    data.exchange->add_up(parts);
    return {parts[0], parts[1], parts[2]};
}

template <typename Code> class Grower {
  public:
    Grower(const TreeData<Code> &data, const TreeSettings &settings, TreeScratch scratch, Tree tree, RowListing listing,
           int threads, Simd simd)
        : data_(data), settings_(settings), rules_(rules_of(data_, settings_)), scratch_(scratch), tree_(tree),
          listing_(listing), team_(threads), all_(sums_of_all(data_, listing_.rows)),
          search_(data_, scratch_.arranged, rules_, all_.count > Packed::max_count, settings_.symmetric, team_, simd),
          pool_(scratch_.histograms, search_.histogram_size()),
          chance_(data_.key, settings_.split_feature_fraction, data_.columns.asked, noise_deviation()) {}

    std::size_t grow() {
        plant();
        if (settings_.symmetric) {
            split_levels();
        } else {
            split_best_first();
        }
        list_rows();
        fill_values();
        return n_nodes_;
    }

  private:
    void plant() {
        leaves_.reserve(static_cast<std::size_t>(settings_.max_leaves));
        const Listed listed = data_.all_rows ? Listed::nowhere : Listed::tree;
        leaves_.push_back({add_node(0, listing_.rows.size(), all_), 0, listing_.rows.size(), all_, {}, 0, listed});
        if (!may_be_split(leaves_[0])) return;
        leaves_[0].slot = pool_.take();
        if (settings_.symmetric) {
            search_.add_root(view(leaves_[0]));
        } else {
            note_split(leaves_[0], search_.search(view(leaves_[0])));
        }
    }

    // Of the noise on gains; 0 where nothing is drawn.
    double noise_deviation() const {
        const bool draws = settings_.gain_noise > 0 && may_be_split(0, all_);
        return draws ? settings_.gain_noise * std::sqrt(gain_of_nothing()) : 0.0;
    }

    // What a split that tells nothing apart gains on average: the mean square of the gradients by the mean of what they
    // are divided by.
    double gain_of_nothing() const {
        std::int64_t squares[] = {0}; // up to 2^28 rows of 2^26
        visit_documents(data_, listing_.rows, [&](std::int32_t document) {
            const std::int64_t gradient = document >> curvature_bits;
            squares[0] += gradient * gradient;
        });
        search_.workers().add_up(squares);
        const double below = rules_.denominator(all_);
        return below > 0 ? static_cast<double>(squares[0]) / below : 0.0;
    }

    void split_best_first() {
        while (static_cast<std::int64_t>(leaves_.size()) < settings_.max_leaves) {
            const auto best = std::ranges::max_element(leaves_, {}, &Leaf::gain);
            if (best->gain <= 0) break;
            split(static_cast<std::size_t>(best - leaves_.begin()));
        }
    }

    void split_levels() {
        const std::int64_t most = std::bit_width(static_cast<std::uint64_t>(settings_.max_leaves)) - 1;
        const std::int64_t n_levels = std::min(most, settings_.max_depth);
        for (std::int64_t level = 0; level < n_levels; ++level) {
            const Split best = search_.finish_level(chance_.of(static_cast<std::uint64_t>(level)));
            if (!best.found() || best.score <= settings_.min_gain / gain_unit()) break;
            last_level_ = level + 1 == n_levels;
            split_level(best);
        }
    }

    // Splits the leaves where the split is allowed and gains something; others stay, and may take part in later levels.
    void split_level(const Split &best) {
        const std::size_t n_leaves = leaves_.size();
        const std::size_t first_node = n_nodes_;
        Sums all_split, all_left;
        const std::vector<Sums> left_of_leaf = sums_on_the_left(best);
        for (std::size_t number = 0; number < n_leaves; ++number) {
            if (!may_be_split(leaves_[number])) continue;
            choose_split(leaves_[number], best, left_of_leaf[number]);
            const Leaf &leaf = leaves_[number];
            if (leaf.gain > 0) {
                all_split = all_split + leaf.sums;
                all_left = all_left + leaf.split.left;
                split(number);
            } else if (!last_level_) {
                search_.add_kept(view(leaf));
            }
        }
        if (search_.is_lacking(static_cast<std::size_t>(best.feature))) return;
        for (std::size_t node = 0; node < first_node; ++node) {
            const bool is_new = tree_.left[node] >= static_cast<std::int32_t>(first_node);
            if (is_new) tree_.missing_left[node] = 2 * all_left.count >= all_split.count;
        }
    }

    // For each leaf what the level's split sends left, where its histogram is there; the others get theirs later. All
    // at once, since workers must ask the one that has the feature.
    std::vector<Sums> sums_on_the_left(const Split &best) {
        std::vector<Sums> left(leaves_.size());
        for (std::size_t number = 0; number < leaves_.size(); ++number) {
            const Leaf &leaf = leaves_[number];
            if (may_be_split(leaf) && leaf.slot != no_slot) left[number] = search_.left_of(view(leaf), best);
        }
        search_.workers().add_sums(left);
        return left;
    }

    // Gives the leaf the level's split and its own gain, 0 where it takes no part.
    void choose_split(Leaf &leaf, const Split &best, Sums left) {
        if (leaf.slot == no_slot) {
            leaf.slot = take_slot();
            search_.build(view(leaf));
            Sums own[] = {search_.left_of(view(leaf), best)};
            search_.workers().add_sums(own);
            left = own[0];
        }
        leaf.split = best;
        leaf.split.left = left;
        const Sums right = leaf.sums - left;
        const int direction = data_.columns.monotone[static_cast<std::size_t>(best.feature)];
        const GainRule rule = gain_rule(leaf);
        leaf.gain = 0.0;
        if (!rules_.allows(left, right, direction, leaf.bounds)) return;
        const double gain = rules_.score(left, right, leaf.bounds) - rule.before;
        if (gain > rule.least) leaf.gain = gain;
    }

    std::size_t add_node(std::size_t begin, std::size_t n_rows, Sums sums) {
        tree_.feature[n_nodes_] = tree_.bin[n_nodes_] = tree_.left[n_nodes_] = tree_.right[n_nodes_] = -1;
        tree_.missing_left[n_nodes_] = false;
        tree_.gain[n_nodes_] = 0.0;
        tree_.value[n_nodes_] = 0.0f;
        listing_.begin[n_nodes_] = static_cast<std::int64_t>(begin);
        listing_.held[n_nodes_] = static_cast<std::int64_t>(n_rows);
        tree_.count[n_nodes_] = sums.count;
        std::ranges::fill(category_words(n_nodes_), 0u);
        return n_nodes_++;
    }

    std::span<std::uint32_t> category_words(std::size_t node) const {
        return tree_.categories.subspan(node * tree_.n_category_words, tree_.n_category_words);
    }

    bool may_be_split(const Leaf &leaf) const { return may_be_split(leaf.depth, leaf.sums); }
    bool may_be_split(std::int64_t depth, Sums sums) const {
        return depth < settings_.max_depth && sums.count >= 2 * rules_.min_docs;
    }

    RowRun rows_of(const Leaf &leaf) const {
        if (leaf.listed == Listed::nowhere) return {nullptr, 0, leaf.n_rows};
        return {(leaf.listed == Listed::tree ? listing_.rows : scratch_.rows).data() + leaf.begin, 0, leaf.n_rows};
    }

    LeafView view(const Leaf &leaf) {
        const SplitChance own = settings_.symmetric ? SplitChance{} : chance_.of(leaf.node); // a level has one for all
        return {rows_of(leaf), leaf.sums, leaf.bounds, pool_.at(leaf.slot), may_be_split(leaf), gain_rule(leaf), own};
    }

    // The least gain that is set holds for a split, and so for all leaves of a level together.
    GainRule gain_rule(const Leaf &leaf) const {
        const double before = rules_.score(leaf.sums, leaf.bounds);
        const double least = settings_.symmetric ? 0.0 : settings_.min_gain / gain_unit();
        return {before, std::max(least, before * smallest_relative_gain)};
    }

    void note_split(Leaf &leaf, const Split &best) {
        const GainRule rule = gain_rule(leaf);
        const double gain = best.score - rule.before;
        if (best.found() && gain > rule.least) {
            leaf.split = best;
            leaf.gain = gain;
        } else {
            pool_.release(leaf); // it will never be split
        }
    }

    void split(std::size_t number) {
        Leaf parent = leaves_[number];
        const auto [listed, n_left] = divide(parent);
        const auto [left_bounds, right_bounds] = bounds_of_children(parent);
        const Sums left = parent.split.left, right = parent.sums - left;
        const std::size_t begin = parent.begin, middle = begin + n_left, n_right = parent.n_rows - n_left;
        const std::int64_t depth = parent.depth + 1;
        leaves_[number] = {add_node(begin, n_left, left), begin, n_left, left, left_bounds, depth, listed};
        leaves_.push_back({add_node(middle, n_right, right), middle, n_right, right, right_bounds, depth, listed});
        write_split(parent, leaves_[number].node);
        search_children(parent, leaves_[number], leaves_.back());
    }

    // Lists the rows of the leaf's children, and returns where they are listed and how many go left.
    std::pair<Listed, std::size_t> divide(const Leaf &leaf) {
        const auto feature = static_cast<std::size_t>(leaf.split.feature);
        const auto missing = static_cast<std::size_t>(data_.columns.n_bins[feature]);
        std::vector<std::uint8_t> goes_left(missing + 1, 0);
        std::fill_n(goes_left.begin(), leaf.split.bin + 1, std::uint8_t{1});
        for (const std::uint16_t code : leaf.split.categories) goes_left[code] = 1;
        goes_left[missing] = leaf.split.missing_left;
        const Listed listed = leaf.listed == Listed::tree ? Listed::scratch : Listed::tree;
        std::uint32_t *out = (listed == Listed::tree ? listing_.rows : scratch_.rows).data() + leaf.begin;
        return {listed, divide_rows(data_.codes, feature, goes_left, rows_of(leaf), out, scratch_.sides.data(), team_)};
    }

    std::pair<Bounds, Bounds> bounds_of_children(const Leaf &parent) const {
        Bounds left = parent.bounds, right = parent.bounds;
        const int direction = data_.columns.monotone[static_cast<std::size_t>(parent.split.feature)];
        if (direction == 0) return {left, right};
        const double middle = 0.5 * (rules_.value(parent.split.left, parent.bounds) +
                                     rules_.value(parent.sums - parent.split.left, parent.bounds));
        (direction > 0 ? left.high : left.low) = middle;
        (direction > 0 ? right.low : right.high) = middle;
        return {left, right};
    }

    void write_split(const Leaf &parent, std::size_t left) {
        tree_.feature[parent.node] = parent.split.feature;
        tree_.bin[parent.node] = parent.split.bin;
        tree_.left[parent.node] = static_cast<std::int32_t>(left);
        tree_.right[parent.node] = static_cast<std::int32_t>(left + 1);
        tree_.missing_left[parent.node] = parent.split.missing_left;
        tree_.gain[parent.node] = parent.gain * gain_unit();
        const auto words = category_words(parent.node);
        for (const std::uint16_t code : parent.split.categories) words[code / 32] |= 1u << (code % 32);
    }

    // Finds the best splits of two new leaves with as few sums as possible: the histogram of the smaller leaf is
    // summed, that of the other is their parent's less this one, unless the parent's was dropped to make room.
    void search_children(Leaf &parent, Leaf &left, Leaf &right) {
        Leaf &small = left.sums.count <= right.sums.count ? left : right;
        Leaf &large = left.sums.count <= right.sums.count ? right : left;
        const bool last = last_level_ || static_cast<std::int64_t>(leaves_.size()) == settings_.max_leaves;
        if (last || !may_be_split(large)) return pool_.release(parent);
        if (settings_.symmetric) {
            small.slot = take_slot();
            large.slot = parent.slot;
            search_.add_siblings(view(left), view(right));
            if (!may_be_split(small)) pool_.release(small);
            return;
        }
        if (parent.slot == no_slot) {
            for (Leaf *leaf : {&large, &small}) {
                if (!may_be_split(*leaf)) continue;
                leaf->slot = take_slot();
                note_split(*leaf, search_.search(view(*leaf)));
            }
            return;
        }
        small.slot = take_slot();
        large.slot = parent.slot;
        const auto [best_of_small, best_of_large] = search_.search(view(small), view(large));
        note_split(small, best_of_small);
        note_split(large, best_of_large);
    }

    // A free place for a histogram; where there is none, that of the leaf least likely to be split soon.
    std::size_t take_slot() {
        if (pool_.empty()) {
            const auto cost = [](const Leaf &leaf) { return leaf.slot == no_slot ? infinity : leaf.gain; };
            pool_.release(*std::ranges::min_element(leaves_, {}, cost));
        }
        return pool_.take();
    }

    void list_rows() {
        for (const Leaf &leaf : leaves_) {
            std::uint32_t *out = listing_.rows.data() + leaf.begin;
            if (leaf.listed == Listed::nowhere) std::iota(out, out + leaf.n_rows, 0u);
            if (leaf.listed == Listed::scratch) std::copy_n(scratch_.rows.data() + leaf.begin, leaf.n_rows, out);
        }
    }

    void fill_values() {
        std::vector<RowRange> ranges;
        ranges.reserve(leaves_.size());
        for (const Leaf &leaf : leaves_) ranges.push_back({leaf.begin, leaf.n_rows});
        const LargestForces largest{gradient_limit / data_.quantised.gradient_scale,
                                    curvature_limit / data_.quantised.curvature_scale};
        const std::vector<TrueSums> sums =
            sum_leaves(ranges, listing_.rows, data_.gradient, data_.curvature, largest, team_, data_.exchange);
        std::vector<double> curvature(n_nodes_, 0.0);
        for (std::size_t i = 0; i < leaves_.size(); ++i) {
            curvature[leaves_[i].node] = sums[i].curvature;
            const double below = sums[i].curvature + settings_.l2;
            const Bounds &bounds = leaves_[i].bounds;
            const double unit = data_.quantised.curvature_scale / data_.quantised.gradient_scale;
            const Bounds in_true_units{bounds.low * unit, bounds.high * unit};
            const double value = in_true_units.clamp(below > 0 ? -sums[i].gradient / below : 0.0);
            tree_.value[leaves_[i].node] = static_cast<float>(settings_.learning_rate * value);
        }
        for (std::size_t node = n_nodes_; node-- > 0;) { // children come after their parent
            if (tree_.feature[node] >= 0) curvature[node] = curvature[tree_.left[node]] + curvature[tree_.right[node]];
            tree_.curvature[node] = static_cast<float>(curvature[node]);
        }
    }

    // A gain of 1 in quantised units, in true ones.
    double gain_unit() const {
        const double scale = data_.quantised.gradient_scale;
        return (settings_.newton ? data_.quantised.curvature_scale : 1.0) / (scale * scale);
    }

    static constexpr double infinity = std::numeric_limits<double>::infinity();

    const TreeData<Code> &data_;
    const TreeSettings &settings_;
    SplitRules rules_;
    TreeScratch scratch_;
    Tree tree_;
    RowListing listing_;
    Team team_;
    Sums all_; // of the tree's documents, wherever they are
    LeafSearch<Code> search_;
    HistogramPool pool_;
    TreeChance chance_;
    std::vector<Leaf> leaves_;
    std::size_t n_nodes_ = 0;
    bool last_level_ = false; // of a symmetric tree
};

} // namespace

template <typename Code>
std::size_t grow_tree(const TreeData<Code> &data, const TreeSettings &settings, TreeScratch scratch, Tree tree,
                      RowListing listing, int threads, Simd simd) {
    return Grower<Code>(data, settings, scratch, tree, listing, threads, simd).grow();
}

template std::size_t grow_tree(const TreeData<std::uint8_t> &, const TreeSettings &, TreeScratch, Tree, RowListing, int,
                               Simd);
template std::size_t grow_tree(const TreeData<std::uint16_t> &, const TreeSettings &, TreeScratch, Tree, RowListing,
                               int, Simd);
template std::size_t grow_tree(const TreeData<SparseCode> &, const TreeSettings &, TreeScratch, Tree, RowListing, int,
                               Simd);

} // namespace rankwright
