#include "core/matches/text_features.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "core/common/elementary.hpp"
#include "core/common/parallel.hpp"
#include "core/matches/matches.hpp"

namespace rankwright {

namespace {

using Settings = std::span<const double>;
using Value = double (*)(const Match &match, std::size_t term); // of a term of the query

double term_count(const Match &match, std::size_t term) { return match.counts[term]; }
double term_share(const Match &match, std::size_t term) {
    return match.length > 0 ? match.counts[term] / match.length : 0.0;
}
double term_tf_idf(const Match &match, std::size_t term) {
    return match.counts[term] * match.query.idf(match.view)[term];
}
double term_idf(const Match &match, std::size_t term) { return match.query.idf(match.view)[term]; }

// Statistics over the query's terms; 0 where it has none.
template <Value value> double sum_of(const Match &match, Settings) {
    double sum = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) sum += value(match, term);
    return sum;
}
template <Value value> double min_of(const Match &match, Settings) {
    double least = match.n_terms() == 0 ? 0.0 : value(match, 0);
    for (std::size_t term = 1; term < match.n_terms(); ++term) least = std::min(least, value(match, term));
    return least;
}
template <Value value> double max_of(const Match &match, Settings) {
    double most = match.n_terms() == 0 ? 0.0 : value(match, 0);
    for (std::size_t term = 1; term < match.n_terms(); ++term) most = std::max(most, value(match, term));
    return most;
}
template <Value value> double mean_of(const Match &match, Settings settings) {
    return match.n_terms() == 0 ? 0.0 : sum_of<value>(match, settings) / static_cast<double>(match.n_terms());
}
template <Value value> double variance_of(const Match &match, Settings settings) {
    const double mean = mean_of<value>(match, settings);
    double sum = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) {
        const double gap = value(match, term) - mean;
        sum += gap * gap;
    }
    return match.n_terms() == 0 ? 0.0 : sum / static_cast<double>(match.n_terms());
}

constexpr std::size_t of_streams = 99; // a weight and a b for each stream, after k1

struct Measure {
    const char *name;
    std::size_t n_settings;
    double (*value)(const Match &match, Settings settings);
};

const Measure measures[] = {
    {"covered_terms", 0, [](const Match &match, Settings) { return covered_terms(match); }},
    {"covered_share", 0, [](const Match &match, Settings) { return covered_share(match); }},
    {"covered_idf_share", 0, [](const Match &match, Settings) { return covered_idf_share(match); }},
    {"length", 0, [](const Match &match, Settings) { return match.length; }},
    {"different_terms", 0, [](const Match &match, Settings) { return match.n_different; }},
    {"query_length", 0, [](const Match &match, Settings) { return double(match.query.places().size()); }},
    {"tf.sum", 0, sum_of<term_count>},
    {"tf.min", 0, min_of<term_count>},
    {"tf.max", 0, max_of<term_count>},
    {"tf.mean", 0, mean_of<term_count>},
    {"tf.variance", 0, variance_of<term_count>},
    {"tf_share.sum", 0, sum_of<term_share>},
    {"tf_share.min", 0, min_of<term_share>},
    {"tf_share.max", 0, max_of<term_share>},
    {"tf_share.mean", 0, mean_of<term_share>},
    {"tf_share.variance", 0, variance_of<term_share>},
    {"tf_idf.sum", 0, sum_of<term_tf_idf>},
    {"tf_idf.min", 0, min_of<term_tf_idf>},
    {"tf_idf.max", 0, max_of<term_tf_idf>},
    {"tf_idf.mean", 0, mean_of<term_tf_idf>},
    {"tf_idf.variance", 0, variance_of<term_tf_idf>},
    {"idf.sum", 0, sum_of<term_idf>},
    {"idf.min", 0, min_of<term_idf>},
    {"idf.max", 0, max_of<term_idf>},
    {"idf.mean", 0, mean_of<term_idf>},
    {"idf.variance", 0, variance_of<term_idf>},
    {"boolean", 0, [](const Match &match, Settings) { return boolean_match(match); }},
    {"vector_space", 0, [](const Match &match, Settings) { return vector_space(match); }},
    {"bm25", 2, [](const Match &match, Settings own) { return bm25(match, own[0], own[1]); }},
    {"bm25f", of_streams, [](const Match &match, Settings own) { return bm25f(match, own); }},
    {"absolute_discount", 1, [](const Match &match, Settings own) { return absolute_discount(match, own[0]); }},
    {"dirichlet", 1, [](const Match &match, Settings own) { return dirichlet(match, own[0]); }},
    {"jelinek_mercer", 1, [](const Match &match, Settings own) { return jelinek_mercer(match, own[0]); }},
    {"dph", 0, [](const Match &match, Settings) { return dph(match); }},
    {"shortest_window", 0, [](const Match &match, Settings) { return shortest_window(match); }},
    {"first_position", 0, [](const Match &match, Settings) { return first_position(match); }},
    {"phrase", 0, [](const Match &match, Settings) { return phrase_count(match); }},
    {"ordered_phrase", 1, [](const Match &match, Settings own) { return ordered_phrase_count(match, own[0]); }},
    {"ordered_pairs", 1, [](const Match &match, Settings own) { return ordered_pairs(match, own[0]); }},
    {"unordered_pairs", 1, [](const Match &match, Settings own) { return unordered_pairs(match, own[0]); }},
    {"longest_run", 0, [](const Match &match, Settings) { return longest_run(match); }},
    {"closeness", 2, [](const Match &match, Settings own) { return closeness(match, own[0], own[1]); }},
    {"begins_with_query", 0, [](const Match &match, Settings) { return begins_with_query(match); }},
    {"equals_query", 0, [](const Match &match, Settings) { return equals_query(match); }},
};

const Measure &measure_named(const std::string &name) {
    for (const Measure &measure : measures)
        if (name == measure.name) return measure;
    throw std::invalid_argument("there is no measure " + name);
}

bool counts_different(const std::string &measure) {
    return measure == "absolute_discount" || measure == "different_terms";
}

struct Column {
    double (*value)(const Match &match, Settings settings);
    std::size_t view;
    Settings settings;
    bool log;
    std::size_t place;
};

// How many different tokens there are in some texts together.
class DifferentTokens {
  public:
    void clear(std::size_t n_tokens) {
        std::size_t size = 16;
        while (size < 2 * n_tokens) size *= 2;
        slots_.assign(size, no_term);
        n_ = 0;
    }
    void add(std::span<const std::uint32_t> tokens) {
        const std::size_t mask = slots_.size() - 1;
        for (const std::uint32_t token : tokens) {
            std::size_t slot = (token * 2654435769U >> 7) & mask;
            while (slots_[slot] != token && slots_[slot] != no_term) slot = (slot + 1) & mask;
            if (slots_[slot] == no_term && token != no_term) {
                slots_[slot] = token;
                ++n_;
            }
        }
    }
    double count() const { return static_cast<double>(n_); }

  private:
    std::vector<std::uint32_t> slots_;
    std::size_t n_ = 0;
};

// One thread's work: a query, and what was found of it in the document at hand.
class PairScanner {
  public:
    PairScanner(const std::vector<TokenStream> &streams, const StreamViews &views, std::span<const Column> columns,
                std::span<const bool> counts_different)
        : streams_(streams), views_(views), columns_(columns), counts_different_(counts_different),
          tokens_(streams.size()), found_(streams.size()), counts_(streams.size()) {}

    void set_query(const MatchedTerms &queries, std::size_t query) { query_.set(queries, query, views_); }

    void fill(std::int64_t document, std::span<float> row) {
        for (std::size_t stream = 0; stream < streams_.size(); ++stream) scan(stream, document);
        std::size_t at = 0;
        for (std::size_t view = 0; view < views_.size(); ++view) {
            const Match match = match_of(view);
            for (; at < columns_.size() && columns_[at].view == view; ++at) {
                const double value = columns_[at].value(match, columns_[at].settings);
                row[columns_[at].place] = static_cast<float>(columns_[at].log ? log_of(1.0 + value) : value);
            }
        }
    }

  private:
    void scan(std::size_t stream, std::int64_t document) {
        tokens_[stream] = streams_[stream].of_document(document);
        found_[stream].clear();
        counts_[stream].assign(query_.n_terms(), 0.0);
        const std::span<const std::uint32_t> tokens = tokens_[stream];
        const TermFinder &finder = query_.finder();
        for (std::size_t position = 0; position < tokens.size(); ++position) {
            if (!finder.may_have(tokens[position])) continue;
            const std::int64_t term = finder.find(tokens[position]);
            if (term < 0) continue;
            found_[stream].push_back({static_cast<std::int64_t>(position), term});
            counts_[stream][term] += 1.0;
        }
    }

    Match match_of(std::size_t view) {
        const auto members = views_.streams_of(view);
        std::size_t length = 0;
        matches_.clear();
        for (const std::int64_t stream : members) {
            matches_.push_back(
                {counts_[stream], static_cast<double>(tokens_[stream].size()), views_.stream_mean_lengths[stream]});
            length += tokens_[stream].size();
        }
        if (members.size() != 1) join(members);
        return {query_,
                view,
                views_.n_documents,
                views_.mean_lengths[view],
                static_cast<double>(length),
                counts_different_[view] ? n_different(members, length) : 0.0,
                members.size() == 1 ? counts_[members[0]] : joined_counts_,
                members.size() == 1 ? found_[members[0]] : joined_,
                matches_};
    }

    void join(std::span<const std::int64_t> members) {
        joined_.clear();
        joined_counts_.assign(query_.n_terms(), 0.0);
        std::int64_t first = 0;
        for (const std::int64_t stream : members) {
            for (const Occurrence &one : found_[stream]) joined_.push_back({first + one.position, one.term});
            for (std::size_t term = 0; term < joined_counts_.size(); ++term)
                joined_counts_[term] += counts_[stream][term];
            first += static_cast<std::int64_t>(tokens_[stream].size());
        }
    }

    double n_different(std::span<const std::int64_t> members, std::size_t length) {
        different_.clear(length);
        for (const std::int64_t stream : members) different_.add(tokens_[stream]);
        return different_.count();
    }

    const std::vector<TokenStream> &streams_;
    const StreamViews &views_;
    std::span<const Column> columns_; // in the order of their views
    std::span<const bool> counts_different_;
    QueryIndex query_;
    DifferentTokens different_;
    std::vector<std::span<const std::uint32_t>> tokens_; // of the document, by stream
    std::vector<std::vector<Occurrence>> found_;         // by stream
    std::vector<std::vector<double>> counts_;            // by stream
    std::vector<Occurrence> joined_;
    std::vector<double> joined_counts_;
    std::vector<StreamMatch> matches_;
};

std::vector<Column> columns_by_view(const TextColumns &columns, std::span<const std::int64_t> places) {
    std::vector<Column> result;
    result.reserve(columns.measures.size());
    for (std::size_t k = 0; k < columns.measures.size(); ++k) {
        result.push_back({measure_named(columns.measures[k]).value, static_cast<std::size_t>(columns.views[k]),
                          columns.settings.subspan(k * columns.width, columns.width), columns.logs[k],
                          static_cast<std::size_t>(places[k])});
    }
    std::stable_sort(result.begin(), result.end(), [](const Column &a, const Column &b) { return a.view < b.view; });
    return result;
}

constexpr std::size_t pairs_at_a_time = 256;

} // namespace

std::size_t n_settings(const std::string &measure, std::size_t n_streams) {
    const std::size_t n = measure_named(measure).n_settings;
    return n == of_streams ? 1 + 2 * n_streams : n;
}

void text_features(const std::vector<TokenStream> &streams, const StreamViews &views, const MatchedTerms &queries,
                   const QueryPairs &pairs, const TextColumns &columns, std::span<const std::int64_t> places,
                   std::span<float> out, std::size_t n_features, int threads) {
    const std::vector<Column> ordered = columns_by_view(columns, places);
    const auto counts_different_in = std::make_unique<bool[]>(views.size());
    for (std::size_t k = 0; k < columns.measures.size(); ++k)
        if (counts_different(columns.measures[k])) counts_different_in[columns.views[k]] = true;
    parallel_for(pairs.documents.size(), threads, pairs_at_a_time, [&](std::size_t begin, std::size_t end) {
        PairScanner scanner(streams, views, ordered, {counts_different_in.get(), views.size()});
        const auto after = std::upper_bound(pairs.starts.begin(), pairs.starts.end(), static_cast<std::int64_t>(begin));
        auto query = static_cast<std::size_t>(after - pairs.starts.begin()) - 1;
        scanner.set_query(queries, query);
        for (std::size_t row = begin; row < end; ++row) {
            if (static_cast<std::int64_t>(row) >= pairs.starts[query + 1]) {
                while (static_cast<std::int64_t>(row) >= pairs.starts[query + 1]) ++query;
                scanner.set_query(queries, query);
            }
            scanner.fill(pairs.documents[row], out.subspan(row * n_features, n_features));
        }
    });
}

void logs_of_counts(std::span<const double> counts, std::span<double> logs, int threads) {
    parallel_for(counts.size(), threads, 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) logs[k] = log_of(1.0 + counts[k]);
    });
}

} // namespace rankwright
