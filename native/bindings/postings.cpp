#include <algorithm>
#include <limits>

#include "bindings/define.hpp"
#include "bindings/require.hpp"
#include "core/index/postings.hpp"

namespace rankwright {

namespace {

void require_rising(const char *name, std::span<const std::int64_t> starts, std::size_t n) {
    require(!starts.empty() && starts.front() >= 0 && std::is_sorted(starts.begin(), starts.end()) &&
                static_cast<std::size_t>(starts.back()) <= n,
            name);
}

void invert_streams_of(InMatrix<std::int64_t> starts, In<std::uint32_t> tokens, Out<std::int64_t> posting_starts,
                       Out<std::uint32_t> documents, OutMatrix<std::uint32_t> counts) {
    const FieldStreams streams{view(starts), view(tokens), starts.shape(0)};
    require(starts.shape(0) > 0 && starts.shape(1) > 0, "starts must have a row for each field");
    require(starts.size() <= std::numeric_limits<std::uint32_t>::max(), "there are too many documents");
    std::int64_t n_tokens = 0;
    for (std::size_t field = 0; field < streams.n_fields; ++field) {
        const auto row = streams.starts.subspan(field * streams.row(), streams.row());
        require_rising("starts must rise within the tokens", row, tokens.size());
        n_tokens += row.back() - row.front();
    }
    require_size("tokens", tokens.size(), static_cast<std::size_t>(n_tokens));
    require(posting_starts.size() > 0, "posting_starts must not be empty");
    require(documents.size() >= tokens.size(), "documents must have room for every token");
    require_shape("counts", counts, streams.n_fields, documents.size());
    invert_streams(streams, {fill(posting_starts), fill(documents), fill(counts)});
}

template <typename T>
void place_rows_of(In<std::int64_t> starts, In<T> rows, In<std::int64_t> places, std::int64_t added, Out<T> placed,
                   int threads) {
    require_size("starts", starts.size(), places.size() + 1);
    place_rows<T>({view(starts), view(rows), view(places), static_cast<T>(added), fill(placed)}, threads);
}

template <typename Count>
void summarise_postings_of(In<std::int64_t> posting_starts, In<std::uint32_t> documents, In<Count> counts,
                           In<std::int32_t> lengths, std::int64_t block, In<std::int64_t> block_starts,
                           Out<std::int64_t> frequencies, Out<std::int64_t> occurrences, Out<std::uint32_t> most,
                           Out<std::uint32_t> least, int threads) {
    const std::size_t n_terms = frequencies.size();
    require(block > 0, "a block must have postings");
    require_size("posting_starts", posting_starts.size(), n_terms + 1);
    require_size("block_starts", block_starts.size(), n_terms + 1);
    require_size("occurrences", occurrences.size(), n_terms);
    require_size("counts", counts.size(), documents.size());
    require_size("least", least.size(), most.size());
    require_rising("posting_starts must rise within the postings", view(posting_starts), documents.size());
    require_rising("block_starts must rise within the blocks", view(block_starts), most.size());
    for (std::size_t term = 0; term < n_terms; ++term) {
        const std::int64_t n = view(posting_starts)[term + 1] - view(posting_starts)[term];
        require(view(block_starts)[term + 1] - view(block_starts)[term] == (n + block - 1) / block,
                "a term must have as many blocks as its postings need");
    }
    summarise_postings<Count>({view(posting_starts), view(documents), view(counts), view(lengths)},
                              {static_cast<std::size_t>(block), view(block_starts), fill(frequencies),
                               fill(occurrences), fill(most), fill(least)},
                              threads);
}

template <typename T> void define_typed(nb::module_ &module) {
    define(module, "place_rows", {"starts", "rows", "places", "added", "placed", "threads"}, place_rows_of<T>);
    define(module, "summarise_postings",
           {"posting_starts", "documents", "counts", "lengths", "block", "block_starts", "frequencies", "occurrences",
            "most", "least", "threads"},
           summarise_postings_of<T>);
}

} // namespace

void bind_postings(nb::module_ &module) {
    define(module, "invert_streams", {"starts", "tokens", "posting_starts", "documents", "counts"}, invert_streams_of);
    define_typed<std::uint8_t>(module);
    define_typed<std::uint16_t>(module);
    define_typed<std::uint32_t>(module);
}

} // namespace rankwright
