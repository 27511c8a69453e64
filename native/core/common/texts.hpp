// Texts in UTF-8, as arrays hold them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

namespace rankwright {

// Texts one after another: text t is bytes[starts[t]] to bytes[starts[t + 1]].
struct Texts {
    std::span<const std::uint8_t> bytes;
    std::span<const std::int64_t> starts;

    std::size_t size() const { return starts.size() - 1; }
};

// A text of arrays that come from a file, which may hold anything.
inline std::string_view checked_text(const Texts &texts, std::size_t number) {
    const std::int64_t start = texts.starts[number], stop = texts.starts[number + 1];
    if (start < 0 || stop < start || static_cast<std::size_t>(stop) > texts.bytes.size())
        throw std::invalid_argument("a text lies outside of the array that holds it");
    return {reinterpret_cast<const char *>(texts.bytes.data()) + start, static_cast<std::size_t>(stop - start)};
}

} // namespace rankwright
