// Bin codes of documents, laid out for histograms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace rankwright {

// 16 bytes of a row lie together: the codes of 16 features (8 where a code takes two bytes), called a group.
//   data[group][row][slot] is the code of feature group * slots + slot; slots past the last feature hold 0.
// So a histogram of one group's features fits the first-level cache, and a row's codes are read as two words.
inline constexpr std::size_t group_bytes = 16;

template <typename Code> struct Codes {
    static constexpr std::size_t slots = group_bytes / sizeof(std::remove_const_t<Code>);

    Code *data;
    std::size_t n_groups;
    std::size_t n_rows;

    Code *group(std::size_t number) const { return data + number * n_rows * slots; }
    Code *column(std::size_t feature) const { return group(feature / slots) + feature % slots; } // stride: slots
};

} // namespace rankwright
