// What is asked of the arrays that a kernel is handed, in every build: a wrong length becomes a ValueError of Python's,
// never a read out of bounds. Every check takes no time, or that of a look at a short array.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace rankwright {

inline void require(bool holds, const char *wanted) {
    if (!holds) throw std::invalid_argument(wanted);
}

inline void require_size(const char *name, std::size_t found, std::size_t wanted) {
    if (found != wanted)
        throw std::invalid_argument(std::string(name) + " must have " + std::to_string(wanted) + " values, got " +
                                    std::to_string(found));
}

// Weights and the like, which may also be empty.
inline void require_size_or_none(const char *name, std::size_t found, std::size_t wanted) {
    if (found != 0) require_size(name, found, wanted);
}

template <typename Matrix>
void require_shape(const char *name, const Matrix &matrix, std::size_t n_rows, std::size_t n_columns) {
    if (matrix.shape(0) != n_rows || matrix.shape(1) != n_columns)
        throw std::invalid_argument(std::string(name) + " must have " + std::to_string(n_rows) + " rows of " +
                                    std::to_string(n_columns) + " values, got " + std::to_string(matrix.shape(0)) +
                                    " of " + std::to_string(matrix.shape(1)));
}

// Where parts begin, and where the last one ends: from 0 to `n`.
inline void require_offsets(const char *name, std::span<const std::int64_t> offsets, std::size_t n) {
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(n))
        throw std::invalid_argument(std::string(name) + " must go from 0 to " + std::to_string(n));
}

// Numbers from 0 to `n`, that itself not among them.
template <typename Whole> void require_below(const char *name, std::span<const Whole> numbers, std::size_t n) {
    const bool fit = std::all_of(numbers.begin(), numbers.end(),
                                 [n](Whole number) { return number >= 0 && static_cast<std::size_t>(number) < n; });
    if (!fit) throw std::invalid_argument(std::string(name) + " must lie below " + std::to_string(n));
}

} // namespace rankwright
