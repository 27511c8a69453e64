// What hidden units make of their weighted inputs, and how fast that changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/nets/plain_net.hpp"

namespace rankwright {

// Tables with a padded row of `width` numbers per document, of which `n_units` count; outputs and slopes are filled.
struct Units {
    const float *values;
    float *outputs, *slopes;
    std::size_t width, n_units;
};

// The outputs and slopes of the units of `n_docs` documents; the padding of outputs is 0.
void respond(Activation activation, const Units &units, std::size_t n_docs);

// Leaves out the share `dropout` of the units of each document, drawn from `stream` by row and unit, and raises the
// others so that the mean stays.
void drop_out(const Units &units, std::span<const std::int64_t> rows, double dropout, std::uint64_t stream);

} // namespace rankwright
