// The first layer of a net, straight from the feature matrix: where nearly all of a narrow net's time goes. All runs in
// the caller's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

namespace rankwright {

// Allocates at the beginning of a line of the processor's cache, so that no pack of numbers lies in two of them.
template <typename Number> struct CacheAligned {
    using value_type = Number;
    static constexpr std::align_val_t line{64};

    CacheAligned() = default;
    template <typename Other> CacheAligned(const CacheAligned<Other> &) {}
    Number *allocate(std::size_t n) { return static_cast<Number *>(::operator new(n * sizeof(Number), line)); }
    void deallocate(Number *numbers, std::size_t) { ::operator delete(numbers, line); }
    bool operator==(const CacheAligned &) const { return true; }
};

using Numbers = std::vector<float, CacheAligned<float>>;

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
Numbers padded_rows(std::span<const float> weights, std::size_t n_features);

// Fills out[k, unit] with the sum over features of input k times padded_weights[unit, feature].
void first_layer(const NetRows &inputs, std::span<const float> padded_weights, std::size_t n_units,
                 std::span<float> out);

// Adds to padded_sums[unit, feature] the sum over k of forces[k, unit] times input k.
void add_first_layer_gradient(const NetRows &inputs, std::span<const float> forces, std::size_t n_units,
                              std::span<float> padded_sums);

// Fills out[k] with input k.
void standardise_padded(const NetRows &inputs, std::span<float> out);

} // namespace rankwright
