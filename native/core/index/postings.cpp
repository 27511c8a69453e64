#include "core/index/postings.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_a_time = 1 << 8;

// Where each term's tokens begin when all tokens are put in the order of terms.
std::vector<std::size_t> token_places(std::span<const std::uint32_t> tokens, std::size_t n_terms) {
    std::vector<std::size_t> places(n_terms + 1, 0);
    for (const std::uint32_t term : tokens) {
        if (term >= n_terms) throw std::invalid_argument("a stream has a term that is not there");
        ++places[term + 1];
    }
    std::partial_sum(places.begin(), places.end(), places.begin());
    return places;
}

// Which document and field each token is in, document · n_fields + field, in the order of terms.
std::vector<std::uint32_t> token_owners(const FieldStreams &streams, std::vector<std::size_t> cursors) {
    std::vector<std::uint32_t> owners(streams.tokens.size());
    std::uint32_t owner = 0;
    for (std::size_t document = 0; document < streams.n_documents(); ++document) {
        for (std::size_t field = 0; field < streams.n_fields; ++field, ++owner) {
            const std::int64_t *const start = streams.starts.data() + field * streams.row() + document;
            for (std::int64_t place = start[0]; place < start[1]; ++place)
                owners[cursors[streams.tokens[place]]++] = owner;
        }
    }
    return owners;
}

} // namespace

void invert_streams(const FieldStreams &streams, const PostingRoom &postings) {
    const std::size_t n_terms = postings.starts.size() - 1, room = postings.documents.size();
    const std::vector<std::size_t> places = token_places(streams.tokens, n_terms);
    const std::vector<std::uint32_t> owners = token_owners(streams, places);
    std::size_t n = 0;
    for (std::size_t term = 0; term < n_terms; ++term) {
        postings.starts[term] = static_cast<std::int64_t>(n);
        for (std::size_t place = places[term]; place < places[term + 1];) {
            const auto document = static_cast<std::uint32_t>(owners[place] / streams.n_fields);
            for (std::size_t field = 0; field < streams.n_fields; ++field) {
                std::uint32_t count = 0;
                const std::size_t owner = document * streams.n_fields + field;
                for (; place < places[term + 1] && owners[place] == owner; ++place) ++count;
                postings.counts[field * room + n] = count;
            }
            postings.documents[n++] = document;
        }
    }
    postings.starts[n_terms] = static_cast<std::int64_t>(n);
}

template <typename T> void place_rows(const RowCopies<T> &copies, int threads) {
    parallel_for(copies.places.size(), threads, rows_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            const std::int64_t start = copies.starts[row], stop = copies.starts[row + 1], place = copies.places[row];
            const bool fits = start >= 0 && start <= stop && static_cast<std::size_t>(stop) <= copies.rows.size() &&
                              place >= 0 && static_cast<std::size_t>(place) <= copies.placed.size() &&
                              static_cast<std::size_t>(stop - start) <= copies.placed.size() - place;
            if (!fits) throw std::invalid_argument("a row lies outside of the array that holds it");
            std::transform(copies.rows.begin() + start, copies.rows.begin() + stop, copies.placed.begin() + place,
                           [added = copies.added](T value) { return static_cast<T>(value + added); });
        }
    });
}

template void place_rows(const RowCopies<std::uint8_t> &, int);
template void place_rows(const RowCopies<std::uint16_t> &, int);
template void place_rows(const RowCopies<std::uint32_t> &, int);

template <typename Count>
void summarise_postings(const FieldPostings<Count> &postings, const PostingSummary &summary, int threads) {
    parallel_for(summary.frequencies.size(), threads, rows_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t term = begin; term < end; ++term) {
            std::int64_t frequency = 0, occurrences = 0;
            auto number = static_cast<std::size_t>(summary.block_starts[term]);
            const auto stop = static_cast<std::size_t>(postings.starts[term + 1]);
            for (auto first = static_cast<std::size_t>(postings.starts[term]); first < stop; ++number) {
                const std::size_t last = std::min(first + summary.block, stop);
                std::uint32_t most = 0, least = std::numeric_limits<std::int32_t>::max();
                for (; first < last; ++first) {
                    const std::uint32_t count = postings.counts[first];
                    if (count == 0) continue;
                    const std::uint32_t document = postings.documents[first];
                    if (document >= postings.lengths.size())
                        throw std::invalid_argument("a posting names a document that is not there");
                    ++frequency;
                    occurrences += count;
                    most = std::max(most, count);
                    least = std::min(least, static_cast<std::uint32_t>(postings.lengths[document]));
                }
                summary.most[number] = most;
                summary.least[number] = least;
            }
            summary.frequencies[term] = frequency;
            summary.occurrences[term] = occurrences;
        }
    });
}

template void summarise_postings(const FieldPostings<std::uint8_t> &, const PostingSummary &, int);
template void summarise_postings(const FieldPostings<std::uint16_t> &, const PostingSummary &, int);
template void summarise_postings(const FieldPostings<std::uint32_t> &, const PostingSummary &, int);

} // namespace rankwright
