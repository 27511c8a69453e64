#include "core/trees/histogram.hpp"

#include "core/trees/words.hpp"

#include <algorithm>
#include <cstring>

namespace rankwright {

namespace {

constexpr std::size_t rows_ahead = 64; // asked from memory before they are needed

// Strides that inner loops know at compile time. Each is 8 more than a power of two, so that the same bin of
// neighbouring features (zero, most often) never falls on the same place of the cache.
constexpr std::size_t strides[] = {40, 72, 136, 264};

// Adds a document to the bins of `n_words` times eight features, whose codes are read as words. Two codes at a time:
// the processor has instructions for the lowest two bytes of a word. The empty assembly keeps the compiler from
// turning the repeated shift into one shift per code, which takes more instructions.
template <std::size_t stride, std::size_t n_words>
inline void add_document(std::uint64_t document, const std::uint8_t *codes, std::uint64_t *bins) {
#pragma GCC unroll 2
    for (std::size_t part = 0; part < n_words; ++part) {
        std::uint64_t word;
        std::memcpy(&word, codes + 8 * part, 8);
#pragma GCC unroll 4
        for (std::size_t pair = 0; pair < 4; ++pair, bins += 2 * stride) {
            bins[word & 255] += document;
            bins[stride + ((word >> 8) & 255)] += document;
            word >>= 16;
            __asm__("" : "+r"(word));
        }
    }
}

template <std::size_t stride, std::size_t n_words>
void add_bytes(const std::uint8_t *codes, RowRun part, const std::uint64_t *documents, std::uint64_t *bins) {
    if (!part.rows) {
        codes += part.first * group_bytes;
        for (std::size_t i = 0; i < part.count; ++i) {
            add_document<stride, n_words>(documents[i], codes + i * group_bytes, bins);
        }
        return;
    }
    const std::size_t n_with_prefetch = part.count - std::min(part.count, rows_ahead);
    for (std::size_t i = 0; i < n_with_prefetch; ++i) {
        __builtin_prefetch(codes + part.rows[i + rows_ahead] * group_bytes);
        add_document<stride, n_words>(documents[i], codes + part.rows[i] * group_bytes, bins);
    }
    for (std::size_t i = n_with_prefetch; i < part.count; ++i) {
        add_document<stride, n_words>(documents[i], codes + part.rows[i] * group_bytes, bins);
    }
}

template <std::size_t n_words>
void add_bytes(std::size_t stride, const std::uint8_t *codes, RowRun part, const std::uint64_t *documents,
               std::uint64_t *bins) {
    switch (stride) {
    case strides[0]:
        return add_bytes<strides[0], n_words>(codes, part, documents, bins);
    case strides[1]:
        return add_bytes<strides[1], n_words>(codes, part, documents, bins);
    case strides[2]:
        return add_bytes<strides[2], n_words>(codes, part, documents, bins);
    default:
        return add_bytes<strides[3], n_words>(codes, part, documents, bins);
    }
}

// Adds each document to the bins of `n` features in the given slots.
template <std::size_t n, typename Code>
void add_some(const std::uint8_t *slots, std::size_t stride, const Code *codes, RowRun part,
              const std::uint64_t *documents, std::uint64_t *bins) {
    for (std::size_t i = 0; i < part.count; ++i) {
        const Code *row = codes + part[i] * Codes<Code>::slots;
        for (std::size_t k = 0; k < n; ++k) bins[slots[k] * stride + row[slots[k]]] += documents[i];
    }
}

template <typename Code>
void add_slots(std::span<const std::uint8_t> slots, std::size_t stride, const Code *codes, RowRun part,
               const std::uint64_t *documents, std::uint64_t *bins) {
    for (; slots.size() >= 4; slots = slots.subspan(4)) add_some<4>(slots.data(), stride, codes, part, documents, bins);
    if (slots.size() == 3) add_some<3>(slots.data(), stride, codes, part, documents, bins);
    if (slots.size() == 2) add_some<2>(slots.data(), stride, codes, part, documents, bins);
    if (slots.size() == 1) add_some<1>(slots.data(), stride, codes, part, documents, bins);
}

// Adds narrow bins to wide ones.
struct AddWidened {
    [[gnu::always_inline]] static void run(std::size_t n, const std::uint64_t *narrow, std::uint64_t *gradient,
                                           std::uint64_t *rest) {
        for (std::size_t i = 0; i < n; ++i) {
            const Wide wide = widened({narrow[i]});
            gradient[i] += static_cast<std::uint64_t>(wide.gradient);
            rest[i] += wide.rest;
        }
    }
};

struct SubtractWidened {
    [[gnu::always_inline]] static void run(std::size_t n, std::uint64_t *gradient, std::uint64_t *rest,
                                           const std::uint64_t *narrow) {
        for (std::size_t i = 0; i < n; ++i) {
            const Wide wide = widened({narrow[i]});
            gradient[i] -= static_cast<std::uint64_t>(wide.gradient);
            rest[i] -= wide.rest;
        }
    }
};

// Wide bins less narrow ones, where the rest has few enough documents to be narrow; it is stored over the gradients.
struct SubtractAndNarrow {
    [[gnu::always_inline]] static void run(std::size_t n, std::uint64_t *gradient, const std::uint64_t *rest,
                                           const std::uint64_t *narrow) {
        for (std::size_t i = 0; i < n; ++i) {
            gradient[i] = narrowed({static_cast<std::int64_t>(gradient[i]), rest[i]}).word - narrow[i];
        }
    }
};

} // namespace

HistogramLayout::HistogramLayout(std::span<const std::int64_t> n_bins, std::span<const bool> asked, std::size_t slots,
                                 bool with_wide_bins) {
    for (std::size_t first = 0; first < n_bins.size(); first += slots) {
        const std::size_t n_features = std::min(slots, n_bins.size() - first);
        const auto most = static_cast<std::size_t>(std::ranges::max(n_bins.subspan(first, n_features)));
        const std::size_t n_codes = most + 1; // with that of missing values
        const auto *known = std::ranges::find_if(strides, [&](std::size_t stride) { return n_codes + 8 <= stride; });
        const bool bytes = slots == group_bytes;
        Group group{n_words, bytes ? *known : (n_codes + 15) / 8 * 8, n_features, {}};
        if (bytes) group.n_slots = n_features <= 8 ? 8 : 16;
        for (std::size_t slot = 0; slot < n_features; ++slot) {
            if (asked[first + slot]) group.asked.push_back(static_cast<std::uint8_t>(slot));
        }
        n_words += group.n_bins() * (with_wide_bins ? 2 : 1);
        groups.push_back(std::move(group));
    }
}

template <typename Code>
HistogramBuilder<Code>::HistogramBuilder(Codes<const Code> codes, std::span<const std::int32_t> quantised,
                                         const HistogramLayout &layout, Simd simd)
    : codes_(codes), quantised_(quantised), layout_(layout), simd_(simd), documents_(Packed::max_count) {
    std::size_t most = 0;
    for (const auto &group : layout_.groups) most = std::max(most, group.n_bins());
    scratch_.resize(most);
}

template <typename Code> void HistogramBuilder<Code>::unpack_documents(RowRun part) {
    for (std::size_t i = 0; i < part.count; ++i) documents_[i] = Packed::of_document(quantised_[part[i]]).word;
}

template <typename Code> void HistogramBuilder<Code>::sum(std::size_t number, RowRun part, std::uint64_t *bins) const {
    const auto &group = layout_.groups[number];
    std::fill_n(bins, group.n_bins(), std::uint64_t{0});
    const Code *own = codes_.group(number);
    if constexpr (sizeof(Code) == 1) {
        if (2 * group.asked.size() > group.n_slots) {
            if (group.n_slots == 8) return add_bytes<1>(group.stride, own, part, documents_.data(), bins);
            return add_bytes<2>(group.stride, own, part, documents_.data(), bins);
        }
    }
    add_slots<Code>(group.asked, group.stride, own, part, documents_.data(), bins);
}

template <typename Code>
void HistogramBuilder<Code>::build(RowRun rows, bool wide, std::size_t first, std::size_t last,
                                   std::uint64_t *histogram) {
    constexpr std::size_t chunk = Packed::max_count;
    if (rows.count == 0) { // of a leaf whose documents are all elsewhere
        for (std::size_t number = first; number < last; ++number) {
            const auto &group = layout_.groups[number];
            std::fill_n(histogram + group.base, group.n_bins() * (wide ? 2 : 1), std::uint64_t{0});
        }
    }
    for (std::size_t begin = 0; begin < rows.count; begin += chunk) {
        const RowRun part = rows.part(begin, std::min(chunk, rows.count - begin));
        unpack_documents(part);
        for (std::size_t number = first; number < last; ++number) {
            const auto &group = layout_.groups[number];
            if (group.asked.empty()) continue;
            std::uint64_t *bins = histogram + group.base;
            if (!wide) {
                sum(number, part, bins);
                continue;
            }
            sum(number, part, scratch_.data());
            if (begin == 0) std::fill_n(bins, 2 * group.n_bins(), std::uint64_t{0});
            run_for<AddWidened>(simd_, group.n_bins(), scratch_.data(), bins, bins + group.n_bins());
        }
    }
}

template class HistogramBuilder<std::uint8_t>;
template class HistogramBuilder<std::uint16_t>;

void add_histogram(const HistogramLayout::Group &group, std::uint64_t *leaf, const std::uint64_t *others, bool wide,
                   Simd simd) {
    run_for<AddWords>(simd, group.n_bins() * (wide ? 2 : 1), leaf + group.base, others + group.base);
}

void subtract(const HistogramLayout::Group &group, std::uint64_t *leaf, const std::uint64_t *child, std::size_t n_leaf,
              std::size_t n_child, Simd simd) {
    constexpr std::size_t few = Packed::max_count;
    const std::size_t n = group.n_bins();
    leaf += group.base;
    child += group.base;
    if (n_leaf <= few) return run_for<SubtractWords>(simd, n, leaf, child);
    if (n_child > few) return run_for<SubtractWords>(simd, 2 * n, leaf, child);
    if (n_leaf - n_child > few) return run_for<SubtractWidened>(simd, n, leaf, leaf + n, child);
    run_for<SubtractAndNarrow>(simd, n, leaf, leaf + n, child);
}

} // namespace rankwright
