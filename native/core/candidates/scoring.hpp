// What a posting adds to a document's score, by several models of relevance, and how much it can add at most.
//
// Every addend is rounded to a multiple of 2^-32. Sums of such numbers are exact, so that a score does not depend on
// the order in which terms are added, on threads, or on what a search could leave out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/common/elementary.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

constexpr std::size_t postings_in_block = 128;
constexpr std::uint32_t window = 4096; // documents scored together: their sums stay in the fastest cache

// The nearest multiple of 2^-32 of a number below 2^19 in size: what is added leaves no room for more.
[[gnu::always_inline]] inline double rounded_score(double score) {
    constexpr double shift = 1.5 * (1 << 20);
    return (score + shift) - shift;
}

// The counts of a field in as many bytes as the largest one needs: one of the three is not empty, or none.
struct FieldCounts {
    std::span<const std::uint8_t> narrow;
    std::span<const std::uint16_t> middle;
    std::span<const std::uint32_t> wide;

    double at(std::size_t posting) const {
        if (!narrow.empty()) return narrow[posting];
        return middle.empty() ? wide[posting] : middle[posting];
    }
    std::size_t size() const { return narrow.size() + middle.size() + wide.size(); }
};

// The postings of a segment, in the fields that are searched, and what bounds each block of them.
struct SegmentPostings {
    std::span<const std::int64_t> starts; // of each term, and the end
    std::span<const std::uint32_t> documents;
    std::vector<FieldCounts> counts;
    std::vector<std::span<const std::int32_t>> lengths; // of each field, or of all of them together
    std::span<const std::int64_t> block_starts;
    std::vector<std::span<const std::uint32_t>> block_most;  // of each field: the largest count
    std::vector<std::span<const std::uint32_t>> block_least; // of each field: the least length where it has the term

    std::size_t n_terms() const { return starts.size() - 1; }
    std::size_t n_documents() const { return lengths.front().size(); }
    std::size_t n_fields() const { return counts.size(); }
};

enum class TextModel { bm25, bm25f, dirichlet, dph };

// How a posting is scored; what each number means is said where it is used.
struct TextScorer {
    TextModel model;
    double saturation;
    std::span<const double> bases, slopes, weights; // of each field
    double smoothing, mean_length, least_length;
};

// Bounds are in single precision: factors by which rounding errors of some additions are left behind.
constexpr float rounded_up = 1.00001F, rounded_down = 0.99999F;

// What a count gives at most: weight · count / (count + base + slope · length).
struct CountBound {
    float weight, base, slope;
};

// A term of a query: its weight, and how rare it is.
struct WeightedTerm {
    double weight, rarity;
};

// The counts of a posting in all fields together.
inline double total_count(const SegmentPostings &postings, std::size_t posting) {
    double count = 0;
    for (const FieldCounts &field : postings.counts) count += field.at(posting);
    return count;
}

// Of a block: a count that none in it exceeds, and a length that none in it falls below.
struct BlockBound {
    double count, length;
};

inline BlockBound total_bound(const SegmentPostings &postings, std::size_t block) {
    BlockBound bound{0, std::numeric_limits<std::int32_t>::max()};
    for (std::size_t field = 0; field < postings.n_fields(); ++field) {
        const double most = postings.block_most[field][block];
        if (most == 0) continue; // a document of the block has the term in another field
        bound.count += most;
        bound.length = std::min<double>(bound.length, postings.block_least[field][block]);
    }
    return bound;
}

// The addends of postings with narrow counts, side by side.
template <typename Formula> struct NarrowAddends {
    [[gnu::always_inline]] static inline void run(const Formula *formula, WeightedTerm term, const std::uint8_t *counts,
                                                  const std::uint32_t *documents, const std::int32_t *lengths,
                                                  std::size_t n, double *found) {
        for (std::size_t i = 0; i < n; ++i)
            found[i] = rounded_score(formula->score(term, counts[i], lengths[documents[i]]));
    }
};

// Models that see the fields as one text. `Formula` scores a count in a text of some length.
template <typename Formula> class WholeText {
  public:
    static constexpr bool is_positive = Formula::is_positive;
    static constexpr bool has_count_bounds = Formula::has_count_bounds;

    WholeText(const SegmentPostings &postings, const TextScorer &scorer)
        : postings_(postings), formula_(scorer), documents_(postings.documents.data()),
          lengths_(postings.lengths.front().data()),
          narrow_(postings.n_fields() == 1 && !postings.counts.front().narrow.empty()
                      ? postings.counts.front().narrow.data()
                      : nullptr) {}

    double addend(WeightedTerm term, std::size_t posting) const {
        return rounded_score(formula_.score(term, total_count(postings_, posting), lengths_[documents_[posting]]));
    }
    void addends(WeightedTerm term, std::size_t begin, std::size_t end, double *found) const {
        if (narrow_ == nullptr) {
            for (std::size_t i = begin; i < end; ++i) *found++ = addend(term, i);
            return;
        }
        run_for<NarrowAddends<Formula>>(simd_, &formula_, term, narrow_ + begin, documents_ + begin, lengths_,
                                        end - begin, found);
    }
    double addend_of(WeightedTerm term, double count, std::uint32_t document) const {
        return rounded_score(formula_.score(term, count, lengths_[document]));
    }
    CountBound count_bound(WeightedTerm term) const { return formula_.count_bound(term); }
    const std::int32_t *lengths(std::uint32_t first) const { return lengths_ + first; }

    // Writes the counts of postings to the places of their documents, as long as they are below 256. A file may hold
    // postings in any order, but they stay in the window.
    bool spread_counts(const std::uint32_t *documents, std::size_t begin, std::size_t end, std::uint32_t first,
                       std::uint8_t *counts) const {
        if (narrow_ != nullptr) {
            for (std::size_t i = begin; i < end; ++i) counts[(documents[i] - first) % window] = narrow_[i];
            return true;
        }
        for (std::size_t i = begin; i < end; ++i) {
            const double count = total_count(postings_, i);
            if (count > 255) return false;
            counts[(documents[i] - first) % window] = static_cast<std::uint8_t>(count);
        }
        return true;
    }
    double bound(WeightedTerm term, std::size_t block) const {
        const auto [count, length] = total_bound(postings_, block);
        return rounded_score(formula_.score(term, count, length));
    }
    bool matches(std::size_t posting) const { return total_count(postings_, posting) > 0; }
    double prior(double query_length, std::uint32_t document) const {
        return rounded_score(formula_.prior(query_length, lengths_[document]));
    }
    double most_prior(double query_length) const { return rounded_score(formula_.most_prior(query_length)); }

  private:
    const SegmentPostings &postings_;
    Formula formula_;
    const std::uint32_t *documents_;
    const std::int32_t *lengths_;
    const std::uint8_t *narrow_; // counts, where there is one field and they fit
    Simd simd_ = simd_level();
};

// No part of the score belongs to the document alone.
struct NoPrior {
    static double prior(double, double) { return 0; }
    static double most_prior(double) { return 0; }
};

// BM25: count / (count + k1 (1 - b + b length / mean)). The base is k1 (1 - b), the slope k1 b / mean.
struct Bm25Formula : NoPrior {
    static constexpr bool is_positive = true, has_count_bounds = true;
    double base, slope;

    explicit Bm25Formula(const TextScorer &scorer) : base(scorer.bases.front()), slope(scorer.slopes.front()) {}
    [[gnu::always_inline]] double score(WeightedTerm term, double count, double length) const {
        return count > 0 ? term.weight * (count / (count + (base + slope * length))) : 0;
    }
    CountBound count_bound(WeightedTerm term) const {
        constexpr double most = 1e30; // what is larger leaves nothing of a score; a bound may be too large
        return {static_cast<float>(term.weight) * rounded_up, static_cast<float>(std::min(base, most)) * rounded_down,
                static_cast<float>(std::min(slope, most)) * rounded_down};
    }
};

// A language model smoothed by the collection's: log(1 + count · rarity), where rarity is 1 / (μ · share of the
// collection), and for each word of the query log(μ / (μ + length)).
struct DirichletFormula {
    static constexpr bool is_positive = true, has_count_bounds = false;
    double smoothing, least_length;

    explicit DirichletFormula(const TextScorer &scorer)
        : smoothing(scorer.smoothing), least_length(scorer.least_length) {}
    [[gnu::always_inline]] double score(WeightedTerm term, double count, double) const {
        return term.weight * log_of(1.0 + count * term.rarity);
    }
    double prior(double query_length, double length) const { return -query_length * log_of(1.0 + length / smoothing); }
    double most_prior(double query_length) const { return prior(query_length, least_length); }
};

// DPH, divergence from randomness without parameters; rarity is documents / occurrences. A common term may lower a
// score.
struct DphFormula : NoPrior {
    static constexpr bool is_positive = false, has_count_bounds = false;
    double mean_length;

    explicit DphFormula(const TextScorer &scorer) : mean_length(scorer.mean_length) {}
    [[gnu::always_inline]] double score(WeightedTerm term, double count, double length) const {
        constexpr double log2_of_e = Elementary<double>::log2_of_e, two_pi = 6.283185307179586;
        const double share = count / length;
        if (!(count > 0) || !(share < 1)) return 0;
        const double norm = (1 - share) * (1 - share) / (count + 1);
        const double information = count * log2_of_e * log_of(count * mean_length / length * term.rarity);
        return term.weight * norm * (information + 0.5 * log2_of_e * log_of(two_pi * count * (1 - share)));
    }
};

// BM25F: counts of fields, each divided by its field's length norm and weighted, are added before they saturate.
class WeightedFields {
  public:
    static constexpr bool is_positive = true, has_count_bounds = false;

    WeightedFields(const SegmentPostings &postings, const TextScorer &scorer) : postings_(postings), scorer_(scorer) {}

    double addend(WeightedTerm term, std::size_t posting) const {
        const std::uint32_t document = postings_.documents[posting];
        double count = 0;
        for (std::size_t field = 0; field < postings_.n_fields(); ++field)
            count += normed(field, postings_.counts[field].at(posting), postings_.lengths[field][document]);
        return saturated(term, count);
    }
    void addends(WeightedTerm term, std::size_t begin, std::size_t end, double *found) const {
        for (std::size_t i = begin; i < end; ++i) *found++ = addend(term, i);
    }
    double bound(WeightedTerm term, std::size_t block) const {
        double count = 0;
        for (std::size_t field = 0; field < postings_.n_fields(); ++field)
            count += normed(field, postings_.block_most[field][block], postings_.block_least[field][block]);
        return saturated(term, count);
    }
    bool matches(std::size_t posting) const { return total_count(postings_, posting) > 0; }
    static double prior(double, std::uint32_t) { return 0; }
    static double most_prior(double) { return 0; }

  private:
    double normed(std::size_t field, double count, double length) const {
        if (count == 0) return 0;
        return scorer_.weights[field] * count / (scorer_.bases[field] + scorer_.slopes[field] * length);
    }
    double saturated(WeightedTerm term, double count) const {
        return count == 0 ? 0 : rounded_score(term.weight * (count / (scorer_.saturation + count)));
    }

    const SegmentPostings &postings_;
    const TextScorer &scorer_;
};

} // namespace rankwright
