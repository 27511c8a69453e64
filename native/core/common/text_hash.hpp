// The hash of a text, eight bytes at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/common/counter_random.hpp"

namespace rankwright {

inline std::uint64_t hash_of_bytes(const std::uint8_t *bytes, std::size_t n) {
    std::uint64_t value = mix(n), word = 0;
    for (; n >= sizeof word; n -= sizeof word, bytes += sizeof word) {
        std::memcpy(&word, bytes, sizeof word);
        value = mix(value ^ word);
    }
    word = 0;
    if (n > 0) std::memcpy(&word, bytes, n);
    return mix(value ^ word);
}

} // namespace rankwright
