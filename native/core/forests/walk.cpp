#include "core/forests/walk.hpp"

#include <algorithm>
#include <cstring>

namespace rankwright {

namespace {

using Nodes = std::span<const ForestNode>;

template <typename Lane> const Lane *column_of(const ForestNode &node, const Block<Lane> &block) {
    return block.lanes + node.column[block.sided] * block.width();
}

// One tree for one register's worth of documents, on vectors of any size the processor has.
template <typename Lane, std::size_t vector_bytes, bool by_bits> struct WalkOneRegister {
    using Vector [[gnu::vector_size(vector_bytes)]] = Lane;
    static constexpr std::size_t n_vectors = register_bytes / vector_bytes,
                                 lanes_per_vector = vector_bytes / sizeof(Lane);

    [[gnu::always_inline]] static void run(const Nodes *nodes, const Block<Lane> *block, std::size_t offset,
                                           Lane *leaves) {
        Vector at[n_vectors] = {};
        for (const ForestNode &node : *nodes) {
            const Lane *column = column_of(node, *block) + offset;
            [[maybe_unused]] const Vector first = Vector{} + static_cast<Lane>(node.first);
            const Vector code = Vector{} + static_cast<Lane>(node.code);
            const Vector right = Vector{} + static_cast<Lane>(node.right);
#pragma GCC unroll 4
            for (std::size_t part = 0; part < n_vectors; ++part) {
                Vector lanes;
                std::memcpy(&lanes, column + part * lanes_per_vector, vector_bytes);
                if constexpr (by_bits) {
                    at[part] |= lanes > code ? right : Vector{};
                } else {
                    const auto goes_right = (at[part] == first) & (lanes > code);
                    at[part] = goes_right ? right : at[part];
                }
            }
        }
        std::memcpy(leaves, at, register_bytes);
    }
};

template <typename Lane, bool by_bits>
void walk_by_register(const Nodes *trees, const Block<Lane> &block, Lane *leaves, [[maybe_unused]] Simd simd) {
    for (std::size_t tree = 0; tree < block.trees_at_once(); ++tree) {
        for (std::size_t offset = 0; offset < block.width(); offset += lanes_per_register<Lane>) {
            Lane *out = leaves + tree * block.width() + offset;
#ifdef RANKWRIGHT_X86
            if (simd != Simd::baseline) {
                compiled_for::avx2<WalkOneRegister<Lane, 32, by_bits>>(trees + tree, &block, offset, out);
                continue;
            }
#endif
            WalkOneRegister<Lane, 16, by_bits>::run(trees + tree, &block, offset, out);
        }
    }
}

struct AddValues {
    template <typename Lane>
    [[gnu::always_inline]] static void run(const float *values, const Lane *leaves, std::size_t count, double *scores) {
        for (std::size_t i = 0; i < count; ++i) scores[i] += static_cast<double>(values[leaves[i]]);
    }
};

#ifdef RANKWRIGHT_X86

#define RANKWRIGHT_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl")

// The instructions that differ between the two sizes of lanes.
struct ByteLanes {
    using Lane = std::uint8_t;
    [[RANKWRIGHT_AVX512, gnu::always_inline]] static __m512i move(__m512i at, __m512i first, __m512i lanes,
                                                                  __m512i code, __m512i right) {
        const __mmask64 here = _mm512_cmpeq_epu8_mask(at, first);
        return _mm512_mask_mov_epi8(at, _mm512_mask_cmpgt_epu8_mask(here, lanes, code), right);
    }
    [[RANKWRIGHT_AVX512, gnu::always_inline]] static __m512i add_bit(__m512i at, __m512i lanes, __m512i code,
                                                                     __m512i bit) {
        return _mm512_mask_add_epi8(at, _mm512_cmpgt_epu8_mask(lanes, code), at, bit);
    }
    [[RANKWRIGHT_AVX512, gnu::always_inline]] static __m512i sixteen_leaves(const Lane *leaves) {
        return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i *>(leaves)));
    }
};
struct HalfLanes {
    using Lane = std::uint16_t;
    [[RANKWRIGHT_AVX512, gnu::always_inline]] static __m512i move(__m512i at, __m512i first, __m512i lanes,
                                                                  __m512i code, __m512i right) {
        const __mmask32 here = _mm512_cmpeq_epu16_mask(at, first);
        return _mm512_mask_mov_epi16(at, _mm512_mask_cmpgt_epu16_mask(here, lanes, code), right);
    }
    [[RANKWRIGHT_AVX512, gnu::always_inline]] static __m512i add_bit(__m512i at, __m512i lanes, __m512i code,
                                                                     __m512i bit) {
        return _mm512_mask_add_epi16(at, _mm512_cmpgt_epu16_mask(lanes, code), at, bit);
    }
    [[RANKWRIGHT_AVX512, gnu::always_inline]] static __m512i sixteen_leaves(const Lane *leaves) {
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(leaves)));
    }
};

// Moves those documents of a block on that have reached a node.
template <typename Lanes, bool by_bits, std::size_t n_registers>
[[RANKWRIGHT_AVX512, gnu::always_inline]] inline void visit(const ForestNode &node,
                                                            const Block<typename Lanes::Lane> &block, __m512i *at) {
    const auto *column = column_of(node, block);
    [[maybe_unused]] const __m512i first = _mm512_set1_epi32(static_cast<int>(node.first));
    const __m512i code = _mm512_set1_epi32(static_cast<int>(node.code));
    const __m512i right = _mm512_set1_epi32(static_cast<int>(node.right));
#pragma GCC unroll 4
    for (std::size_t part = 0; part < n_registers; ++part) {
        const __m512i lanes = _mm512_loadu_si512(column + part * lanes_per_register<typename Lanes::Lane>);
        if constexpr (by_bits) {
            at[part] = Lanes::add_bit(at[part], lanes, code, right);
        } else {
            at[part] = Lanes::move(at[part], first, lanes, code, right);
        }
    }
}

template <typename Lanes, bool by_bits, std::size_t n_registers>
[[RANKWRIGHT_AVX512]] void walk_avx512(const Nodes *trees, const Block<typename Lanes::Lane> &block,
                                       typename Lanes::Lane *leaves) {
    constexpr std::size_t n_trees = registers_at_once / n_registers;
    const Block<typename Lanes::Lane> known{block.lanes, n_registers, block.sided}; // its width, at compile time
    __m512i at[n_trees * n_registers];
    for (__m512i &documents : at) documents = _mm512_setzero_si512();
    std::size_t common = trees[0].size();
    for (std::size_t tree = 1; tree < n_trees; ++tree) common = std::min(common, trees[tree].size());
    for (std::size_t number = 0; number < common; ++number) {
#pragma GCC unroll 8
        for (std::size_t tree = 0; tree < n_trees; ++tree) {
            visit<Lanes, by_bits, n_registers>(trees[tree].data()[number], known, at + tree * n_registers);
        }
    }
#pragma GCC unroll 8
    for (std::size_t tree = 0; tree < n_trees; ++tree) {
        for (std::size_t number = common; number < trees[tree].size(); ++number) {
            visit<Lanes, by_bits, n_registers>(trees[tree].data()[number], known, at + tree * n_registers);
        }
    }
#pragma GCC unroll 8
    for (std::size_t i = 0; i < n_trees * n_registers; ++i) {
        _mm512_storeu_si512(leaves + i * lanes_per_register<typename Lanes::Lane>, at[i]);
    }
}

// Values of up to 64 leaves fit four registers and are looked up there; more come from memory.
template <typename Lanes>
[[RANKWRIGHT_AVX512]] void add_values_avx512(std::span<const float> values, const typename Lanes::Lane *leaves,
                                             std::size_t count, double *scores) {
    const float *of = values.data();
    const __m512 table[] = {_mm512_loadu_ps(of), _mm512_loadu_ps(of + 16), _mm512_loadu_ps(of + 32),
                            _mm512_loadu_ps(of + 48)};
    for (std::size_t i = 0; i < count; i += 16) {
        const __m512i leaf = Lanes::sixteen_leaves(leaves + i);
        __m512 value = _mm512_permutex2var_ps(table[0], leaf, table[1]);
        if (values.size() > 64) {
            value = _mm512_i32gather_ps(leaf, of, 4);
        } else if (values.size() > 32) {
            const __mmask16 upper = _mm512_test_epi32_mask(leaf, _mm512_set1_epi32(32));
            value = _mm512_mask_mov_ps(value, upper, _mm512_permutex2var_ps(table[2], leaf, table[3]));
        }
        const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(value));
        const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(value, 1));
        _mm512_storeu_pd(scores + i, _mm512_add_pd(_mm512_loadu_pd(scores + i), low));
        _mm512_storeu_pd(scores + i + 8, _mm512_add_pd(_mm512_loadu_pd(scores + i + 8), high));
    }
}

template <typename Lane> using LanesOf = std::conditional_t<sizeof(Lane) == 1, ByteLanes, HalfLanes>;

#endif

template <typename Lane, bool by_bits>
void walk(const Nodes *trees, const Block<Lane> &block, Lane *leaves, [[maybe_unused]] Simd simd) {
#ifdef RANKWRIGHT_X86
    if (simd == Simd::avx512) {
        if (block.n_registers == 1) return walk_avx512<LanesOf<Lane>, by_bits, 1>(trees, block, leaves);
        if (block.n_registers == 2) return walk_avx512<LanesOf<Lane>, by_bits, 2>(trees, block, leaves);
        return walk_avx512<LanesOf<Lane>, by_bits, 4>(trees, block, leaves);
    }
#endif
    walk_by_register<Lane, by_bits>(trees, block, leaves, simd);
}

} // namespace

template <typename Lane>
void walk_trees(const Nodes *trees, bool by_bits, const Block<Lane> &block, Lane *leaves, Simd simd) {
    by_bits ? walk<Lane, true>(trees, block, leaves, simd) : walk<Lane, false>(trees, block, leaves, simd);
}

template <typename Lane>
void add_values(std::span<const float> values, const Lane *leaves, std::size_t count, double *scores,
                [[maybe_unused]] Simd simd) {
#ifdef RANKWRIGHT_X86
    if (simd == Simd::avx512) return add_values_avx512<LanesOf<Lane>>(values, leaves, count, scores);
#endif
    AddValues::run(values.data(), leaves, count, scores);
}

template void walk_trees(const Nodes *, bool, const Block<std::uint8_t> &, std::uint8_t *, Simd);
template void walk_trees(const Nodes *, bool, const Block<std::uint16_t> &, std::uint16_t *, Simd);
template void add_values(std::span<const float>, const std::uint8_t *, std::size_t, double *, Simd);
template void add_values(std::span<const float>, const std::uint16_t *, std::size_t, double *, Simd);

} // namespace rankwright
