#include "core/nets/product.hpp"

#include <cstddef>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

// Small whole numbers: sums are exact in any order.
float value(std::size_t at) { return static_cast<float>(at * 7 % 11) - 5.0F; }

// The left factor is read as it lies, or turned.
void check(std::size_t n_rows, std::size_t n_terms, std::size_t width, bool turned) {
    std::vector<float> left(n_rows * n_terms), right(n_terms * width), out(n_rows * width);
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = value(i);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = value(i + 1);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = value(i + 2);
    const std::size_t between_rows = turned ? 1 : n_terms, between_terms = turned ? n_rows : 1;
    std::vector<float> wanted = out;
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::size_t term = 0; term < n_terms; ++term) {
            for (std::size_t column = 0; column < width; ++column) {
                wanted[row * width + column] +=
                    left[row * between_rows + term * between_terms] * right[term * width + column];
            }
        }
    }
    rankwright::add_product({left.data(), n_rows, n_terms, between_rows, between_terms}, right.data(), width,
                            out.data());
    CHECK(out == wanted);
}

const rankwright::Test test("product", [] {
    for (const bool turned : {false, true}) {
        for (const std::size_t n_rows : {0, 1, 2, 3, 8, 15, 21}) {
            check(n_rows, 5, 16, turned);
            check(n_rows, 1, 48, turned);
            check(n_rows, 0, 32, turned);
        }
    }
});

} // namespace
