#include "core/metrics/bootstrap.hpp"

#include <bit>
#include <cstddef>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

// Steele, Lea and Flood's splitmix64: a counter and a mixing function, so that a resample can start anywhere.
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

std::uint64_t mixed(std::uint64_t state) {
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
    return state ^ (state >> 31);
}

std::uint64_t first_state(std::uint64_t seed, std::size_t resample) { return mixed(seed + golden * (resample + 1)); }

constexpr std::size_t resamples_at_a_time = 16;

} // namespace

void bootstrap_means(std::span<const double> values, std::span<const double> weights, std::uint64_t seed,
                     std::span<double> means, int threads) {
    const std::uint64_t n = values.size();
    parallel_for(means.size(), threads, resamples_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t resample = first; resample < last; ++resample) {
            std::uint64_t state = first_state(seed, resample);
            double sum = 0.0, weight = 0.0;
            for (std::uint64_t draw = 0; draw < n; ++draw) {
                state += golden;
                const std::size_t drawn = ((mixed(state) >> 32) * n) >> 32;
                sum += weights[drawn] * values[drawn];
                weight += weights[drawn];
            }
            means[resample] = sum / weight;
        }
    });
}

void random_sign_sums(std::span<const double> values, std::uint64_t seed, std::span<double> sums, int threads) {
    constexpr std::size_t signs_a_word = 64;
    parallel_for(sums.size(), threads, resamples_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t resample = first; resample < last; ++resample) {
            std::uint64_t state = first_state(seed, resample), signs = 0;
            double sum = 0.0;
            for (std::size_t i = 0; i < values.size(); ++i) {
                if (i % signs_a_word == 0) signs = mixed(state += golden);
                // The lowest bit left becomes the sign.
                const std::uint64_t sign = signs << 63;
                sum += std::bit_cast<double>(std::bit_cast<std::uint64_t>(values[i]) ^ sign);
                signs >>= 1;
            }
            sums[resample] = sum;
        }
    });
}

} // namespace rankwright
