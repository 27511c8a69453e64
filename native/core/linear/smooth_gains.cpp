#include "core/linear/smooth_gains.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/common/elementary.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 4;

class Query {
  public:
    Query(std::span<const double> scores, std::span<const double> gains, std::span<const double> discounts,
          double sigma)
        : scores_(scores), gains_(gains), discounts_(discounts), sigma_(sigma) {}

    double solve(std::size_t first, std::size_t last, double factor, std::span<double> gradient) {
        const std::size_t n = last - first;
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), first);
        const std::size_t n_ranks = std::min(n, discounts_.size());
        std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(n_ranks), order_.end(),
                          [&](std::size_t a, std::size_t b) {
                              return scores_[a] > scores_[b] || (scores_[a] == scores_[b] && a < b);
                          });
        std::fill(gradient.begin() + static_cast<std::ptrdiff_t>(first),
                  gradient.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
        shares_.resize(n);
        double value = 0.0;
        for (std::size_t rank = 0; rank < n_ranks; ++rank) {
            value += discounts_[rank] * at_rank(first, last, order_[rank], factor * discounts_[rank], gradient);
        }
        return factor * value;
    }

  private:
    // The mean gain at the rank of `holder`; adds `factor` times its derivatives.
    double at_rank(std::size_t first, std::size_t last, std::size_t holder, double factor, std::span<double> gradient) {
        const double centre = scores_[holder];
        double total = 0.0, gain = 0.0;
        for (std::size_t row = first; row < last; ++row) {
            const double gap = scores_[row] - centre;
            const double share = exp_minus<double>(gap * gap / sigma_);
            shares_[row - first] = share;
            total += share; // at least 1: the holder's own
            gain += share * gains_[row];
        }
        const double mean = gain / total;
        double pull = 0.0;
        for (std::size_t row = first; row < last; ++row) {
            const double slope = -2.0 * (scores_[row] - centre) / sigma_;
            const double change = factor * shares_[row - first] / total * (gains_[row] - mean) * slope;
            gradient[row] += change;
            pull += change;
        }
        gradient[holder] -= pull;
        return mean;
    }

    std::span<const double> scores_, gains_, discounts_;
    double sigma_;
    std::vector<std::size_t> order_;
    std::vector<double> shares_;
};

} // namespace

void smooth_gains(std::span<const double> scores, std::span<const std::int64_t> offsets, std::span<const double> gains,
                  std::span<const double> discounts, std::span<const double> query_factors, double sigma,
                  std::span<double> gradient, std::span<double> value, int threads) {
    parallel_for(offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        Query query(scores, gains, discounts, sigma);
        for (std::size_t q = first; q < last; ++q) {
            value[q] = query.solve(static_cast<std::size_t>(offsets[q]), static_cast<std::size_t>(offsets[q + 1]),
                                   query_factors[q], gradient);
        }
    });
}

} // namespace rankwright
