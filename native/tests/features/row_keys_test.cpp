#include "core/features/row_keys.hpp"

#include <limits>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

void check_hashes() {
    const float missing = std::numeric_limits<float>::quiet_NaN();
    // Rows 0 and 1 are alike, and so are 2 and 3.
    const std::vector<float> features{1, 0, 2, 1, -0.0F, 2, missing, 0, 0, -missing, 0, 0, 2, 0, 1};
    for (int threads : {1, 2, 7}) {
        std::vector<std::uint64_t> found(5, 9);
        hash_rows(features, 3, found, threads);
        CHECK(found[0] == found[1]);
        CHECK(found[2] == found[3]);
        CHECK(found[0] != found[2] && found[0] != found[4] && found[2] != found[4]);
    }
}

void check_hashes_of_queries() {
    // Two layers of four rows of one word; queries of 1, 0, 1 and 2 rows, of which the first and the third are alike.
    const std::vector<std::uint64_t> words{7, 7, 8, 9, 5, 5, 5, 6};
    const std::vector<std::int64_t> offsets{0, 1, 1, 2, 4};
    for (int threads : {1, 2, 7}) {
        std::vector<std::uint64_t> found(4, 9);
        hash_queries({words, 2, 4, 1}, offsets, found, threads);
        CHECK(found[0] == found[2]);
        CHECK(found[1] == 0);
        CHECK(found[0] != found[3] && found[0] != 0);
    }
}

void check_order() {
    const std::vector<std::uint64_t> keys{5, 3, 3, 9, 1, 8}, ties{0, 2, 1, 0, 0, 0};
    const std::vector<std::int64_t> offsets{0, 3, 3, 6}, queries{2, 1, 0};
    for (int threads : {1, 2, 7}) {
        std::vector<std::int64_t> rows(6, -1);
        order_by_key(keys, ties, offsets, queries, rows, threads);
        CHECK((rows == std::vector<std::int64_t>{4, 5, 3, 2, 1, 0}));
    }
}

const rankwright::Test test("row_keys", [] {
    check_hashes();
    check_hashes_of_queries();
    check_order();
});

} // namespace
