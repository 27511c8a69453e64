#include "core/common/parallel.hpp"

#include <numeric>
#include <stdexcept>
#include <string>

#include "tests/check.hpp"
#include "tests/test.hpp"

using rankwright::parallel_for;

namespace {

void every_item_is_visited_once() {
    for (int threads : {1, 2, 7}) {
        for (std::size_t n : {0, 1, 63, 64, 1000}) {
            std::vector<int> visits(n, 0);
            parallel_for(n, threads, 10, [&](std::size_t begin, std::size_t end) {
                for (std::size_t i = begin; i < end; ++i) ++visits[i];
            });
            CHECK(std::accumulate(visits.begin(), visits.end(), 0) == static_cast<int>(n));
            CHECK(std::all_of(visits.begin(), visits.end(), [](int v) { return v == 1; }));
        }
    }
}

void an_exception_reaches_the_caller() {
    bool caught = false;
    try {
        parallel_for(1000, 4, 1, [](std::size_t begin, std::size_t) {
            if (begin == 500) throw std::runtime_error("block 500");
        });
    } catch (const std::runtime_error &error) {
        caught = std::string(error.what()) == "block 500";
    }
    CHECK(caught);
}

const rankwright::Test test("parallel", [] {
    every_item_is_visited_once();
    an_exception_reaches_the_caller();
});

} // namespace
