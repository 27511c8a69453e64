// Bin codes as the core takes them.
#pragma once

#include "bindings/arrays.hpp"
#include "core/binning/codes.hpp"

namespace rankwright {

// [group][row][slot], as core/binning/codes.hpp lays them out.
template <typename Code> using InCodes = Array<const Code, 3>;

template <typename Code> Codes<const Code> codes_of(const InCodes<Code> &codes) {
    return {codes.data(), codes.shape(0), codes.shape(1)};
}

} // namespace rankwright
