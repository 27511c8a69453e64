#include <algorithm>
#include <vector>

#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"
#include "core/candidates/search.hpp"
#include "core/candidates/vector_search.hpp"

namespace rankwright {

namespace {

template <typename T> std::vector<std::span<const T>> views(nb::handle record, const char *name) {
    std::vector<std::span<const T>> found;
    for (const nb::handle array : nb::sequence(record.attr(name))) found.push_back(view(nb::cast<In<T>>(array, false)));
    return found;
}

// The counts of a field, whatever their width.
FieldCounts counts_of(nb::handle array) {
    if (In<std::uint8_t> narrow; nb::try_cast(array, narrow, false)) return {view(narrow), {}, {}};
    if (In<std::uint16_t> middle; nb::try_cast(array, middle, false)) return {{}, view(middle), {}};
    return {{}, {}, view(nb::cast<In<std::uint32_t>>(array, false))};
}

} // namespace

template <> struct Reader<SegmentPostings> {
    static SegmentPostings read(nb::handle postings) {
        std::vector<FieldCounts> counts;
        for (const nb::handle array : nb::sequence(postings.attr("counts"))) counts.push_back(counts_of(array));
        return {view<std::int64_t>(postings, "starts"),
                view<std::uint32_t>(postings, "documents"),
                std::move(counts),
                views<std::int32_t>(postings, "lengths"),
                view<std::int64_t>(postings, "block_starts"),
                views<std::uint32_t>(postings, "block_most"),
                views<std::uint32_t>(postings, "block_least")};
    }
};

template <> struct Reader<SegmentStreams> {
    static SegmentStreams read(nb::handle streams) {
        return {views<std::int64_t>(streams, "offsets"), views<std::uint32_t>(streams, "tokens")};
    }
};

template <> struct Reader<QueryTerms> {
    static QueryTerms read(nb::handle queries) {
        return {view<std::int64_t>(queries, "starts"), view<std::uint32_t>(queries, "terms"),
                view<double>(queries, "weights"), view<double>(queries, "rarities"), view<double>(queries, "lengths")};
    }
};

template <> struct Reader<QueryPhrases> {
    static QueryPhrases read(nb::handle phrases) {
        return {view<std::int64_t>(phrases, "starts"), view<std::int64_t>(phrases, "term_starts"),
                view<std::uint32_t>(phrases, "terms")};
    }
};

template <> struct Reader<TextScorer> {
    static TextScorer read(nb::handle scorer) {
        constexpr std::pair<std::string_view, TextModel> models[] = {{"bm25", TextModel::bm25},
                                                                     {"bm25f", TextModel::bm25f},
                                                                     {"dirichlet", TextModel::dirichlet},
                                                                     {"dph", TextModel::dph}};
        return {named(field<std::string_view>(scorer, "model"), models),
                field<double>(scorer, "saturation"),
                view<double>(scorer, "bases"),
                view<double>(scorer, "slopes"),
                view<double>(scorer, "weights"),
                field<double>(scorer, "smoothing"),
                field<double>(scorer, "mean_length"),
                field<double>(scorer, "least_length")};
    }
};

template <> struct Reader<TopDocuments> {
    static TopDocuments read(nb::handle tops) {
        return {fill(field<OutMatrix<double>>(tops, "scores")), fill(field<OutMatrix<std::int64_t>>(tops, "documents")),
                fill<std::int64_t>(tops, "sizes")};
    }
};

namespace {

bool rises_to(std::span<const std::int64_t> starts, std::size_t n) {
    return !starts.empty() && starts.front() == 0 && starts.back() == static_cast<std::int64_t>(n) &&
           std::is_sorted(starts.begin(), starts.end());
}

// Starts of terms are checked by Segment.starts once, and not in each call: there are millions.
void require_postings(const SegmentPostings &postings, const TextScorer &scorer) {
    const std::size_t n_fields = postings.n_fields(), n = postings.documents.size();
    require(n_fields > 0, "a field must be searched");
    require_offsets("starts", postings.starts, n);
    require_size("block_starts", postings.block_starts.size(), postings.starts.size());
    const auto n_blocks = static_cast<std::size_t>(postings.block_starts.back());
    for (const FieldCounts &counts : postings.counts) require_size("counts", counts.size(), n);
    for (const auto *bounds : {&postings.block_most, &postings.block_least}) {
        require_size("bounds", bounds->size(), n_fields);
        for (const auto &blocks : *bounds) require_size("bounds of blocks", blocks.size(), n_blocks);
    }
    const bool by_field = scorer.model == TextModel::bm25f;
    require_size("lengths", postings.lengths.size(), by_field ? n_fields : 1);
    for (const auto &lengths : postings.lengths) require_size("lengths", lengths.size(), postings.n_documents());
    for (const auto &numbers : {scorer.bases, scorer.slopes, scorer.weights})
        require_size("numbers of fields", numbers.size(), by_field ? n_fields : 1);
}

void require_phrases(const QueryPhrases &phrases, const SegmentStreams &streams, std::size_t n_queries,
                     std::size_t n_documents) {
    if (phrases.starts.empty()) return;
    require_size("phrases.starts", phrases.starts.size(), n_queries + 1);
    require(!phrases.term_starts.empty() && rises_to(phrases.starts, phrases.term_starts.size() - 1) &&
                rises_to(phrases.term_starts, phrases.terms.size()),
            "starts of phrases must rise");
    require_size("streams", streams.offsets.size(), streams.tokens.size());
    for (std::size_t field = 0; field < streams.offsets.size(); ++field) {
        require_size("offsets", streams.offsets[field].size(), n_documents + 1);
        require(rises_to(streams.offsets[field], streams.tokens[field].size()), "offsets of streams must rise");
    }
}

void require_rows(const TopDocuments &tops) {
    require_size("documents", tops.documents.size(), tops.scores.size());
    require(tops.sizes.empty() || tops.scores.size() % tops.sizes.size() == 0, "tops must have a row for each query");
    for (const std::int64_t size : tops.sizes)
        require(size >= 0 && static_cast<std::size_t>(size) <= tops.k(), "sizes must lie within rows");
}

void top_documents_of(SegmentPostings postings, SegmentStreams streams, QueryTerms queries, QueryPhrases phrases,
                      TextScorer scorer, In<std::uint8_t> kept, std::int64_t first, TopDocuments tops, int threads) {
    require_postings(postings, scorer);
    require_size_or_none("kept", kept.size(), postings.n_documents());
    require(rises_to(queries.starts, queries.terms.size()), "starts of queries must rise to the number of terms");
    for (const std::size_t size : {queries.weights.size(), queries.rarities.size()})
        require_size("weights", size, queries.terms.size());
    for (const std::size_t size : {queries.lengths.size(), tops.sizes.size()})
        require_size("queries", size, queries.size());
    require_rows(tops);
    require_phrases(phrases, streams, queries.size(), postings.n_documents());
    top_documents(postings, streams, queries, phrases, scorer, view(kept), first, tops, threads);
}

void top_vectors_of(InMatrix<float> vectors, In<double> scales, InMatrix<double> queries, In<std::uint8_t> kept,
                    TopDocuments tops, int threads) {
    require_size("columns of the queries", queries.shape(1), vectors.shape(1));
    require_size("tops", tops.sizes.size(), queries.shape(0));
    require_size_or_none("scales", scales.size(), vectors.shape(0));
    require_size_or_none("kept", kept.size(), vectors.shape(0));
    require_rows(tops);
    top_vectors({view(vectors), vectors.shape(1), view(scales)}, view(queries), view(kept), tops, threads);
}

} // namespace

void bind_candidates(nb::module_ &module) {
    define(module, "top_documents",
           {"postings", "streams", "queries", "phrases", "scorer", "kept", "first", "tops", "threads"},
           top_documents_of);
    define(module, "top_vectors", {"vectors", "scales", "queries", "kept", "tops", "threads"}, top_vectors_of);
}

} // namespace rankwright
