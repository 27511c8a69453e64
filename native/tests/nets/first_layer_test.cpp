#include "core/nets/first_layer.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

constexpr float missing = std::numeric_limits<float>::quiet_NaN();

// Small whole numbers: sums are exact in any order.
float value(std::size_t at) { return static_cast<float>(at * 7 % 11) - 5.0F; }

void check(std::size_t n_rows, std::size_t n_features, std::size_t n_units) {
    std::vector<float> features(n_rows * n_features), shift(n_features, 1), factor(n_features, 2);
    std::vector<float> weights(n_units * n_features), forces(n_rows * n_units);
    for (std::size_t i = 0; i < features.size(); ++i) features[i] = i % 13 == 3 ? missing : value(i);
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = value(i + 1);
    for (std::size_t i = 0; i < forces.size(); ++i) forces[i] = value(i + 2);
    std::vector<std::int64_t> rows(n_rows);
    for (std::size_t k = 0; k < n_rows; ++k) rows[k] = static_cast<std::int64_t>(n_rows - 1 - k);
    const auto input = [&](std::size_t k, std::size_t feature) {
        const float x = features[static_cast<std::size_t>(rows[k]) * n_features + feature];
        return std::isnan(x) ? 0.0F : (x - 1) * 2;
    };
    std::vector<float> sums(n_rows * n_units), gradient(n_units * n_features);
    for (std::size_t k = 0; k < n_rows; ++k) {
        for (std::size_t unit = 0; unit < n_units; ++unit) {
            for (std::size_t feature = 0; feature < n_features; ++feature) {
                sums[k * n_units + unit] += input(k, feature) * weights[unit * n_features + feature];
                gradient[unit * n_features + feature] += input(k, feature) * forces[k * n_units + unit];
            }
        }
    }
    const rankwright::NetRows inputs{features, n_features, rows, shift, factor};
    const std::size_t width = rankwright::padded_width(n_features), between = rankwright::padded_width(n_units);
    std::vector<float> padded_forces(n_rows * between), out(n_rows * between), found(n_units * width);
    for (std::size_t k = 0; k < n_rows; ++k) {
        for (std::size_t unit = 0; unit < n_units; ++unit) {
            padded_forces[k * between + unit] = forces[k * n_units + unit];
        }
    }
    rankwright::first_layer(inputs, rankwright::padded_rows(weights, n_features), n_units, out);
    rankwright::add_first_layer_gradient(inputs, padded_forces, n_units, found);
    for (std::size_t k = 0; k < n_rows; ++k) {
        for (std::size_t unit = 0; unit < n_units; ++unit) {
            CHECK(out[k * between + unit] == sums[k * n_units + unit]);
        }
    }
    for (std::size_t unit = 0; unit < n_units; ++unit) {
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            CHECK(found[unit * width + feature] == gradient[unit * n_features + feature]);
        }
    }
    std::vector<float> dense(n_rows * width, -9);
    rankwright::standardise_padded(inputs, dense);
    for (std::size_t k = 0; k < n_rows; ++k) {
        for (std::size_t feature = 0; feature < width; ++feature) {
            CHECK(dense[k * width + feature] == (feature < n_features ? input(k, feature) : 0.0F));
        }
    }
}

const rankwright::Test test("first_layer", [] {
    check(0, 3, 2);
    check(1, 1, 1);
    check(7, 16, 5);
    check(300, 21, 6);
});

} // namespace
