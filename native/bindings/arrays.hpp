// How NumPy arrays enter the kernels: typed, contiguous, never copied or converted.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>

namespace rankwright {

namespace nb = nanobind;

template <typename T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T> using InMatrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T> using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <typename T> std::span<const T> view(const In<T> &array) { return {array.data(), array.shape(0)}; }
template <typename T> std::span<T> fill(const Out<T> &array) { return {array.data(), array.shape(0)}; }
template <typename T> std::span<T> fill(const OutMatrix<T> &array) { return {array.data(), array.size()}; }

void bind_binning(nb::module_ &module);
void bind_boosters(nb::module_ &module);
void bind_comparator(nb::module_ &module);
void bind_delimited(nb::module_ &module);
void bind_forest(nb::module_ &module);
void bind_lambdas(nb::module_ &module);
void bind_linear(nb::module_ &module);
void bind_metrics(nb::module_ &module);
void bind_narrow_net(nb::module_ &module);
void bind_ordering(nb::module_ &module);
void bind_scaling(nb::module_ &module);
void bind_standardise(nb::module_ &module);
void bind_svmlight(nb::module_ &module);
void bind_trees(nb::module_ &module);

} // namespace rankwright
