// The first layer of a net, straight from the feature matrix: where nearly all of a narrow net's time goes.
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

// Fills out[k, unit] with the sum over features of input k times weights[unit, feature].
void first_layer(const NetRows &inputs, std::span<const float> weights, std::span<float> out, int threads);

// Fills gradient[unit, feature] with the sum over k of forces[k, unit] times input k. Rows are summed in blocks, and
// the blocks one after another, whatever the number of threads.
void first_layer_gradient(const NetRows &inputs, std::span<const float> forces, std::span<float> gradient, int threads);

// For callers with threads of their own: the same two for all inputs in this thread. A unit's weights, and the sums of
// its gradient, which are added to, lie `padded_width` apart, with zeros at the end.
std::size_t padded_width(std::size_t n_features);
std::vector<float> padded_rows(std::span<const float> weights, std::size_t n_features);
void first_layer_here(const NetRows &inputs, std::span<const float> padded_weights, std::span<float> out);
void add_first_layer_gradient(const NetRows &inputs, std::span<const float> forces, std::span<float> padded_sums);

} // namespace rankwright
