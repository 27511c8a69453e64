#include "core/ranking/sorting.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

using Keys = std::span<std::uint64_t>;

constexpr std::size_t longest_merge_sort = 1024; // beyond this counting digits is faster
constexpr std::size_t shortest_parallel_sort = std::size_t{1}
                                               << 17; // below this starting threads costs more than it saves

// Masks rather than a choice: compilers turn the choice into a branch, which here is taken at random.
void order(std::uint64_t &low, std::uint64_t &high) {
    const std::uint64_t difference = (low ^ high) & -static_cast<std::uint64_t>(high < low);
    low ^= difference;
    high ^= difference;
}

// A sorting network: nineteen exchanges in six steps, no branches. Fewer than eight keys are filled up with the
// largest. The keys are taken in and given back one by one: a loop would become a call of memcpy, which takes longer.
void sort_up_to_eight(Keys keys, std::uint64_t *sorted) {
    constexpr std::uint64_t most = ~std::uint64_t{0};
    std::uint64_t a = most, b = most, c = most, d = most, e = most, f = most, g = most, h = most;
    switch (keys.size()) {
    case 8:
        h = keys[7];
        [[fallthrough]];
    case 7:
        g = keys[6];
        [[fallthrough]];
    case 6:
        f = keys[5];
        [[fallthrough]];
    case 5:
        e = keys[4];
        [[fallthrough]];
    case 4:
        d = keys[3];
        [[fallthrough]];
    case 3:
        c = keys[2];
        [[fallthrough]];
    case 2:
        b = keys[1];
        [[fallthrough]];
    case 1:
        a = keys[0];
        [[fallthrough]];
    default:
        break;
    }
    order(a, c), order(b, d), order(e, g), order(f, h);
    order(a, e), order(b, f), order(c, g), order(d, h);
    order(a, b), order(c, d), order(e, f), order(g, h);
    order(c, e), order(d, f);
    order(b, e), order(d, g);
    order(b, c), order(d, e), order(f, g);
    switch (keys.size()) {
    case 8:
        sorted[7] = h;
        [[fallthrough]];
    case 7:
        sorted[6] = g;
        [[fallthrough]];
    case 6:
        sorted[5] = f;
        [[fallthrough]];
    case 5:
        sorted[4] = e;
        [[fallthrough]];
    case 4:
        sorted[3] = d;
        [[fallthrough]];
    case 3:
        sorted[2] = c;
        [[fallthrough]];
    case 2:
        sorted[1] = b;
        [[fallthrough]];
    case 1:
        sorted[0] = a;
        [[fallthrough]];
    default:
        break;
    }
}

// Merges two sorted runs, the right one at most one key longer, from both ends at once: neither end can run out, so
// there is nothing to branch on, and the two chains of loads overlap.
void merge_halves(const std::uint64_t *left, std::size_t n_left, const std::uint64_t *right, std::size_t n_right,
                  std::uint64_t *merged) {
    std::size_t low_left = 0, low_right = 0, high_left = n_left - 1, high_right = n_right - 1;
    std::size_t low = 0, high = n_left + n_right - 1;
    for (; low < n_left; ++low, --high) {
        const bool right_is_lower = right[low_right] < left[low_left];
        merged[low] = right_is_lower ? right[low_right] : left[low_left];
        low_right += right_is_lower;
        low_left += !right_is_lower;
        const bool left_is_higher = right[high_right] < left[high_left];
        merged[high] = left_is_higher ? left[high_left] : right[high_right];
        high_left -= left_is_higher;
        high_right -= !left_is_higher;
    }
    if (n_left < n_right) merged[low] = low_right == high_right ? right[low_right] : left[low_left];
}

// Sorts `keys` into itself, or into `other` where asked to.
void merge_sort(Keys keys, Keys other, bool into_other) {
    const std::size_t n = keys.size();
    if (n <= 8) return sort_up_to_eight(keys, into_other ? other.data() : keys.data());
    const std::size_t half = n / 2;
    merge_sort(keys.first(half), other.first(half), !into_other);
    merge_sort(keys.subspan(half), other.subspan(half), !into_other);
    const Keys from = into_other ? keys : other, to = into_other ? other : keys;
    merge_halves(&from[0], half, &from[half], n - half, &to[0]);
}

void merge_any(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, std::uint64_t *merged) {
    std::size_t i = 0, j = 0;
    while (i < left.size() && j < right.size()) {
        const bool from_right = right[j] < left[i];
        *merged++ = from_right ? right[j] : left[i];
        j += from_right;
        i += !from_right;
    }
    merged = std::copy(left.begin() + i, left.end(), merged);
    std::copy(right.begin() + j, right.end(), merged);
}

void radix_sort(Keys keys, Keys scratch, int sorted_bits) {
    constexpr int digit_bits = 11;
    constexpr std::uint64_t digit_mask = (1 << digit_bits) - 1;
    constexpr int most_digits = (64 + digit_bits - 1) / digit_bits;
    const int n_digits = (64 - sorted_bits + digit_bits - 1) / digit_bits;
    std::vector<std::array<std::size_t, digit_mask + 1>> counts(most_digits);
    for (const auto key : keys) {
        auto rest = key >> sorted_bits;
        for (int digit = 0; digit < n_digits; ++digit, rest >>= digit_bits) ++counts[digit][rest & digit_mask];
    }
    Keys from = keys, to = scratch;
    for (int digit = 0; digit < n_digits; ++digit) {
        const int shift = sorted_bits + digit * digit_bits;
        auto &places = counts[digit];
        if (places[(from[0] >> shift) & digit_mask] == keys.size()) continue; // the same digit everywhere
        std::size_t place = 0;
        for (auto &count : places) place += std::exchange(count, place);
        for (const auto key : from) to[places[(key >> shift) & digit_mask]++] = key;
        std::swap(from, to);
    }
    if (from.data() != keys.data()) std::copy(from.begin(), from.end(), keys.begin());
}

void sort_alone(Keys keys, Keys scratch, int sorted_bits) {
    if (keys.size() <= longest_merge_sort) {
        merge_sort(keys, scratch, false);
    } else {
        radix_sort(keys, scratch, sorted_bits);
    }
}

// How many of the first `n_merged` keys of the merged runs come from the left one.
std::size_t split_of_merge(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right,
                           std::size_t n_merged) {
    std::size_t low = n_merged > right.size() ? n_merged - right.size() : 0;
    std::size_t high = std::min(n_merged, left.size());
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        if (right[n_merged - middle - 1] < left[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void merge_together(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right, Keys merged,
                    int threads) {
    constexpr std::size_t keys_at_a_time = std::size_t{1} << 15;
    parallel_for(merged.size(), threads, keys_at_a_time, [&](std::size_t first, std::size_t last) {
        const std::size_t left_first = split_of_merge(left, right, first);
        const std::size_t left_last = split_of_merge(left, right, last);
        const std::size_t right_first = first - left_first, right_last = last - left_last;
        merge_any(left.subspan(left_first, left_last - left_first),
                  right.subspan(right_first, right_last - right_first), &merged[first]);
    });
}

} // namespace

void sort_keys(Keys keys, Keys scratch, int sorted_bits, int threads) {
    const std::size_t n = keys.size();
    if (threads < 2 || n < shortest_parallel_sort) return sort_alone(keys, scratch, sorted_bits);
    const auto n_parts = std::bit_ceil(static_cast<std::size_t>(threads));
    const std::size_t width = (n + n_parts - 1) / n_parts;
    parallel_for(n, threads, width, [&](std::size_t first, std::size_t last) {
        sort_alone(keys.subspan(first, last - first), scratch.subspan(first, last - first), sorted_bits);
    });
    Keys from = keys, to = scratch;
    for (std::size_t run = width; run < n; run *= 2, std::swap(from, to)) {
        for (std::size_t start = 0; start < n; start += 2 * run) {
            const std::size_t middle = std::min(start + run, n), stop = std::min(start + 2 * run, n);
            merge_together(from.subspan(start, middle - start), from.subspan(middle, stop - middle),
                           to.subspan(start, stop - start), threads);
        }
    }
    if (from.data() != keys.data()) std::copy(from.begin(), from.end(), keys.begin());
}

} // namespace rankwright
