// Texts in UTF-8, which several topics take: kernels/records.py has them.
#pragma once

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include "bindings/records.hpp"
#include "core/common/texts.hpp"

namespace rankwright {

template <> struct Reader<Texts> {
    static Texts read(nb::handle texts) {
        return {view<std::uint8_t>(texts, "bytes"), view<std::int64_t>(texts, "starts")};
    }
};

// Texts that stand one after another, from byte 0 on.
inline void require_texts(const char *name, std::span<const std::int64_t> starts, std::size_t n_bytes) {
    const bool rise = !starts.empty() && starts.front() >= 0 && std::is_sorted(starts.begin(), starts.end()) &&
                      static_cast<std::size_t>(starts.back()) <= n_bytes;
    if (!rise) throw std::invalid_argument(std::string(name) + " must rise from 0 to " + std::to_string(n_bytes));
}

} // namespace rankwright
