#include "core/trees/histogram.hpp"

#include "core/trees/words.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace rankwright {

namespace {

// Rows are summed a thousand at a time, group after group of features, and meanwhile the next ones are asked from
// memory. Codes of both in so many groups, and the bins of these, fit the second-level cache.
constexpr std::size_t rows_at_a_time = 1024, groups_at_a_time = 12;
constexpr std::size_t rows_near = 16;    // asked for the first-level cache before they are needed
constexpr std::size_t forces_ahead = 64; // the same, of forces, which are a few bytes each
constexpr std::size_t vector_words = 8;  // read and written past the end of rows

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

// What is asked from memory while some rows are summed: of these themselves, `n_near` lines shortly before they are
// needed, and in between, evenly, `n_lines` lines of `later` rows.
struct Ahead {
    RowPlaces places;
    std::size_t n_near, n_lines;
    std::span<const std::uint32_t> later;
};

template <std::size_t stride, std::size_t n_words>
void add_bytes(RowPlaces codes, Summands summands, const Ahead &ahead, std::uint64_t *bins) {
    const auto [rows, documents] = summands;
    const std::size_t n = rows.size(), n_between = n / (ahead.later.size() + 1) + 1;
    auto later = ahead.later.begin();
    for (std::size_t begin = 0; begin < n; begin += n_between) {
        if (later != ahead.later.end()) ahead.places.ask(*later++, ahead.n_lines);
        const std::size_t end = std::min(begin + n_between, n);
        for (std::size_t i = begin; i < end; ++i) {
            codes.ask(rows[std::min(i + rows_near, n - 1)], ahead.n_near);
            add_document<stride, n_words>(documents[i], codes.at(rows[i]), bins);
        }
    }
    while (later != ahead.later.end()) ahead.places.ask(*later++, ahead.n_lines);
}

template <std::size_t n_words>
void add_bytes(std::size_t stride, RowPlaces codes, Summands summands, const Ahead &ahead, std::uint64_t *bins) {
    switch (stride) {
    case strides[0]:
        return add_bytes<strides[0], n_words>(codes, summands, ahead, bins);
    case strides[1]:
        return add_bytes<strides[1], n_words>(codes, summands, ahead, bins);
    case strides[2]:
        return add_bytes<strides[2], n_words>(codes, summands, ahead, bins);
    default:
        return add_bytes<strides[3], n_words>(codes, summands, ahead, bins);
    }
}

// Adds each document to the bins of `n` features in the given slots.
template <std::size_t n, typename Code>
void add_some(const std::uint8_t *slots, std::size_t stride, RowPlaces codes, Summands summands, std::uint64_t *bins) {
    for (std::size_t i = 0; i < summands.rows.size(); ++i) {
        const Code *row = reinterpret_cast<const Code *>(codes.at(summands.rows[i]));
        for (std::size_t k = 0; k < n; ++k) bins[slots[k] * stride + row[slots[k]]] += summands.documents[i];
    }
}

template <typename Code>
void add_slots(std::span<const std::uint8_t> slots, std::size_t stride, RowPlaces codes, Summands summands,
               std::uint64_t *bins) {
    for (; slots.size() >= 4; slots = slots.subspan(4)) add_some<4, Code>(slots.data(), stride, codes, summands, bins);
    if (slots.size() == 3) add_some<3, Code>(slots.data(), stride, codes, summands, bins);
    if (slots.size() == 2) add_some<2, Code>(slots.data(), stride, codes, summands, bins);
    if (slots.size() == 1) add_some<1, Code>(slots.data(), stride, codes, summands, bins);
}

// Adds the documents of some rows to the bins of a group.
template <typename Code>
void add_group(const HistogramLayout::Group &group, RowPlaces codes, Summands summands, const Ahead &ahead,
               std::uint64_t *bins) {
    if constexpr (sizeof(Code) == 1) {
        if (2 * group.asked.size() > group.n_slots) {
            if (group.n_slots == 8) return add_bytes<1>(group.stride, codes, summands, ahead, bins);
            return add_bytes<2>(group.stride, codes, summands, ahead, bins);
        }
    }
    add_slots<Code>(group.asked, group.stride, codes, summands, bins);
}

// Copies the rows whose word has the bit, with their documents, and returns how many there are.
std::size_t keep_rows_plain(Summands all, const std::uint64_t *words, std::uint64_t bit, std::uint32_t *rows,
                            std::uint64_t *documents) {
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < all.rows.size(); ++i) {
        rows[n_kept] = all.rows[i];
        documents[n_kept] = all.documents[i];
        n_kept += (words[i] & bit) != 0;
    }
    return n_kept;
}

#ifdef RANKWRIGHT_X86

// The same, eight rows at a time; it writes up to seven more than there are, and reads as many.
[[gnu::target("avx512f,avx512vl,popcnt")]] std::size_t keep_rows_avx512(Summands all, const std::uint64_t *words,
                                                                        std::uint64_t bit, std::uint32_t *rows,
                                                                        std::uint64_t *documents) {
    const __m512i wanted = _mm512_set1_epi64(static_cast<long long>(bit));
    std::size_t n_kept = 0;
    for (std::size_t i = 0; i < all.rows.size(); i += 8) {
        __mmask8 kept = _mm512_test_epi64_mask(_mm512_loadu_si512(words + i), wanted);
        if (all.rows.size() - i < 8) kept &= static_cast<__mmask8>((1u << (all.rows.size() - i)) - 1);
        const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(all.rows.data() + i));
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(rows + n_kept), _mm256_maskz_compress_epi32(kept, own));
        _mm512_storeu_si512(documents + n_kept,
                            _mm512_maskz_compress_epi64(kept, _mm512_loadu_si512(all.documents + i)));
        n_kept += static_cast<std::size_t>(__builtin_popcount(kept));
    }
    return n_kept;
}

#endif

std::uint64_t sum_of(std::span<const std::uint64_t> words) {
    return std::accumulate(words.begin(), words.end(), std::uint64_t{0});
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
                                 bool with_wide_bins, std::span<const std::int32_t> features)
    : n_slots_of_group(slots), feature_of_place(features.begin(), features.end()), place_of_feature(n_bins.size()) {
    if (features.empty()) {
        feature_of_place.resize(n_bins.size());
        std::iota(feature_of_place.begin(), feature_of_place.end(), 0);
    }
    for (std::size_t first = 0; first < feature_of_place.size(); first += slots) {
        add_group(n_bins, asked, first, std::min(slots, feature_of_place.size() - first), with_wide_bins);
    }
}

void HistogramLayout::add_group(std::span<const std::int64_t> n_bins, std::span<const bool> asked, std::size_t first,
                                std::size_t n_places, bool with_wide_bins) {
    Group group{n_words, 0, n_places, {}};
    std::size_t n_codes = 1; // with that of missing values
    for (std::size_t slot = 0; slot < n_places; ++slot) {
        if (feature_of_place[first + slot] < 0) continue;
        const auto feature = static_cast<std::size_t>(feature_of_place[first + slot]);
        place_of_feature[feature] = first + slot;
        n_codes = std::max(n_codes, static_cast<std::size_t>(n_bins[feature]) + 1);
        if (asked[feature]) group.asked.push_back(static_cast<std::uint8_t>(slot));
    }
    if (n_slots_of_group == group_bytes) {
        group.stride = *std::ranges::find_if(strides, [&](std::size_t stride) { return n_codes + 8 <= stride; });
        group.n_slots = n_places <= 8 ? 8 : 16;
    } else {
        group.stride = (n_codes + 15) / 8 * 8;
    }
    n_words += group.n_bins() * (with_wide_bins ? 2 : 1);
    groups.push_back(std::move(group));
}

template <typename Code>
HistogramBuilder<Code>::HistogramBuilder(Codes<const Code> codes, const ArrangedRows &arranged,
                                         std::span<const std::int32_t> quantised, const HistogramLayout &layout,
                                         Simd simd)
    : codes_(codes), arranged_(arranged), quantised_(quantised), layout_(layout), simd_(simd),
      rows_(Packed::max_count + vector_words), documents_(rows_.size()), unusual_(rows_at_a_time + vector_words),
      kept_rows_(unusual_.size()), kept_documents_(unusual_.size()) {
    std::size_t most = 0;
    for (const auto &group : layout_.groups) most = std::max(most, group.n_bins());
    // Groups share a pass over rows where their codes lie together; alone, a group needs little memory.
    groups_in_pass_ = arranged_.features.empty() ? 1 : std::min(groups_at_a_time, layout_.groups.size());
    scratch_.resize(most * groups_in_pass_);
}

template <typename Code> std::pair<std::size_t, std::size_t> HistogramBuilder<Code>::load(RowRun rows, bool all) {
    constexpr std::size_t most = Packed::max_count;
    std::size_t n_taken = 0, n_listed = 0;
    while (n_taken < rows.count && n_listed < most) {
        const std::size_t end = n_taken + std::min(rows.count - n_taken, most - n_listed);
        for (; n_taken < end; ++n_taken) { // rows that are not listed are written, and then written over
            __builtin_prefetch(&quantised_[rows[std::min(n_taken + forces_ahead, rows.count - 1)]]);
            const std::size_t row = rows[n_taken];
            rows_[n_listed] = static_cast<std::uint32_t>(row);
            documents_[n_listed] = Packed::of_document(quantised_[row]).word;
            n_listed += all | (quantised_[row] != 0);
        }
    }
    return {n_taken, n_listed};
}

template <typename Code> RowPlaces HistogramBuilder<Code>::places_of(std::size_t group) const {
    if (!arranged_.empty()) return {arranged_.bytes.data() + group * group_bytes, arranged_.pitch};
    return {reinterpret_cast<const std::uint8_t *>(codes_.group(group)), group_bytes};
}

template <typename Code> void HistogramBuilder<Code>::load_unusual(std::span<const std::uint32_t> rows, bool asked) {
    const RowPlaces whole{arranged_.bytes.data(), arranged_.pitch}, words{arranged_.unusual(), arranged_.pitch};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!asked)
            whole.ask(rows[std::min(i + rows_near, rows.size() - 1)], arranged_.pitch / RowPlaces::line_bytes + 1);
        std::memcpy(&unusual_[i], words.at(rows[i]), sizeof(unusual_[i]));
    }
}

// The rows of `all` that have an unusual code in the group, where it may be skipped; the documents of others are added
// to the bins of usual codes.
template <typename Code>
Summands HistogramBuilder<Code>::kept_of(Summands all, std::size_t number, std::uint64_t *bins) {
    if (number >= arranged_.n_skipping) return all;
    const std::uint64_t bit = std::uint64_t{1} << number;
    const auto keep = [&](auto keep_rows) {
        return keep_rows(all, unusual_.data(), bit, kept_rows_.data(), kept_documents_.data());
    };
#ifdef RANKWRIGHT_X86
    const std::size_t n_kept = simd_ == Simd::avx512 ? keep(keep_rows_avx512) : keep(keep_rows_plain);
#else
    const std::size_t n_kept = keep(keep_rows_plain);
#endif
    const std::uint64_t skipped = sum_of({all.documents, all.rows.size()}) - sum_of({kept_documents_.data(), n_kept});
    const auto &group = layout_.groups[number];
    for (const std::uint8_t slot : group.asked) {
        bins[slot * group.stride + arranged_.usual[number * group_bytes + slot]] += skipped;
    }
    return {{kept_rows_.data(), n_kept}, kept_documents_.data()};
}

template <typename Code> void HistogramBuilder<Code>::sum(std::span<const Target> targets, std::size_t n_rows) {
    const std::size_t n_passes = targets.size(), first = targets.front().group;
    const std::size_t n_lines = (targets.back().group + 1 - first) * group_bytes / RowPlaces::line_bytes + 1;
    const bool skips = first < arranged_.n_skipping;
    for (std::size_t begin = 0; begin < n_rows; begin += rows_at_a_time) {
        const std::size_t n_own = std::min(rows_at_a_time, n_rows - begin), end = begin + n_own;
        const std::span<const std::uint32_t> later(rows_.data() + end, std::min(rows_at_a_time, n_rows - end));
        const Summands own{{rows_.data() + begin, n_own}, documents_.data() + begin};
        if (skips) load_unusual(own.rows, begin > 0);
        for (std::size_t pass = 0; pass < n_passes; ++pass) {
            const auto [number, bins] = targets[pass];
            const RowPlaces codes = places_of(number);
            Ahead ahead{codes, 1, 1, later};
            if (!arranged_.empty()) { // one pass after another asks for whole rows
                const std::size_t from = later.size() * pass / n_passes, to = later.size() * (pass + 1) / n_passes;
                ahead = {places_of(first), begin + pass > 0 || skips ? 1 : n_lines, n_lines,
                         later.subspan(from, to - from)};
            }
            add_group<Code>(layout_.groups[number], codes, kept_of(own, number, bins), ahead, bins);
        }
    }
}

template <typename Code>
void HistogramBuilder<Code>::build(RowRun rows, bool wide, std::size_t first, std::size_t last,
                                   std::uint64_t *histogram) {
    for (std::size_t number = first; number < last; ++number) {
        const auto &group = layout_.groups[number];
        if (group.asked.empty()) continue;
        std::fill_n(histogram + group.base, group.n_bins() * (wide ? 2 : 1), std::uint64_t{0});
    }
    const bool all = !knows_counts(rows, wide);
    for (std::size_t begin = 0; begin < rows.count;) {
        const auto [n_taken, n_listed] = load(rows.part(begin, rows.count - begin), all);
        begin += n_taken;
        for (std::size_t number = first; number < last; number += groups_in_pass_) {
            add_part(n_listed, wide, number, std::min(last, number + groups_in_pass_), histogram);
        }
    }
}

template <typename Code> void HistogramBuilder<Code>::set_counts(std::size_t number, std::uint64_t *histogram) const {
    const auto &group = layout_.groups[number];
    constexpr std::uint64_t count_bits = Wide::max_count;
    for (const std::uint8_t slot : group.asked) {
        const std::size_t n_codes = std::min(group.stride, ArrangedRows::n_byte_codes);
        const std::uint32_t *counts = &arranged_.counts[(number * group_bytes + slot) * ArrangedRows::n_byte_codes];
        std::uint64_t *rest = histogram + group.base + group.n_bins() + slot * group.stride;
        for (std::size_t code = 0; code < n_codes; ++code) rest[code] = (rest[code] & ~count_bits) | counts[code];
    }
}

template <typename Code>
void HistogramBuilder<Code>::add_part(std::size_t n_rows, bool wide, std::size_t first, std::size_t last,
                                      std::uint64_t *histogram) {
    std::array<Target, groups_at_a_time> targets;
    std::size_t n_targets = 0, n_used = 0;
    for (std::size_t number = first; number < last; ++number) {
        const auto &group = layout_.groups[number];
        if (group.asked.empty()) continue;
        targets[n_targets++] = {number, wide ? scratch_.data() + n_used : histogram + group.base};
        n_used += group.n_bins();
    }
    if (n_targets == 0) return;
    if (wide) std::fill_n(scratch_.data(), n_used, std::uint64_t{0});
    const std::span<const Target> all(targets.data(), n_targets);
    sum(all, n_rows);
    if (!wide) return;
    for (const auto &[number, sums] : all) {
        const auto &group = layout_.groups[number];
        std::uint64_t *bins = histogram + group.base;
        run_for<AddWidened>(simd_, group.n_bins(), sums, bins, bins + group.n_bins());
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
