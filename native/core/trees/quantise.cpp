#include "core/trees/quantise.hpp"

#include <algorithm>
#include <cmath>

#include "core/common/counter_random.hpp"
#include "core/common/parallel.hpp"
#include "core/trees/packing.hpp"

namespace rankwright {

namespace {

// Half of a random number, as a number in [0, 1).
double part_of_one(std::uint64_t bits32) { return static_cast<double>(static_cast<std::int64_t>(bits32)) * 0x1p-32; }

} // namespace

void quantise_lambdas(std::span<const float> gradient, std::span<const float> curvature, double gradient_scale,
                      double curvature_scale, std::uint64_t seed, std::span<const std::uint32_t> numbers,
                      std::span<std::int32_t> quantised, int threads) {
    constexpr std::size_t rows_at_a_time = 1 << 15;
    parallel_for(gradient.size(), threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            const std::uint64_t random = stream_of(seed, numbers.empty() ? row : numbers[row]);
            const double g =
                std::floor(static_cast<double>(gradient[row]) * gradient_scale + part_of_one(random >> 32));
            const double h =
                std::floor(static_cast<double>(curvature[row]) * curvature_scale + part_of_one(random & 0xFFFFFFFFu));
            const auto whole_g = static_cast<std::int32_t>(std::clamp<double>(g, -gradient_limit, gradient_limit));
            const auto whole_h = static_cast<std::int32_t>(std::clamp<double>(h, 0.0, curvature_limit));
            quantised[row] = whole_g * (1 << curvature_bits) + whole_h;
        }
    });
}

} // namespace rankwright
