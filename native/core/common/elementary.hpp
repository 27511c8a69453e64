// Our own exponential, logarithm and hyperbolic tangent, so that bits depend neither on the C library nor on the width
// of the processor's vectors. Each works on one number and on a vector of numbers alike (GCC's and Clang's vector
// extension), and does the same operations in the same order in both: that is what makes every code path give the same
// bits.
//
// Relative error, checked in native/tests/common/elementary_test.cpp: 2 units in the last place for exp_minus,
// 4 for log1p_exp_minus, in float and in double. Absolute error of tanh_of: 2 such units of 1.
#pragma once

#include <cstdint>
#include <type_traits>

namespace rankwright {

// std::bit_cast that is inlined even without optimisation: a vector cannot be passed to a function that was compiled
// for another processor.
template <typename To, typename From> [[gnu::always_inline]] constexpr To same_bits(const From &from) {
    return __builtin_bit_cast(To, from);
}

template <typename Real> struct Elementary;

template <> struct Elementary<float> {
    using Bits = std::int32_t;
    static constexpr float largest_exponent = 87.0F;    // beyond it e^-x is no longer a normal number
    static constexpr float round_to_whole = 12582912.F; // 1.5 · 2^23: adding it leaves no room for a fraction
    static constexpr float log2_of_e = 1.44269504F;
    static constexpr float ln2_high = 0.693359375F;   // ln 2 in two parts, the first with few digits:
    static constexpr float ln2_low = -2.12194440e-4F; // its small multiples are exact
    static constexpr Bits exponent_bias = 127, mantissa_bits = 23;
    static constexpr int exp_degree = 7, atanh_terms = 8;
};

template <> struct Elementary<double> {
    using Bits = std::int64_t;
    static constexpr double largest_exponent = 708.0;
    static constexpr double round_to_whole = 6755399441055744.0; // 1.5 · 2^52
    static constexpr double log2_of_e = 1.4426950408889634;
    static constexpr double ln2_high = 6.93147180369123816490e-01;
    static constexpr double ln2_low = 1.90821492927058770002e-10;
    static constexpr Bits exponent_bias = 1023, mantissa_bits = 52;
    static constexpr int exp_degree = 13, atanh_terms = 17;
};

// The element type of a number or a vector of numbers V, and the integers of the same shape.
template <typename V> struct Shape {
    using Real = V;
    using Bits = typename Elementary<V>::Bits;
};

template <typename V> using RealOf = typename Shape<V>::Real;
template <typename V> using BitsOf = typename Shape<V>::Bits;

template <typename Real> constexpr Real one_over_factorial(int n) {
    double value = 1.0;
    for (int i = 2; i <= n; ++i) value /= i;
    return static_cast<Real>(value);
}

// The Taylor series of e^r from term n on, divided by r^n.
template <int n, typename V> [[gnu::always_inline]] inline V exp_series(V r) {
    using Real = RealOf<V>;
    if constexpr (n + 1 == Elementary<Real>::exp_degree) {
        return one_over_factorial<Real>(n) + r * one_over_factorial<Real>(n + 1);
    } else {
        return one_over_factorial<Real>(n) + r * exp_series<n + 1>(r);
    }
}

// e^-x for x ≥ 0; where it would be too small for a normal number, the smallest e^-x that is one.
template <typename V> [[gnu::always_inline]] inline V exp_minus(V x) {
    using Real = RealOf<V>;
    using E = Elementary<Real>;
    const V clamped = x < E::largest_exponent ? x : V{} + E::largest_exponent;
    const V shifted = E::round_to_whole - clamped * E::log2_of_e;
    const V whole = shifted - E::round_to_whole; // e^-x = 2^whole · e^rest with |rest| ≤ ln 2 / 2
    const V rest = (-clamped - whole * E::ln2_high) - whole * E::ln2_low;
    const auto exponent = same_bits<BitsOf<V>>(shifted) - same_bits<typename E::Bits>(E::round_to_whole);
    const BitsOf<V> power = (exponent + E::exponent_bias) << E::mantissa_bits;
    return exp_series<0>(rest) * same_bits<V>(power);
}

// tanh x = (1 - e^-2x) / (1 + e^-2x) for x ≥ 0; for negative x the result of -x with its sign turned.
template <typename V> [[gnu::always_inline]] inline V tanh_of(V x) {
    using Real = RealOf<V>;
    using Bits = typename Elementary<Real>::Bits;
    constexpr Bits sign_bit = same_bits<Bits>(Real(-0.0));
    const BitsOf<V> bits = same_bits<BitsOf<V>>(x);
    const BitsOf<V> sign = bits & sign_bit;
    const V size = same_bits<V>(bits ^ sign);
    const V e = exp_minus<V>(size + size);
    const V ratio = (Real(1) - e) / (Real(1) + e);
    return same_bits<V>(same_bits<BitsOf<V>>(ratio) | sign);
}

template <int k, typename V> [[gnu::always_inline]] inline V atanh_series(V squared) {
    using Real = RealOf<V>;
    constexpr Real coefficient = Real(1) / Real(2 * k + 1);
    if constexpr (k + 1 == Elementary<Real>::atanh_terms) {
        return V{} + coefficient;
    } else {
        return coefficient + squared * atanh_series<k + 1>(squared);
    }
}

// log(1 + e) for e in (0, 1]: log(1 + e) = 2 atanh(e / (2 + e)), and that argument is at most 1/3.
template <typename V> [[gnu::always_inline]] inline V log_one_plus(V e) {
    using Real = RealOf<V>;
    const V t = e / (Real(2) + e);
    return (t + t) * atanh_series<0>(t * t);
}

// Whole numbers as Real numbers of the same shape.
template <typename V> [[gnu::always_inline]] inline V converted(BitsOf<V> whole) {
    if constexpr (std::is_arithmetic_v<V>) {
        return static_cast<V>(whole);
    } else {
        return __builtin_convertvector(whole, V);
    }
}

// The natural logarithm of x ≥ 1.
template <typename V> [[gnu::always_inline]] inline V log_of(V x) {
    using Real = RealOf<V>;
    using E = Elementary<Real>;
    const auto bits = same_bits<BitsOf<V>>(x);
    const BitsOf<V> exponent = (bits >> E::mantissa_bits) - E::exponent_bias;
    const V mantissa = same_bits<V>(bits - (exponent << E::mantissa_bits)); // from 1 up to 2
    const V whole = converted<V>(exponent);
    return whole * E::ln2_high + (whole * E::ln2_low + log_one_plus<V>(mantissa - Real(1)));
}

} // namespace rankwright
