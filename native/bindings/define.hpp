// How a function becomes a kernel of the Python module.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "bindings/arrays.hpp"

namespace rankwright {

// Arrays are taken as they are, never converted; numbers may be, e.g. whole ones to floats. Objects may be None.
template <typename Argument> auto argument(const char *name) {
    if constexpr (is_array<std::remove_cvref_t<Argument>>) {
        return nb::arg(name).noconvert();
    } else if constexpr (std::is_same_v<std::remove_cvref_t<Argument>, nb::handle>) {
        return nb::arg(name).none();
    } else {
        return nb::arg(name);
    }
}

template <typename Body, typename Result, typename... Arguments, std::size_t... i>
void define_typed(nb::module_ &module, const char *name, const char *const *names, Body body, Result (*)(Arguments...),
                  std::index_sequence<i...>) {
    module.def(
        name,
        [body](Arguments... arguments) -> Result {
            nb::gil_scoped_release released;
            return body(arguments...);
        },
        argument<Arguments>(names[i])...);
}

template <typename Body> struct Signature : Signature<decltype(&Body::operator())> {};
template <typename Result, typename... Arguments> struct Signature<Result (*)(Arguments...)> {
    using Type = Result (*)(Arguments...);
    static constexpr std::size_t size = sizeof...(Arguments);
};
template <typename Object, typename Result, typename... Arguments>
struct Signature<Result (Object::*)(Arguments...) const> : Signature<Result (*)(Arguments...)> {};

// Adds `body`, a function or a lambda, to the module. It runs without the interpreter's lock; Python calls its
// arguments by `names`. Bodies of one name and different types are overloads.
template <typename Body, std::size_t n>
void define(nb::module_ &module, const char *name, const char *const (&names)[n], Body body) {
    static_assert(n == Signature<Body>::size, "a name for each argument");
    define_typed(module, name, names, body, typename Signature<Body>::Type{}, std::make_index_sequence<n>());
}

} // namespace rankwright
