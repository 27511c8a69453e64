#include "core/objectives/tied_blocks.hpp"

#include <algorithm>

namespace rankwright {

template <typename Real>
void TiedBlocks<Real>::average(std::span<const double> scores, std::size_t n_counted, const SwapArrays<Real> &arrays) {
    const std::size_t n = scores.size();
    end_.resize(n);
    difference_.resize(n);
    counted_.resize(n);
    n_reached_ = 0;
    for (std::size_t first = 0, last = 0; first < n; first = last) {
        while (last < n && scores[last] == scores[first]) ++last;
        average_block(first, last, std::clamp(n_counted, first, last) - first, arrays);
        if (first < n_counted) n_reached_ = last;
    }
}

// The first `n_counted` ranks of the block count.
template <typename Real>
void TiedBlocks<Real>::average_block(std::size_t first, std::size_t last, std::size_t n_counted,
                                     const SwapArrays<Real> &arrays) {
    const std::size_t size = last - first;
    double below = 0.0, counted_sum = 0.0, differences = 0.0; // `below`: of all discounts below the current rank
    for (std::size_t at = size; at-- > 0;) {
        const double own = arrays.above[first + at];
        if (at < n_counted) {
            differences += own * static_cast<double>(size - 1 - at) - below;
            counted_sum += own;
        }
        below += own;
    }
    const auto all = static_cast<double>(size), counted = static_cast<double>(n_counted);
    const double n_pairs = all * (all - 1.0) / 2.0, uncounted = (all - counted) * (all - counted - 1.0) / 2.0;
    const auto fill = [&](auto &values, double value) {
        std::fill(values.begin() + first, values.begin() + last, static_cast<Real>(value));
    };
    fill(difference_, size > 1 ? differences / n_pairs : 0.0);
    fill(counted_, size > 1 ? 1.0 - uncounted / n_pairs : 0.0);
    fill(arrays.above, n_counted > 0 ? counted_sum / counted : 0.0);
    fill(arrays.below, below / all);
    fill(arrays.scale, counted / all);
    std::fill(end_.begin() + first, end_.begin() + last, last);
}

template class TiedBlocks<float>;
template class TiedBlocks<double>;

} // namespace rankwright
