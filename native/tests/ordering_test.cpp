#include "core/ordering.hpp"

#include <vector>

#include "tests/check.hpp"

int main() {
    const std::vector<double> scores{1.0, 3.0, 2.0, 5.0, 5.0, 7.0};
    const std::vector<std::int64_t> offsets{0, 3, 3, 6};
    for (int threads : {1, 2, 7}) {
        std::vector<std::int64_t> rows(scores.size());
        rankwright::rank_rows(scores, offsets, rows, threads);
        CHECK((rows == std::vector<std::int64_t>{1, 2, 0, 5, 3, 4}));
    }
}
