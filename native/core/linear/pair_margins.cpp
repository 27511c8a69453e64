#include "core/linear/pair_margins.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 8;
constexpr double margin = 1.0;

struct Sum {
    double weight = 0.0, value = 0.0;

    void add(double w, double v) {
        weight += w;
        value += w * v;
    }
};

// Sums by level. Without level weights a tree of partial sums (Fenwick 1994) gives those below a level in a few steps.
class LevelSums {
  public:
    void reset(std::size_t n_levels) { sums_.assign(n_levels + 1, Sum{}); }

    void add_to_tree(std::size_t level, double weight, double value) {
        for (std::size_t node = level + 1; node < sums_.size(); node += node & -node) sums_[node].add(weight, value);
    }

    Sum tree_below(std::size_t level) const {
        Sum sum;
        for (std::size_t node = level; node > 0; node -= node & -node) {
            sum.weight += sums_[node].weight;
            sum.value += sums_[node].value;
        }
        return sum;
    }

    void add_to_level(std::size_t level, double weight, double value) { sums_[level].add(weight, value); }
    const Sum &of_level(std::size_t level) const { return sums_[level]; }

  private:
    std::vector<Sum> sums_;
};

class Query {
  public:
    Query(const MarginPairs &pairs, std::span<const double> scores, std::span<const double> values)
        : pairs_(pairs), scores_(scores), values_(values) {}

    void sum(std::size_t first, std::size_t last, double factor, const PairSums &sums) {
        order_.resize(last - first);
        std::iota(order_.begin(), order_.end(), first);
        std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
            return scores_[a] > scores_[b] || (scores_[a] == scores_[b] && a < b);
        });
        n_levels_ = 1;
        for (std::size_t row = first; row < last; ++row) {
            n_levels_ = std::max(n_levels_, static_cast<std::size_t>(pairs_.levels[row]) + 1);
        }
        // From the top, since the set of possible worse partners only grows as scores fall; then from the bottom.
        sweep(order_.begin(), order_.end(), +1.0, false, factor, sums.weight_below, sums.sum_below);
        sweep(order_.rbegin(), order_.rend(), -1.0, true, factor, sums.weight_above, sums.sum_above);
    }

  private:
    double weight_of(std::size_t row) const {
        return pairs_.document_weights.empty() ? 1.0 : pairs_.document_weights[row];
    }

    template <typename Iterator>
    void sweep(Iterator begin, Iterator end, double direction, bool upwards, double factor, std::span<double> weights,
               std::span<double> sums) {
        levels_.reset(n_levels_);
        const bool weighted = !pairs_.level_weights.empty();
        Iterator entering = begin;
        for (Iterator at = begin; at != end; ++at) {
            const std::size_t row = *at;
            for (; entering != end && direction * (scores_[row] - scores_[*entering]) < margin; ++entering) {
                const auto level = static_cast<std::size_t>(pairs_.levels[*entering]);
                const double weight = weight_of(*entering), value = values_[*entering];
                if (weighted) {
                    levels_.add_to_level(level, weight, value);
                } else {
                    levels_.add_to_tree(upwards ? n_levels_ - 1 - level : level, weight, value);
                }
            }
            const auto own = static_cast<std::size_t>(pairs_.levels[row]);
            const Sum found =
                weighted ? partners(own, upwards) : levels_.tree_below(upwards ? n_levels_ - 1 - own : own);
            const double scale = factor * weight_of(row);
            weights[row] = scale * found.weight;
            sums[row] = scale * found.value;
        }
    }

    Sum partners(std::size_t own, bool upwards) const {
        Sum sum;
        const std::size_t first = upwards ? own + 1 : 0, last = upwards ? n_levels_ : own;
        for (std::size_t other = first; other < last; ++other) {
            const std::size_t better = upwards ? other : own, worse = upwards ? own : other;
            const double weight = pairs_.level_weights[better * pairs_.n_levels + worse];
            sum.weight += weight * levels_.of_level(other).weight;
            sum.value += weight * levels_.of_level(other).value;
        }
        return sum;
    }

    const MarginPairs &pairs_;
    std::span<const double> scores_, values_;
    std::vector<std::size_t> order_;
    LevelSums levels_;
    std::size_t n_levels_ = 1;
};

} // namespace

void pair_margins(const MarginPairs &pairs, std::span<const double> scores, std::span<const double> values,
                  const PairSums &sums, int threads) {
    parallel_for(pairs.offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        Query query(pairs, scores, values);
        for (std::size_t q = first; q < last; ++q) {
            query.sum(static_cast<std::size_t>(pairs.offsets[q]), static_cast<std::size_t>(pairs.offsets[q + 1]),
                      pairs.query_factors[q], sums);
        }
    });
}

} // namespace rankwright
