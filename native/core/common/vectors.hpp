// Vectors of numbers that the compiler maps to the processor's registers: GCC's and Clang's vector extension.
#pragma once

#include <cstddef>
#include <cstring>

#include "core/common/elementary.hpp"

namespace rankwright {

template <typename Real, std::size_t bytes> struct VectorOf {
    using Bits = typename Elementary<Real>::Bits;
    typedef Real Type __attribute__((vector_size(bytes)));
    typedef Bits BitsType __attribute__((vector_size(bytes)));
};

// `Pack<float, 32>` is eight floats.
template <typename Real, std::size_t bytes> using Pack = typename VectorOf<Real, bytes>::Type;

template <> struct Shape<Pack<float, 16>> {
    using Real = float;
    using Bits = VectorOf<float, 16>::BitsType;
};
template <> struct Shape<Pack<float, 32>> {
    using Real = float;
    using Bits = VectorOf<float, 32>::BitsType;
};
template <> struct Shape<Pack<float, 64>> {
    using Real = float;
    using Bits = VectorOf<float, 64>::BitsType;
};
template <> struct Shape<Pack<double, 16>> {
    using Real = double;
    using Bits = VectorOf<double, 16>::BitsType;
};
template <> struct Shape<Pack<double, 32>> {
    using Real = double;
    using Bits = VectorOf<double, 32>::BitsType;
};
template <> struct Shape<Pack<double, 64>> {
    using Real = double;
    using Bits = VectorOf<double, 64>::BitsType;
};

template <typename V> [[gnu::always_inline]] inline V load(const RealOf<V> *from) {
    V values;
    std::memcpy(&values, from, sizeof(V));
    return values;
}

template <typename V> [[gnu::always_inline]] inline void store(RealOf<V> *to, V values) {
    std::memcpy(to, &values, sizeof(V));
}

template <typename V> [[gnu::always_inline]] inline V absolute(V values) {
    using Bits = typename Elementary<RealOf<V>>::Bits;
    constexpr Bits all_but_sign = static_cast<Bits>(~std::uint64_t{0} >> (65 - 8 * sizeof(Bits)));
    return same_bits<V>(same_bits<BitsOf<V>>(values) & all_but_sign);
}

// `values` where the mask is set (all bits one), 0 elsewhere.
template <typename V> [[gnu::always_inline]] inline V where(BitsOf<V> mask, V values) {
    return same_bits<V>(mask & same_bits<BitsOf<V>>(values));
}

} // namespace rankwright
