// Which of a kernel's variants this processor can run. Variants of a kernel give the same bits.
#pragma once

#include <vector>

#if defined(__x86_64__)
#define RANKWRIGHT_X86 1
#if defined(__GNUC__) && !defined(__clang__) // GCC warns of its own header (its bug 105593)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif

namespace rankwright {

enum class Simd { baseline, avx2, avx512 };

// The best level of the processor. AVX-512 means what Ice Lake and Zen 4 have: F, BW, DQ, VL and VBMI. On Windows
// clang-cl does not link the library by which the compiler asks the processor: the baseline, x86-64-v2, has to do
// there.
inline Simd simd_level() {
#if defined(RANKWRIGHT_X86) && !defined(_MSC_VER)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi")) {
        return Simd::avx512;
    }
    if (__builtin_cpu_supports("avx2")) return Simd::avx2;
#endif
    return Simd::baseline;
}

// Every level the processor can run, for tests that compare them.
inline std::vector<Simd> simd_levels() {
    std::vector<Simd> levels{Simd::baseline};
    if (simd_level() >= Simd::avx2) levels.push_back(Simd::avx2);
    if (simd_level() >= Simd::avx512) levels.push_back(Simd::avx512);
    return levels;
}

// Runs Kernel::run, a plain loop that must be always_inline, compiled once for each level.
#ifdef RANKWRIGHT_X86
namespace compiled_for {
template <typename Kernel, typename... Arguments> [[gnu::target("avx2")]] void avx2(Arguments... arguments) {
    Kernel::run(arguments...);
}
template <typename Kernel, typename... Arguments>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void avx512(Arguments... arguments) {
    Kernel::run(arguments...);
}
} // namespace compiled_for
#endif

template <typename Kernel, typename... Arguments> void run_for([[maybe_unused]] Simd simd, Arguments... arguments) {
#ifdef RANKWRIGHT_X86
    if (simd == Simd::avx512) return compiled_for::avx512<Kernel>(arguments...);
    if (simd == Simd::avx2) return compiled_for::avx2<Kernel>(arguments...);
#endif
    Kernel::run(arguments...);
}

} // namespace rankwright
