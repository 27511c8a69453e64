// The force on a pair of documents: the losses of a score gap x = s_a - s_b with target probability p that a ranks
// above b.
//
// With φ the loss of "a above b", the cost is p φ(x) + (1 - p) φ(-x), `force` its derivative by s_a (by s_b it is the
// opposite) and `curvature` its second derivative by either. Where φ is a straight slope its curvature is set to 1,
// the length of the force: a Newton step is then the mean force, where the true 0 would allow no step at all.
#pragma once

#include "core/common/vectors.hpp"

namespace rankwright {

enum class PairLoss { logistic, hinge, spring };

template <typename V> struct PairForce {
    V force, curvature, cost;
};

// φ(x) = log(1 + e^-σx): RankNet's cross entropy, Burges et al. 2005, Eq. 3.
template <typename Real> struct LogisticLoss {
    Real sigma;

    template <bool with_cost, typename V> [[gnu::always_inline]] PairForce<V> operator()(V x, V target) const {
        const V z = sigma * x;
        const V e = exp_minus(absolute(z));
        const V large = Real(1) / (Real(1) + e); // the logistic function at |z|
        const V small = e * large;               // and at -|z|, with all its digits
        const V a_above = z < Real(0) ? small : large;
        const V b_above = z < Real(0) ? large : small;
        PairForce<V> pair{};
        pair.force = sigma * ((Real(1) - target) * a_above - target * b_above);
        pair.curvature = sigma * sigma * (large * small);
        if constexpr (with_cost) {
            const V wrong_way = z < Real(0) ? target : Real(1) - target;
            pair.cost = log_one_plus(e) + wrong_way * absolute(z);
        }
        return pair;
    }
};

// The same from e^-σx, which is a product of one number for each document: no exponential for each pair. Both numbers
// must be normal floats, so it is for queries whose σ · scores lie within `widest_odds_span` of each other.
inline constexpr double widest_odds_span = 80.0;

template <typename Real> struct NearLogisticLoss {
    Real sigma;

    template <bool with_cost, typename V> [[gnu::always_inline]] PairForce<V> operator()(V e, V x, V target) const {
        const V a_above = Real(1) / (Real(1) + e);
        const V b_above = e * a_above;
        PairForce<V> pair{};
        pair.force = sigma * ((Real(1) - target) * a_above - target * b_above);
        pair.curvature = sigma * sigma * (a_above * b_above);
        if constexpr (with_cost) pair.cost = log_of<V>(Real(1) + e) + (Real(1) - target) * (sigma * x);
        return pair;
    }
};

// φ(x) = max(0, margin - x).
template <typename Real> struct HingeLoss {
    Real margin;

    template <bool with_cost, typename V> [[gnu::always_inline]] PairForce<V> operator()(V x, V target) const {
        const V up = where<V>(x < margin, target);
        const V down = where<V>(-x < margin, Real(1) - target);
        PairForce<V> pair{down - up, down + up, V{}};
        if constexpr (with_cost) pair.cost = up * (margin - x) + down * (margin + x);
        return pair;
    }
};

// Burges 2005, Eq. 4-9: a constant push while the pair stands wrong, then a spring until the margin is reached.
template <typename Real> struct SpringLoss {
    Real margin;

    template <typename V> [[gnu::always_inline]] V push(V x) const {
        return where<V>(x <= margin, x < Real(0) ? V{} + Real(1) : margin - x);
    }

    template <typename V> [[gnu::always_inline]] V height(V x) const {
        const V within = Real(0.5) * x * x - margin * x;
        const V beyond = V{} + Real(-0.5) * margin * margin;
        return x < Real(0) ? -x : (x <= margin ? within : beyond);
    }

    template <bool with_cost, typename V> [[gnu::always_inline]] PairForce<V> operator()(V x, V target) const {
        const V other = Real(1) - target;
        PairForce<V> pair{other * push(-x) - target * push(x), V{}, V{}};
        pair.curvature = where<V>(x <= margin, target) + where<V>(-x <= margin, other);
        if constexpr (with_cost) pair.cost = target * height(x) + other * height(-x);
        return pair;
    }
};

} // namespace rankwright
