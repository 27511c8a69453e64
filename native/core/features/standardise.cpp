#include "core/features/standardise.hpp"

#include <algorithm>
#include <vector>

#include "core/common/parallel.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

namespace {

constexpr std::size_t copied_at_a_time = 128; // rows: enough work for a thread to be worth waking
constexpr std::size_t summed_at_a_time = 4096;

struct StandardiseRow {
    [[gnu::always_inline]] static void run(const float *row, const float *shift, const float *factor, std::size_t n,
                                           float *out) {
        for (std::size_t feature = 0; feature < n; ++feature) {
            const float value = row[feature];
            out[feature] = value == value ? (value - shift[feature]) * factor[feature] : 0.0F;
        }
    }
};

struct AddMoments {
    [[gnu::always_inline]] static void run(const float *row, const double *centre, std::size_t n, double *count,
                                           double *total, double *squares) {
        for (std::size_t feature = 0; feature < n; ++feature) {
            const double value = row[feature];
            const double known = value == value ? 1.0 : 0.0;
            const double difference = value == value ? value - centre[feature] : 0.0;
            count[feature] += known;
            total[feature] += difference;
            squares[feature] += difference * difference;
        }
    }
};

} // namespace

void standardise_rows(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> rows,
                      std::span<const float> shift, std::span<const float> factor, std::span<float> out, int threads) {
    const Simd simd = simd_level();
    parallel_for(rows.size(), threads, copied_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k) {
            const auto row = features.subspan(static_cast<std::size_t>(rows[k]) * n_features, n_features);
            run_for<StandardiseRow>(simd, row.data(), shift.data(), factor.data(), n_features,
                                    out.subspan(k * n_features, n_features).data());
        }
    });
}

void sum_moments(std::span<const float> features, std::size_t n_features, std::span<const double> centre,
                 std::span<double> count, std::span<double> total, std::span<double> squares, int threads) {
    const Simd simd = simd_level();
    const std::size_t n_rows = n_features == 0 ? 0 : features.size() / n_features;
    const std::size_t n_blocks = (n_rows + summed_at_a_time - 1) / summed_at_a_time;
    std::vector<double> sums(3 * n_blocks * n_features); // three rows per block
    parallel_for(n_blocks, threads, 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t block = first; block < last; ++block) {
            double *own = sums.data() + 3 * block * n_features;
            const std::size_t stop = std::min(n_rows, (block + 1) * summed_at_a_time);
            for (std::size_t row = block * summed_at_a_time; row < stop; ++row) {
                run_for<AddMoments>(simd, features.data() + row * n_features, centre.data(), n_features, own,
                                    own + n_features, own + 2 * n_features);
            }
        }
    });
    for (auto out : {count, total, squares}) std::ranges::fill(out, 0.0);
    for (std::size_t block = 0; block < n_blocks; ++block) {
        const double *own = sums.data() + 3 * block * n_features;
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            count[feature] += own[feature];
            total[feature] += own[n_features + feature];
            squares[feature] += own[2 * n_features + feature];
        }
    }
}

} // namespace rankwright
