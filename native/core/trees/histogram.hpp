// Sums of a leaf's documents by feature and bin.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/binning/codes.hpp"
#include "core/common/simd.hpp"
#include "core/trees/arranged_rows.hpp"
#include "core/trees/packing.hpp"

namespace rankwright {

// A leaf's documents: the given rows, or where there are none, `count` rows one after another.
struct RowRun {
    const std::uint32_t *rows;
    std::size_t first;
    std::size_t count;

    RowRun part(std::size_t begin, std::size_t length) const {
        return rows ? RowRun{rows + begin, 0, length} : RowRun{nullptr, first + begin, length};
    }
    std::size_t operator[](std::size_t i) const { return rows ? rows[i] : first + i; }
};

// Where the bins of each feature lie in a histogram, which is one region of words per group of features. A leaf of at
// most Packed::max_count documents has a word for each bin. A larger one has two, in two halves of the region: first
// the gradients of all bins, then the rest.
struct HistogramLayout {
    struct Group {
        std::size_t base;                // of its region, in words
        std::size_t stride;              // bins between features
        std::size_t n_slots;             // features summed, whether asked for or not
        std::vector<std::uint8_t> asked; // slots of the features that may be split on

        std::size_t n_bins() const { return stride * n_slots; }
    };
    std::vector<Group> groups;
    std::size_t n_words = 0;                    // of a whole histogram
    std::size_t n_slots_of_group;               // as codes have them
    std::vector<std::int32_t> feature_of_place; // places are slots of all groups, one after another; -1: no feature
    std::vector<std::size_t> place_of_feature;

    // n_bins[f] counts the bins of feature f but for that of missing values; asked[f] says whether f may be split on.
    // Features lie in the given places; where none are given, in their order.
    HistogramLayout(std::span<const std::int64_t> n_bins, std::span<const bool> asked, std::size_t slots,
                    bool with_wide_bins, std::span<const std::int32_t> features = {});

    std::int32_t feature_at(std::size_t group, std::size_t slot) const {
        return feature_of_place[group * n_slots_of_group + slot];
    }
    std::size_t group_of(std::size_t feature) const { return place_of_feature[feature] / n_slots_of_group; }
    std::size_t slot_of(std::size_t feature) const { return place_of_feature[feature] % n_slots_of_group; }

  private:
    void add_group(std::span<const std::int64_t> n_bins, std::span<const bool> asked, std::size_t first,
                   std::size_t n_places, bool with_wide_bins);
};

// The bins of a feature in either form.
struct PackedBins {
    const std::uint64_t *words;

    Packed operator[](std::size_t bin) const { return {words[bin]}; }
    PackedBins(const HistogramLayout::Group &group, const std::uint64_t *histogram, std::size_t slot)
        : words(histogram + group.base + slot * group.stride) {}
};
struct WideBins {
    const std::uint64_t *gradient;
    const std::uint64_t *rest;

    Wide operator[](std::size_t bin) const { return {static_cast<std::int64_t>(gradient[bin]), rest[bin]}; }
    WideBins(const HistogramLayout::Group &group, const std::uint64_t *histogram, std::size_t slot)
        : gradient(histogram + group.base + slot * group.stride), rest(gradient + group.n_bins()) {}
};

// Rows in memory: that of number r begins at first + r * pitch, in bytes.
struct RowPlaces {
    const std::uint8_t *first;
    std::size_t pitch;

    const std::uint8_t *at(std::size_t row) const { return first + row * pitch; }
    void ask(std::size_t row, std::size_t n_lines) const {
        for (std::size_t line = 0; line < n_lines; ++line) __builtin_prefetch(at(row) + line * line_bytes);
    }
    static constexpr std::size_t line_bytes = 64;
};

// Rows and their documents.
struct Summands {
    std::span<const std::uint32_t> rows;
    const std::uint64_t *documents;
};

// Builds histograms in one thread, with scratch memory of its own.
template <typename Code> class HistogramBuilder {
  public:
    // Sums are made from arranged rows where there are any, else from the codes.
    HistogramBuilder(Codes<const Code> codes, const ArrangedRows &arranged, std::span<const std::int32_t> quantised,
                     const HistogramLayout &layout, Simd simd);

    // Fills the regions of groups [first, last) of a histogram with the sums of the given rows, a leaf's or a part of
    // them; `wide` says whether the leaf has two words for each bin. Where counts are known, they are left to
    // set_counts.
    void build(RowRun rows, bool wide, std::size_t first, std::size_t last, std::uint64_t *histogram);

    // Whether the bins of a leaf's documents are counted beforehand, since these are all that there are. Documents
    // without any force then need not be summed.
    bool knows_counts(RowRun rows, bool wide) const { return !rows.rows && wide && !arranged_.empty(); }
    // Sets the counts in a group of the histogram of all documents.
    void set_counts(std::size_t group, std::uint64_t *histogram) const;

  private:
    struct Target { // where the bins of a group are summed
        std::size_t group;
        std::uint64_t *bins;
    };

    // Lists the first rows, at most Packed::max_count, and their documents, and returns how many rows were taken and
    // how many listed. Those without any force are taken only where `all`.
    std::pair<std::size_t, std::size_t> load(RowRun rows, bool all);
    // Adds the listed rows to groups [first, last) of the histogram.
    void add_part(std::size_t n_rows, bool wide, std::size_t first, std::size_t last, std::uint64_t *histogram);
    void sum(std::span<const Target> targets, std::size_t n_rows);
    void load_unusual(std::span<const std::uint32_t> rows, bool asked);
    Summands kept_of(Summands all, std::size_t group, std::uint64_t *bins);
    RowPlaces places_of(std::size_t group) const;

    Codes<const Code> codes_;
    const ArrangedRows &arranged_;
    std::span<const std::int32_t> quantised_;
    const HistogramLayout &layout_;
    Simd simd_;
    std::size_t groups_in_pass_ = 1;
    std::vector<std::uint32_t> rows_; // those being summed
    std::vector<std::uint64_t> documents_;
    std::vector<std::uint64_t> unusual_; // the words of some rows: in which groups they have unusual codes
    std::vector<std::uint32_t> kept_rows_;
    std::vector<std::uint64_t> kept_documents_;
    std::vector<std::uint64_t> scratch_; // bins of some groups
};

extern template class HistogramBuilder<std::uint8_t>;
extern template class HistogramBuilder<std::uint16_t>;

// Adds the histogram of other rows of the same leaf.
void add_histogram(const HistogramLayout::Group &group, std::uint64_t *leaf, const std::uint64_t *others, bool wide,
                   Simd simd);

// The histogram of a leaf's other child, in place of the leaf's own: bins of `leaf` less those of `child`.
// `n_leaf`, `n_child` are their numbers of documents, which decide how wide their bins are.
void subtract(const HistogramLayout::Group &group, std::uint64_t *leaf, const std::uint64_t *child, std::size_t n_leaf,
              std::size_t n_child, Simd simd);

} // namespace rankwright
