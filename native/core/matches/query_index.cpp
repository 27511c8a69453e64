#include "core/matches/query_index.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/common/elementary.hpp"

namespace rankwright {

namespace {

#ifdef RANKWRIGHT_X86
// Calls found(place) for each of the tokens that is one of the numbers, in the order of the places.
template <typename Found>
[[gnu::target("avx512f")]] void find_avx512(std::span<const std::uint32_t> tokens,
                                            std::span<const std::uint32_t> numbers, Found found) {
    for (std::size_t first = 0; first < tokens.size(); first += 16) {
        const std::size_t n = std::min<std::size_t>(16, tokens.size() - first);
        const auto there = static_cast<__mmask16>((1U << n) - 1);
        const __m512i some = _mm512_maskz_loadu_epi32(there, tokens.data() + first);
        __mmask16 equal = 0;
        for (const std::uint32_t number : numbers)
            equal |= _mm512_cmpeq_epi32_mask(some, _mm512_set1_epi32(static_cast<int>(number)));
        for (unsigned rest = equal & there; rest != 0; rest &= rest - 1)
            found(first + static_cast<std::size_t>(std::countr_zero(rest)));
    }
}

template <typename Found>
[[gnu::target("avx2")]] void find_avx2(std::span<const std::uint32_t> tokens, std::span<const std::uint32_t> numbers,
                                       Found found) {
    std::size_t first = 0;
    for (; first + 8 <= tokens.size(); first += 8) {
        __m256i some;
        std::memcpy(&some, tokens.data() + first, sizeof(some));
        __m256i equal = _mm256_setzero_si256();
        for (const std::uint32_t number : numbers)
            equal = _mm256_or_si256(equal, _mm256_cmpeq_epi32(some, _mm256_set1_epi32(static_cast<int>(number))));
        auto rest = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
        for (; rest != 0; rest &= rest - 1) found(first + static_cast<std::size_t>(std::countr_zero(rest)));
    }
    for (; first < tokens.size(); ++first)
        if (std::find(numbers.begin(), numbers.end(), tokens[first]) != numbers.end()) found(first);
}
#endif

struct CountToken {
    [[gnu::always_inline]] static void run(const std::uint32_t *tokens, std::size_t n, std::uint32_t wanted,
                                           std::uint32_t *count) {
        std::uint32_t found = 0;
        for (std::size_t place = 0; place < n; ++place) found += tokens[place] == wanted ? 1 : 0;
        *count = found;
    }
};

} // namespace

void TermFinder::count_all(std::span<const std::uint32_t> tokens, double *counts, std::size_t stride) const {
    constexpr std::size_t few = 8;
    for (std::size_t k = 0; k < known_.size() && known_.size() <= few; ++k) {
        std::uint32_t n = 0;
        run_for<CountToken>(simd_, tokens.data(), tokens.size(), known_[k], &n);
        counts[known_terms_[k] * stride] = n;
    }
    if (known_.size() <= few) return;
    for (const std::uint32_t token : tokens) {
        const std::int64_t term = may_have(token) ? find(token) : -1;
        if (term >= 0) counts[term * stride] += 1.0;
    }
}

void TermFinder::find_all(std::span<const std::uint32_t> tokens, std::vector<Occurrence> &found) const {
    const auto take = [&](std::size_t place) {
        const std::int64_t term = find(tokens[place]);
        if (term >= 0) found.push_back({static_cast<std::int64_t>(place), term});
    };
#ifdef RANKWRIGHT_X86
    if (simd_ == Simd::avx512 && known_.size() <= 32) return find_avx512(tokens, known_, take);
    if (simd_ == Simd::avx2 && known_.size() <= 12) return find_avx2(tokens, known_, take);
#endif
    for (std::size_t place = 0; place < tokens.size(); ++place)
        if (may_have(tokens[place])) take(place);
}

void TermFinder::set(std::span<const std::uint32_t> numbers) {
    std::size_t size = 16;
    while (size < 4 * numbers.size()) size *= 2;
    slots_.assign(size, {no_term, -1});
    for (const std::uint32_t number : known_) may_have_[number % n_endings] = false;
    known_.clear();
    known_terms_.clear();
    mask_ = size - 1;
    for (std::size_t term = 0; term < numbers.size(); ++term) {
        if (numbers[term] == no_term) continue;
        known_.push_back(numbers[term]);
        known_terms_.push_back(term);
        may_have_[numbers[term] % n_endings] = true;
        std::size_t slot = hash(numbers[term]);
        while (slots_[slot].number != no_term) slot = (slot + 1) & mask_;
        slots_[slot] = {numbers[term], static_cast<std::int32_t>(term)};
    }
}

void QueryIndex::set_places(std::span<const std::int64_t> places, std::size_t n_terms) {
    places_ = places;
    place_starts_.assign(n_terms + 1, 0);
    for (const std::int64_t term : places) ++place_starts_[term + 1];
    counts_.resize(n_terms);
    for (std::size_t term = 0; term < n_terms; ++term) {
        counts_[term] = static_cast<double>(place_starts_[term + 1]);
        place_starts_[term + 1] += place_starts_[term];
    }
    places_by_term_.resize(places.size());
    std::vector<std::int64_t> next(place_starts_.begin(), place_starts_.end() - 1);
    for (std::size_t place = 0; place < places.size(); ++place) {
        places_by_term_[next[places[place]]++] = static_cast<std::int64_t>(place);
    }
}

void QueryIndex::set(const MatchedTerms &queries, std::size_t query, const StreamViews &views) {
    const std::size_t first = queries.starts[query], n_terms = queries.starts[query + 1] - first;
    const std::size_t first_place = queries.place_starts[query];
    finder_.set(queries.numbers.subspan(first, n_terms));
    set_places(queries.places.subspan(first_place, queries.place_starts[query + 1] - first_place), n_terms);
    const std::size_t n_views = views.size();
    for (auto *values : {&idf_, &share_, &collection_count_}) values->resize(n_views * n_terms);
    for (std::size_t view = 0; view < n_views; ++view) {
        for (std::size_t term = 0; term < n_terms; ++term) {
            const std::size_t from = (first + term) * n_views + view, to = view * n_terms + term;
            const double frequency = queries.document_frequencies[from];
            idf_[to] = log_of(1.0 + (views.n_documents - frequency + 0.5) / (frequency + 0.5));
            collection_count_[to] = queries.collection_counts[from];
            share_[to] = views.tokens[view] > 0 ? collection_count_[to] / views.tokens[view] : 0.0;
        }
    }
}

bool QueryIndex::follows(std::int64_t first, std::int64_t second) const {
    const std::span<const std::int64_t> own = places_of(first);
    return std::any_of(own.begin(), own.end(), [&](std::int64_t place) {
        return place + 1 < static_cast<std::int64_t>(places_.size()) && places_[place + 1] == second;
    });
}

} // namespace rankwright
