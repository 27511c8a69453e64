#include "core/trees/sparse_histogram.hpp"

#include "core/trees/words.hpp"

#include <algorithm>

namespace rankwright {

namespace {

constexpr std::size_t rows_ahead = 16; // asked from memory before they are needed

void ask_for(const Codes<const SparseCode> &codes, std::size_t row) {
    constexpr std::size_t line = 64;
    const auto *bundled = reinterpret_cast<const char *>(codes.bundled_row(row));
    for (std::size_t byte = 0; byte < 2 * codes.bases.size(); byte += line) __builtin_prefetch(bundled + byte);
    const auto own = codes.listed_row(row);
    const auto *listed = reinterpret_cast<const char *>(own.data());
    for (std::size_t byte = 0; byte < own.size_bytes(); byte += line) __builtin_prefetch(listed + byte);
}

void add_row(const Codes<const SparseCode> &codes, std::size_t row, std::uint64_t document, std::uint64_t *words) {
    const std::uint16_t *bundled = codes.bundled_row(row);
    // A bundle in which nothing is set counts at its base, which no feature has.
    for (std::size_t bundle = 0; bundle < codes.bases.size(); ++bundle) {
        words[codes.bases[bundle] + bundled[bundle]] += document;
    }
    for (const std::uint32_t place : codes.listed_row(row)) words[place] += document;
}

// Moves sums that may overflow to where they cannot.
void widen_crowded(const SparseLayout &layout, std::uint64_t *words) {
    std::uint64_t *gradients = words + layout.n_places(), *rests = gradients + layout.n_crowded();
    for (const SparseLayout::Run &run : layout.crowded()) {
        std::uint64_t *gradient = gradients + run.before, *rest = rests + run.before;
        for (std::uint32_t place = run.first; place < run.end; ++place) {
            const Wide wide = widened({words[place]});
            words[place] = 0;
            *gradient++ += static_cast<std::uint64_t>(wide.gradient);
            *rest++ += wide.rest;
        }
    }
}

} // namespace

SparseLayout::SparseLayout(const Codes<const SparseCode> &codes) : n_places_(codes.n_total_places) {
    for (std::size_t i = 0; i + 1 < codes.crowded.size(); i += 2) {
        crowded_.push_back({codes.crowded[i], codes.crowded[i + 1], static_cast<std::uint32_t>(n_crowded_)});
        n_crowded_ += codes.crowded[i + 1] - codes.crowded[i];
    }
}

bool SparseLayout::is_crowded(std::uint32_t place) const {
    const auto after = std::ranges::upper_bound(crowded_, place, {}, &Run::first);
    return after != crowded_.begin() && place < std::prev(after)->end;
}

std::size_t SparseLayout::wide_word(std::uint32_t place) const {
    const Run &run = *std::prev(std::ranges::upper_bound(crowded_, place, {}, &Run::first));
    return n_places_ + run.before + (place - run.first);
}

void build_sparse(const Codes<const SparseCode> &codes, const SparseLayout &layout,
                  std::span<const std::int32_t> quantised, RowRun rows, std::uint64_t *words) {
    constexpr std::size_t chunk = Packed::max_count;
    std::fill_n(words, layout.n_words(), std::uint64_t{0});
    for (std::size_t begin = 0; begin < rows.count; begin += chunk) {
        const std::size_t end = std::min(rows.count, begin + chunk);
        for (std::size_t i = begin; i < end; ++i) {
            if (i + rows_ahead < rows.count) ask_for(codes, rows[i + rows_ahead]);
            const std::size_t row = rows[i];
            add_row(codes, row, Packed::of_document(quantised[row]).word, words);
        }
        widen_crowded(layout, words);
    }
}

void add_words(std::uint64_t *words, const std::uint64_t *others, std::size_t begin, std::size_t end, Simd simd) {
    run_for<AddWords>(simd, end - begin, words + begin, others + begin);
}

void subtract_words(std::uint64_t *words, const std::uint64_t *others, std::size_t begin, std::size_t end, Simd simd) {
    run_for<SubtractWords>(simd, end - begin, words + begin, others + begin);
}

} // namespace rankwright
