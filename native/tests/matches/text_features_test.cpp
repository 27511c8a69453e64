#include "core/matches/text_features.hpp"

#include <cmath>
#include <vector>

#include "core/matches/link_ranks.hpp"
#include "core/matches/query_index.hpp"
#include "tests/check.hpp"
#include "tests/test.hpp"

namespace {

using rankwright::MatchedTerms, rankwright::no_term, rankwright::QueryPairs, rankwright::StreamViews;
using rankwright::TextColumns, rankwright::TokenStream;

// Two fields of three documents, and two queries: the terms 5 and 7 in that order, and one that no document has.
struct Problem {
    std::vector<std::int64_t> first_offsets{0, 3, 3, 5}, second_offsets{0, 2, 3, 3};
    std::vector<std::uint32_t> first_tokens{5, 7, 5, 7, 1}, second_tokens{7, 5, 9};
    std::vector<std::int64_t> view_starts{0, 1, 3}, members{0, 0, 1};
    std::vector<double> tokens{5, 8}, mean_lengths{2.5, 3}, stream_mean_lengths{2.5, 1.5};
    std::vector<std::int64_t> starts{0, 2, 3}, place_starts{0, 2, 3}, places{0, 1, 0};
    std::vector<std::uint32_t> numbers{5, 7, no_term};
    std::vector<double> frequencies{1, 1, 2, 2, 0, 0}, counts{2, 3, 2, 3, 0, 0};
    std::vector<std::int64_t> pair_starts{0, 3, 6}, documents{0, 1, 2, 2, 1, 0};

    std::vector<TokenStream> streams() const {
        return {{first_offsets, first_tokens}, {second_offsets, second_tokens}};
    }
    StreamViews views() const { return {view_starts, members, tokens, mean_lengths, stream_mean_lengths, 3.0}; }
    MatchedTerms queries() const { return {starts, numbers, frequencies, counts, place_starts, places}; }
    QueryPairs pairs() const { return {pair_starts, documents}; }
};

std::vector<float> features(const std::vector<std::string> &measures, int threads,
                            rankwright::Simd simd = rankwright::simd_level()) {
    const Problem problem;
    const std::vector<double> settings(measures.size() * 5, 0.5);
    std::vector<std::int64_t> views(measures.size()), places(measures.size());
    for (std::size_t k = 0; k < measures.size(); ++k) {
        views[k] = static_cast<std::int64_t>(k % 2);
        places[k] = static_cast<std::int64_t>(k);
    }
    const bool logs[64] = {};
    const TextColumns columns{measures, views, settings, 5, {logs, measures.size()}};
    std::vector<float> out(6 * measures.size());
    rankwright::text_features(problem.streams(), problem.views(), problem.queries(), problem.pairs(), columns, places,
                              out, measures.size(), threads, simd);
    return out;
}

void check_features() {
    // Views alternate: the first field, then both fields one after another.
    const std::vector<std::string> measures{"tf.sum", "tf.sum", "phrase", "phrase", "length", "length"};
    const std::vector<float> wanted{3, 5, 1, 2, 3, 5, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 2, 2,
                                    0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 5};
    for (const int threads : {1, 2, 7}) CHECK(features(measures, threads) == wanted);
    const std::vector<std::string> others{"bm25",           "bm25f",         "absolute_discount", "dirichlet",
                                          "jelinek_mercer", "dph",           "shortest_window",   "first_position",
                                          "ordered_phrase", "ordered_pairs", "unordered_pairs",   "longest_run",
                                          "closeness",      "equals_query",  "different_terms",   "vector_space"};
    const std::vector<float> found = features(others, 1);
    for (const float value : found) CHECK(std::isfinite(value));
    for (const int threads : {2, 7}) CHECK(features(others, threads) == found);
    for (const auto simd : rankwright::simd_levels()) CHECK(features(others, 1, simd) == found);
}

// Tokens 0, 1, 2, 3, …, of which every third is a term, in texts of many lengths.
void check_terms_are_found() {
    std::vector<std::uint32_t> tokens(100);
    for (std::size_t place = 0; place < tokens.size(); ++place) tokens[place] = static_cast<std::uint32_t>(place % 60);
    for (const auto simd : rankwright::simd_levels()) {
        rankwright::TermFinder finder(simd);
        for (const std::size_t n_terms : {0U, 1U, 5U, 9U, 20U}) {
            std::vector<std::uint32_t> numbers(n_terms);
            for (std::size_t term = 0; term < n_terms; ++term) numbers[term] = static_cast<std::uint32_t>(3 * term);
            finder.set(numbers);
            for (std::size_t length = 0; length <= tokens.size(); ++length) {
                const std::span<const std::uint32_t> text(tokens.data(), length);
                std::vector<rankwright::Occurrence> found;
                finder.find_all(text, found);
                std::vector<double> counts(2 * n_terms), wanted(2 * n_terms);
                finder.count_all(text, counts.data(), 2);
                std::size_t at = 0;
                for (std::size_t place = 0; place < length; ++place) {
                    if (text[place] % 3 != 0 || text[place] / 3 >= n_terms) continue;
                    wanted[2 * (text[place] / 3)] += 1.0;
                    CHECK(at < found.size() && found[at].position == static_cast<std::int64_t>(place));
                    CHECK(found[at++].term == static_cast<std::int64_t>(text[place] / 3));
                }
                CHECK(at == found.size() && counts == wanted);
            }
        }
    }
}

void check_ranks() {
    // 0 -> 1, 1 -> 0, and 2 links to nothing.
    const std::vector<std::int64_t> starts{0, 1, 2, 2};
    const std::vector<std::int32_t> sources{1, 0}, n_targets{1, 1, 0};
    const std::vector<double> ranks{0.5, 0.25, 0.25};
    std::vector<double> passed_on(3), next(3);
    const double change = rankwright::page_rank_step(starts, sources, n_targets, 0.5, ranks, passed_on, next, 2);
    const double alike = (0.5 + 0.5 * 0.25) / 3;
    CHECK(next[0] == alike + 0.5 * 0.25 && next[1] == alike + 0.5 * 0.5 && next[2] == alike);
    CHECK(change > 0);
}

const rankwright::Test test("text_features", [] {
    check_features();
    check_terms_are_found();
    check_ranks();
});

} // namespace
