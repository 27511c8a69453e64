#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "core/matches/link_ranks.hpp"
#include "core/matches/text_features.hpp"

#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"

namespace rankwright {

template <> struct Reader<TokenStream> {
    static TokenStream read(nb::handle stream) {
        return {view<std::int64_t>(stream, "offsets"), view<std::uint32_t>(stream, "tokens")};
    }
};

template <> struct Reader<StreamViews> {
    static StreamViews read(nb::handle views) {
        return {view<std::int64_t>(views, "starts"),
                view<std::int64_t>(views, "members"),
                view<double>(views, "tokens"),
                view<double>(views, "mean_lengths"),
                view<double>(views, "stream_mean_lengths"),
                field<double>(views, "n_documents")};
    }
};

template <> struct Reader<MatchedTerms> {
    static MatchedTerms read(nb::handle queries) {
        return {view<std::int64_t>(queries, "starts"),
                view<std::uint32_t>(queries, "numbers"),
                view(field<InMatrix<double>>(queries, "document_frequencies")),
                view(field<InMatrix<double>>(queries, "collection_counts")),
                view<std::int64_t>(queries, "place_starts"),
                view<std::int64_t>(queries, "places")};
    }
};

template <> struct Reader<QueryPairs> {
    static QueryPairs read(nb::handle pairs) {
        return {view<std::int64_t>(pairs, "starts"), view<std::int64_t>(pairs, "documents")};
    }
};

template <> struct Reader<TextColumns> {
    static TextColumns read(nb::handle columns) {
        const auto settings = field<InMatrix<double>>(columns, "settings");
        return {field<std::vector<std::string>>(columns, "measures"), view<std::int64_t>(columns, "views"),
                view(settings), settings.shape(1), view<bool>(columns, "logs")};
    }
};

namespace {

void require_rising(const char *name, std::span<const std::int64_t> offsets, std::size_t n) {
    require_offsets(name, offsets, n);
    if (!std::is_sorted(offsets.begin(), offsets.end()))
        throw std::invalid_argument(std::string(name) + " must not fall");
}

void require_views(const StreamViews &views, std::size_t n_streams) {
    require_size("starts", views.starts.size(), views.size() + 1);
    require_rising("starts", views.starts, views.members.size());
    require_below("members", views.members, n_streams);
    require_size("tokens", views.tokens.size(), views.size());
    require_size("stream_mean_lengths", views.stream_mean_lengths.size(), n_streams);
}

void require_queries(const MatchedTerms &queries, std::size_t n_views) {
    require_rising("starts", queries.starts, queries.numbers.size());
    require_size("document_frequencies", queries.document_frequencies.size(), queries.numbers.size() * n_views);
    require_size("collection_counts", queries.collection_counts.size(), queries.numbers.size() * n_views);
    require_size("place_starts", queries.place_starts.size(), queries.starts.size());
    require_rising("place_starts", queries.place_starts, queries.places.size());
    for (std::size_t query = 0; query < queries.size(); ++query) {
        const std::int64_t first = queries.place_starts[query];
        require_below("places", queries.places.subspan(first, queries.place_starts[query + 1] - first),
                      queries.starts[query + 1] - queries.starts[query]);
    }
}

void require_documents(const std::vector<TokenStream> &streams, std::span<const std::int64_t> documents) {
    for (const TokenStream &stream : streams) {
        require(!stream.offsets.empty(), "offsets must not be empty");
        require_below("documents", documents, stream.offsets.size() - 1);
        for (const std::int64_t document : documents) {
            const std::int64_t begin = stream.offsets[document], end = stream.offsets[document + 1];
            require(begin >= 0 && begin <= end && end <= static_cast<std::int64_t>(stream.tokens.size()),
                    "offsets of a stream must rise and stay within its tokens");
        }
    }
}

void require_columns(const TextColumns &columns, const StreamViews &views) {
    require_size("views", columns.views.size(), columns.measures.size());
    require_size("logs", columns.logs.size(), columns.measures.size());
    require_size("settings", columns.settings.size(), columns.measures.size() * columns.width);
    require_below("views", columns.views, views.size());
    for (std::size_t k = 0; k < columns.measures.size(); ++k) {
        const std::size_t n_streams = views.streams_of(columns.views[k]).size();
        require(n_settings(columns.measures[k], n_streams) <= columns.width,
                "a column must have all settings of its measure");
    }
}

} // namespace

void bind_matches(nb::module_ &module) {
    define(module, "text_features", {"streams", "views", "queries", "pairs", "columns", "places", "out", "threads"},
           [](std::vector<TokenStream> streams, StreamViews views, MatchedTerms queries, QueryPairs pairs,
              TextColumns columns, In<std::int64_t> places, OutMatrix<float> out, int threads) {
               require_views(views, streams.size());
               require_queries(queries, views.size());
               require_size("starts", pairs.starts.size(), queries.starts.size());
               require_rising("starts", pairs.starts, pairs.documents.size());
               require_documents(streams, pairs.documents);
               require_columns(columns, views);
               require_size("places", places.size(), columns.measures.size());
               require_below("places", view(places), out.shape(1));
               require_shape("out", out, pairs.documents.size(), out.shape(1));
               text_features(streams, views, queries, pairs, columns, view(places), fill(out), out.shape(1), threads);
           });
    define(module, "logs_of_counts", {"counts", "logs", "threads"},
           [](In<double> counts, Out<double> logs, int threads) {
               require_size("logs", logs.size(), counts.size());
               logs_of_counts(view(counts), fill(logs), threads);
           });
    define(module, "page_rank_step",
           {"starts", "sources", "n_targets", "damping", "ranks", "passed_on", "next", "threads"},
           [](In<std::int64_t> starts, In<std::int32_t> sources, In<std::int32_t> n_targets, double damping,
              In<double> ranks, Out<double> passed_on, Out<double> next, int threads) {
               require_size("starts", starts.size(), ranks.size() + 1);
               require_offsets("starts", view(starts), sources.size());
               require_below("sources", view(sources), ranks.size());
               require_size("n_targets", n_targets.size(), ranks.size());
               require_size("passed_on", passed_on.size(), ranks.size());
               require_size("next", next.size(), ranks.size());
               return page_rank_step(view(starts), view(sources), view(n_targets), damping, view(ranks),
                                     fill(passed_on), fill(next), threads);
           });
}

} // namespace rankwright
