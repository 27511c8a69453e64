#include "core/words/lookup.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t texts_at_a_time = 1 << 10;

// The first bytes of a text as a number that sorts as they do: most comparisons need no more.
std::uint64_t beginning(std::string_view text) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof value; ++i)
        value = value << 8 | (i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0);
    return value;
}

std::size_t number_at(std::span<const std::int64_t> order, std::size_t place, std::size_t n) {
    if (order.empty()) return place;
    const std::int64_t number = order[place];
    if (number < 0 || static_cast<std::size_t>(number) >= n)
        throw std::invalid_argument("an order of texts names one that is not there");
    return static_cast<std::size_t>(number);
}

} // namespace

std::int64_t sort_texts(const Texts &texts, std::span<std::int64_t> order) {
    struct Entry {
        std::uint64_t key;
        std::int64_t number;
    };
    std::vector<Entry> entries(texts.size());
    for (std::size_t i = 0; i < entries.size(); ++i)
        entries[i] = {beginning(checked_text(texts, i)), static_cast<std::int64_t>(i)};
    std::sort(entries.begin(), entries.end(), [&](const Entry &a, const Entry &b) {
        if (a.key != b.key) return a.key < b.key;
        const int difference = checked_text(texts, a.number).compare(checked_text(texts, b.number));
        return difference != 0 ? difference < 0 : a.number < b.number;
    });
    std::transform(entries.begin(), entries.end(), order.begin(), [](const Entry &entry) { return entry.number; });
    const auto repeated = std::adjacent_find(entries.begin(), entries.end(), [&](const Entry &a, const Entry &b) {
        return a.key == b.key && checked_text(texts, a.number) == checked_text(texts, b.number);
    });
    return repeated == entries.end() ? -1 : repeated - entries.begin() + 1;
}

void find_texts(const Texts &known, std::span<const std::int64_t> order, const Texts &wanted,
                std::span<std::int64_t> places, int threads) {
    parallel_for(wanted.size(), threads, texts_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            const std::string_view text = checked_text(wanted, row);
            std::size_t low = 0, high = known.size();
            while (low < high) {
                const std::size_t middle = low + (high - low) / 2;
                if (checked_text(known, number_at(order, middle, known.size())) < text) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            places[row] = -1;
            if (low == known.size()) continue;
            const std::size_t number = number_at(order, low, known.size());
            if (checked_text(known, number) == text) places[row] = static_cast<std::int64_t>(number);
        }
    });
}

} // namespace rankwright
