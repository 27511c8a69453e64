// How NumPy arrays enter the kernels: typed, contiguous, never copied or converted.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>

namespace rankwright {

namespace nb = nanobind;

template <typename T, std::size_t n> using Array = nb::ndarray<T, nb::ndim<n>, nb::c_contig, nb::device::cpu>;
template <typename T> using In = Array<const T, 1>;
template <typename T> using Out = Array<T, 1>;
template <typename T> using InMatrix = Array<const T, 2>;
template <typename T> using OutMatrix = Array<T, 2>;

template <typename T> inline constexpr bool is_array = false;
template <typename... T> inline constexpr bool is_array<nb::ndarray<T...>> = true;

template <typename T> inline constexpr bool is_matrix = false;
template <typename T> inline constexpr bool is_matrix<Array<T, 2>> = true;

// The numbers of an array, whatever its dimensions: those of a kernel's input, and those it fills.
template <typename T, typename... Form> std::span<const T> view(const nb::ndarray<const T, Form...> &array) {
    return {array.data(), array.size()};
}
template <typename T, typename... Form> std::span<T> fill(const nb::ndarray<T, Form...> &array) {
    return {array.data(), array.size()};
}

} // namespace rankwright
