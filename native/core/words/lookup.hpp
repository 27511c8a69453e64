// Texts in the order of their bytes, and texts looked up among such.
#pragma once

#include <cstdint>
#include <span>

#include "core/common/texts.hpp"

namespace rankwright {

// Fills `order` with the numbers of the texts in the order of their bytes; equal texts keep their order. Returns the
// least place in the order whose text is that of the place before it, -1 where all texts differ.
std::int64_t sort_texts(const Texts &texts, std::span<std::int64_t> order);

// Fills places[t] with the number of the wanted text t among the known ones, -1 where it is not there. `order` lists
// the known texts in the order of their bytes; it may be empty where they stand in that order. Both may come from a
// damaged file: an entry that leads out of its array throws.
void find_texts(const Texts &known, std::span<const std::int64_t> order, const Texts &wanted,
                std::span<std::int64_t> places, int threads);

} // namespace rankwright
