#include "core/binning/binning.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

constexpr std::size_t n_rows = 1500, n_features = 21;
constexpr std::int64_t max_bins = 255;

// Wide-ranged numbers, some repeated, some not finite.
std::vector<float> awkward_table() {
    std::mt19937 random(1);
    std::vector<float> values(n_rows * n_features);
    for (float &value : values) {
        const auto choice = random() % 10;
        value = choice == 0   ? std::numeric_limits<float>::quiet_NaN()
                : choice == 1 ? -std::numeric_limits<float>::infinity()
                : choice == 2 ? std::numeric_limits<float>::denorm_min()
                : choice == 3
                    ? -0.0f
                    : std::ldexp(static_cast<float>(random() % 4096) - 2048.0f, static_cast<int>(random() % 9));
    }
    return values;
}

template <typename Code> void codes_do_not_depend_on_threads_or_processor(const BinEdges &edges, FloatTable table) {
    constexpr std::size_t n_groups = (n_features + Codes<Code>::slots - 1) / Codes<Code>::slots;
    std::vector<Code> expected(n_groups * n_rows * Codes<Code>::slots);
    bin_features<Code>(table, {}, edges, 0, {expected.data(), n_groups, n_rows}, 1, Simd::baseline);
    for (const Simd simd : simd_levels()) {
        for (int threads : {1, 2, 7}) {
            std::vector<Code> codes(expected.size(), 77);
            bin_features<Code>(table, {}, edges, 0, {codes.data(), n_groups, n_rows}, threads, simd);
            CHECK(codes == expected);
        }
    }
}

const rankwright::Test test("binning", [] {
    const std::vector<float> values = awkward_table();
    const FloatTable table{values.data(), n_rows, n_features};
    std::vector<std::int64_t> rows(n_rows);
    for (std::size_t row = 0; row < n_rows; ++row) rows[row] = static_cast<std::int64_t>(row);

    std::vector<float> thresholds(n_features * (max_bins - 1));
    std::vector<std::int64_t> counts(n_features);
    find_thresholds(table, rows, max_bins, thresholds, counts, 2);

    std::vector<float> edges;
    std::vector<std::int64_t> offsets{0};
    for (std::size_t feature = 0; feature < n_features; ++feature) {
        const float *own = thresholds.data() + feature * (max_bins - 1);
        edges.insert(edges.end(), own, own + counts[feature]);
        offsets.push_back(static_cast<std::int64_t>(edges.size()));
    }
    bool categorical[n_features] = {};
    categorical[4] = true;
    const BinEdges bins{edges, offsets, categorical};
    codes_do_not_depend_on_threads_or_processor<std::uint8_t>(bins, table);
    codes_do_not_depend_on_threads_or_processor<std::uint16_t>(bins, table);
});

} // namespace
