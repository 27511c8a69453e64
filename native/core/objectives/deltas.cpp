#include "core/objectives/deltas.hpp"

#include <algorithm>

namespace rankwright {

namespace {

double at(std::span<const double> discount, std::size_t rank) { return rank < discount.size() ? discount[rank] : 0.0; }

// DCG, NDCG and P@k: a document of worth w at rank r counts w · discount[r].
template <typename Real>
void discounted_gain(std::span<const Real> worth, std::span<const double> discount, const SwapArrays<Real> &arrays) {
    const std::size_t within = std::min(worth.size(), discount.size());
    for (std::size_t rank = 0; rank < within; ++rank) arrays.above[rank] = static_cast<Real>(discount[rank]);
    std::fill(arrays.above.begin() + within, arrays.above.end(), Real(0));
    std::copy(arrays.above.begin(), arrays.above.end(), arrays.below.begin());
}

// Average precision: the sum over relevant ranks r of (relevant documents up to r) · discount[r]. With R that count and
// H the sum of discounts of relevant ranks so far, moving a relevant document from i down to j loses R[i] discount[i],
// one document's worth of discount at every relevant rank in between, and gains R[j] discount[j]; upwards alike.
template <typename Real>
void average_precision(std::span<const Real> worth, std::span<const double> discount, const SwapArrays<Real> &arrays) {
    // Only differences of H matter: counted from its end it is small where they are, and floats keep their digits.
    double relevant_so_far = 0.0, discounts_so_far = 0.0;
    for (std::size_t rank = 0; rank < worth.size(); ++rank)
        discounts_so_far -= worth[rank] > 0 ? at(discount, rank) : 0.0;
    for (std::size_t rank = 0; rank < worth.size(); ++rank) {
        const double own = at(discount, rank);
        const double relevant = worth[rank] > 0 ? 1.0 : 0.0;
        relevant_so_far += relevant;
        discounts_so_far += relevant * own;
        arrays.above[rank] = static_cast<Real>((relevant_so_far + 1.0 - relevant) * own - discounts_so_far);
        arrays.below[rank] = static_cast<Real>((relevant_so_far + relevant) * own - discounts_so_far);
    }
}

// Reciprocal rank: discount[f], f the first relevant rank. Only two swaps matter: a relevant document that moves
// above f, and the document at f that moves down, to j or to the second relevant rank, whichever is higher.
template <typename Real>
void reciprocal_rank(std::span<const Real> worth, std::span<const double> discount, const SwapArrays<Real> &arrays) {
    const auto is_relevant = [](Real value) { return value > 0; };
    const auto first = std::find_if(worth.begin(), worth.end(), is_relevant);
    const auto second = first == worth.end() ? first : std::find_if(first + 1, worth.end(), is_relevant);
    const std::size_t first_rank = first - worth.begin();
    const double best = at(discount, first_rank);
    const double next = second == worth.end() ? 0.0 : at(discount, second - worth.begin());
    for (std::size_t rank = 0; rank < worth.size(); ++rank) {
        const double own = at(discount, rank);
        const bool relevant = is_relevant(worth[rank]);
        const double as_relevant = rank == first_rank ? best : next;
        arrays.above[rank] = static_cast<Real>(relevant ? as_relevant : std::max(own, best));
        arrays.below[rank] = static_cast<Real>(relevant ? best : std::max(own, next));
    }
}

// Expected reciprocal rank: the sum over ranks r of discount[r] · worth[r] · reach[r], where worth is the chance that
// the user stops there and reach[r] the product of (1 - worth) above. A swap changes reach between i and j by a factor.
template <typename Real>
void expected_reciprocal_rank(std::span<const Real> worth, std::span<const double> discount,
                              const SwapArrays<Real> &arrays) {
    double reach = 1.0;
    for (std::size_t rank = 0; rank < worth.size(); ++rank) {
        arrays.below[rank] = static_cast<Real>(reach * at(discount, rank));
        arrays.scale[rank] = static_cast<Real>(1.0 / (1.0 - double(worth[rank])));
        reach *= 1.0 - double(worth[rank]);
    }
    // Only differences of sums matter: counted from the end they are small where those are, and floats keep their
    // digits.
    double terms_below = 0.0;
    for (std::size_t rank = worth.size(); rank-- > 0;) {
        const double stop = worth[rank], own = arrays.below[rank];
        arrays.above[rank] = static_cast<Real>(own * (1.0 - stop) - terms_below);
        terms_below += own * stop;
        arrays.below[rank] = static_cast<Real>(own - terms_below);
    }
}

} // namespace

template <typename Real>
void fill_swap_arrays(Delta delta, std::span<const Real> worth, std::span<const double> discount,
                      const SwapArrays<Real> &arrays) {
    std::fill(arrays.scale.begin(), arrays.scale.end(), Real(1));
    switch (delta) {
    case Delta::constant:
        break;
    case Delta::discounted_gain:
        return discounted_gain(worth, discount, arrays);
    case Delta::average_precision:
        return average_precision(worth, discount, arrays);
    case Delta::reciprocal_rank:
        return reciprocal_rank(worth, discount, arrays);
    case Delta::expected_reciprocal_rank:
        return expected_reciprocal_rank(worth, discount, arrays);
    }
}

template void fill_swap_arrays<float>(Delta, std::span<const float>, std::span<const double>,
                                      const SwapArrays<float> &);
template void fill_swap_arrays<double>(Delta, std::span<const double>, std::span<const double>,
                                       const SwapArrays<double> &);

} // namespace rankwright
