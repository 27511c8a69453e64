#include "core/features/scaling.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

// Two features; queries of three documents, of none, and of one.
const std::vector<float> features{1, 0, 2, 0, missing, 0, 5, missing};
const std::vector<std::int64_t> offsets{0, 3, 3, 4};

using Kernel = void (*)(std::span<const float>, std::size_t, std::span<const std::int64_t>, std::span<float>, int);

void check(Kernel scale, const std::vector<float> &expected) {
    for (int threads : {1, 2, 7}) {
        std::vector<float> out(features.size(), -9);
        scale(features, 2, offsets, out, threads);
        for (std::size_t i = 0; i < out.size(); ++i) {
            CHECK(std::isnan(expected[i]) ? std::isnan(out[i]) : out[i] == expected[i]);
        }
    }
}

const rankwright::Test test("scaling", [] {
    check(rankwright::scale_by_mean, {-0.25F, 0, 0.25F, 0, missing, 0, 0, missing});
    check(rankwright::scale_by_range, {0, 0, 1, 0, missing, 0, 0, missing});
    check(rankwright::scale_by_rank, {-1, 0, 1, 0, missing, 0, 0, missing});
});

} // namespace
