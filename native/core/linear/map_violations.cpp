#include "core/linear/map_violations.hpp"

#include <algorithm>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 8;

class Query {
  public:
    Query(std::span<const double> scores, std::span<const std::uint8_t> relevant)
        : scores_(scores), relevant_(relevant) {}

    // Documents of either kind stay in the order of their scores; each irrelevant one goes above some of the relevant
    // ones, chosen for it alone, because what it adds does not depend on where the others go.
    double solve(std::size_t first, std::size_t last, std::span<double> coefficients) {
        split(first, last);
        std::fill(coefficients.begin() + static_cast<std::ptrdiff_t>(first),
                  coefficients.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
        const std::size_t n_good = good_.size(), n_bad = bad_.size();
        if (n_good == 0 || n_bad == 0) return 0.0;
        const double per_pair = 2.0 / (static_cast<double>(n_good) * static_cast<double>(n_bad));
        above_.assign(n_good, 0); // irrelevant documents above each relevant one
        for (std::size_t j = 0; j < n_bad; ++j) {
            const std::size_t n_below = best_place(j, per_pair);
            coefficients[bad_[j]] = -per_pair * static_cast<double>(n_below);
            for (std::size_t i = n_good - n_below; i < n_good; ++i) ++above_[i];
        }
        double precision = 0.0;
        for (std::size_t i = 0; i < n_good; ++i) {
            coefficients[good_[i]] = per_pair * static_cast<double>(above_[i]);
            precision += static_cast<double>(i + 1) / static_cast<double>(i + 1 + above_[i]);
        }
        return 1.0 - precision / static_cast<double>(n_good);
    }

  private:
    void split(std::size_t first, std::size_t last) {
        good_.clear();
        bad_.clear();
        for (std::size_t row = first; row < last; ++row) (relevant_[row] != 0 ? good_ : bad_).push_back(row);
        const auto higher = [&](std::size_t a, std::size_t b) {
            return scores_[a] > scores_[b] || (scores_[a] == scores_[b] && a < b);
        };
        std::ranges::sort(good_, higher);
        std::ranges::sort(bad_, higher);
    }

    // How many relevant documents irrelevant document number j should rank above. Above relevant number i (both from 0)
    // it is the (j + 1)th irrelevant one there, which costs that document precision and wins the scores' difference.
    std::size_t best_place(std::size_t j, double per_pair) const {
        const std::size_t n_good = good_.size();
        double gain = 0.0, best = 0.0;
        std::size_t chosen = 0;
        for (std::size_t n_below = 1; n_below <= n_good; ++n_below) {
            const std::size_t i = n_good - n_below;
            const auto rank = static_cast<double>(i + 1), worse = static_cast<double>(j);
            const double lost = rank / (rank + worse) - rank / (rank + worse + 1.0);
            gain += lost / static_cast<double>(n_good) - per_pair * (scores_[good_[i]] - scores_[bad_[j]]);
            if (gain > best) {
                best = gain;
                chosen = n_below;
            }
        }
        return chosen;
    }

    std::span<const double> scores_;
    std::span<const std::uint8_t> relevant_;
    std::vector<std::size_t> good_, bad_, above_;
};

} // namespace

void map_violations(std::span<const double> scores, std::span<const std::int64_t> offsets,
                    std::span<const std::uint8_t> relevant, std::span<double> coefficients, std::span<double> loss,
                    int threads) {
    parallel_for(offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        Query query(scores, relevant);
        for (std::size_t q = first; q < last; ++q) {
            loss[q] = query.solve(static_cast<std::size_t>(offsets[q]), static_cast<std::size_t>(offsets[q + 1]),
                                  coefficients);
        }
    });
}

} // namespace rankwright
