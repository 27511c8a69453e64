#include "core/metrics/bootstrap.hpp"

#include <algorithm>
#include <array>
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

// Resamples whose signs are drawn side by side. Each is summed in the order it would be alone, and none waits for
// another.
constexpr std::size_t lanes = 8;
constexpr std::size_t resamples_at_a_time = 2 * lanes;
constexpr std::size_t signs_a_word = 64;

template <std::size_t n_lanes>
void fill_sign_sums(std::span<const double> values, std::uint64_t seed, std::size_t first, std::span<double> sums) {
    std::array<std::uint64_t, n_lanes> state{}, signs{};
    std::array<double, n_lanes> sum{};
    for (std::size_t lane = 0; lane < n_lanes; ++lane) state[lane] = first_state(seed, first + lane);
    for (std::size_t start = 0; start < values.size(); start += signs_a_word) {
        for (std::size_t lane = 0; lane < n_lanes; ++lane) signs[lane] = mixed(state[lane] += golden);
        const std::size_t stop = std::min(start + signs_a_word, values.size());
        for (std::size_t i = start; i < stop; ++i) {
            const auto bits = std::bit_cast<std::uint64_t>(values[i]);
            for (std::size_t lane = 0; lane < n_lanes; ++lane) {
                sum[lane] += std::bit_cast<double>(bits ^ (signs[lane] << 63)); // the lowest bit left is the sign
                signs[lane] >>= 1;
            }
        }
    }
    for (std::size_t lane = 0; lane < n_lanes; ++lane) sums[first + lane] = sum[lane];
}

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
    parallel_for(sums.size(), threads, resamples_at_a_time, [&](std::size_t first, std::size_t last) {
        for (; first + lanes <= last; first += lanes) fill_sign_sums<lanes>(values, seed, first, sums);
        for (; first < last; ++first) fill_sign_sums<1>(values, seed, first, sums);
    });
}

} // namespace rankwright
