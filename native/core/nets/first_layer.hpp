// The first layer of a net, straight from the feature matrix: where nearly all of a narrow net's time goes. All runs in
// the caller's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankwright {

// Some rows of a matrix of `n_features` values a row, as the net takes them: (x - shift) · factor, 0 where x is NaN.
struct NetRows {
    std::span<const float> features;
    std::size_t n_features = 0;
    std::span<const std::int64_t> rows;
    std::span<const float> shift, factor;
};

// Tables of numbers by document, by unit or by input have rows that lie `padded_width` of their length apart, zeros at
// the end.
std::size_t padded_width(std::size_t n);
std::vector<float> padded_rows(std::span<const float> weights, std::size_t n_features);

// Fills out[k, unit] with the sum over features of input k times padded_weights[unit, feature].
void first_layer(const NetRows &inputs, std::span<const float> padded_weights, std::size_t n_units,
                 std::span<float> out);

// Adds to padded_sums[unit, feature] the sum over k of forces[k, unit] times input k.
void add_first_layer_gradient(const NetRows &inputs, std::span<const float> forces, std::size_t n_units,
                              std::span<float> padded_sums);

// Fills out[k] with input k.
void standardise_padded(const NetRows &inputs, std::span<float> out);

} // namespace rankwright
