// Python values that kernels read field by field, by name; kernels/records.py has them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <concepts>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/arrays.hpp"

namespace rankwright {

// A specialisation has `static Record read(nb::handle)`. The record's spans look into the arrays of the Python value,
// which must keep them as long as the call lasts: a frozen dataclass does.
template <typename Record> struct Reader;

template <typename Record>
concept Readable = requires(nb::handle source) {
    { Reader<Record>::read(source) } -> std::same_as<Record>;
};

template <typename T> T field(nb::handle record, const char *name) {
    return nb::cast<T>(record.attr(name), !is_array<T>);
}
template <typename T> std::span<const T> view(nb::handle record, const char *name) {
    return view(field<In<T>>(record, name));
}
template <typename T> std::span<T> fill(nb::handle record, const char *name) {
    return fill(field<Out<T>>(record, name));
}

template <typename Value, std::size_t n>
Value named(std::string_view name, const std::pair<std::string_view, Value> (&values)[n]) {
    for (const auto &[known, value] : values)
        if (known == name) return value;
    throw std::invalid_argument("unknown name " + std::string(name));
}

} // namespace rankwright

// Lets a kernel's function take a readable record as an argument.
template <rankwright::Readable Record> struct nanobind::detail::type_caster<Record> {
    NB_TYPE_CASTER(Record, const_name("record"))

    bool from_python(handle source, std::uint32_t, cleanup_list *) noexcept {
        try {
            value = rankwright::Reader<Record>::read(source);
            return true;
        } catch (const std::exception &) { // a field is missing or is of another type
            return false;
        }
    }
};
