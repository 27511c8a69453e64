#include "core/matches/text_features.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>

#include "core/common/elementary.hpp"
#include "core/common/parallel.hpp"
#include "core/matches/matches.hpp"

namespace rankwright {

namespace {

template <typename Measure> const Measure *named(std::span<const Measure> measures, const std::string &name) {
    const auto found =
        std::find_if(measures.begin(), measures.end(), [&](const auto &one) { return name == one.name; });
    return found == measures.end() ? nullptr : &*found;
}

// A feature: one of the two measures is there.
struct Column {
    const CountMeasure *count;
    const PositionMeasure *position;
    std::size_t view;
    Settings settings;
    bool log;
    std::size_t place;
};

Column column_named(const std::string &measure) {
    const Column column{
        named(count_measures(), measure), named(position_measures(), measure), 0, {}, false, 0,
    };
    if (column.count == nullptr && column.position == nullptr)
        throw std::invalid_argument("there is no measure " + measure);
    return column;
}

bool counts_different(const std::string &measure) {
    return measure == "absolute_discount" || measure == "different_terms";
}

// How many different tokens there are in some texts together. Slots of earlier texts count as empty, so that nothing is
// cleared; they are so many that a token is mostly alone in its slot, whether it is new or not.
class DifferentTokens {
  public:
    void clear(std::size_t n_tokens) {
        std::size_t size = std::max<std::size_t>(slots_.size(), 16);
        while (size < 8 * n_tokens) size *= 2;
        if (size > slots_.size() || ++round_ == 0) {
            slots_.assign(size, 0);
            round_ = 1;
        }
        n_ = 0;
    }
    void add(std::span<const std::uint32_t> tokens) {
        const std::size_t mask = slots_.size() - 1;
        for (const std::uint32_t token : tokens) {
            const std::uint64_t wanted = std::uint64_t{round_} << 32 | token;
            std::size_t slot = (token * 2654435769U >> 7) & mask;
            while (slots_[slot] != wanted && slots_[slot] >> 32 == round_) slot = (slot + 1) & mask;
            n_ += slots_[slot] != wanted ? 1 : 0;
            slots_[slot] = wanted;
        }
    }
    std::uint32_t count() const { return n_; }

  private:
    std::vector<std::uint64_t> slots_; // a round and a token
    std::uint32_t n_ = 0, round_ = 0;
};

// What a view's features need besides counts, and the numbers of different tokens that were counted already: documents
// come back where there are many pairs.
struct ViewNeeds {
    bool positions = false, different = false;
    std::vector<std::atomic<std::uint32_t>> counted; // of each document, and 1 more; 0 if it was not counted
};

// What all threads read.
struct Task {
    const std::vector<TokenStream> &streams;
    const StreamViews &views;
    const MatchedTerms &queries;
    std::vector<Column> columns; // in the order of their views
    std::vector<ViewNeeds> needs;
    bool positions; // whether any view needs them
    Simd simd;
};

constexpr std::size_t most_texts = 128; // side by side
constexpr std::size_t lanes = 8;

// One stream or view of the documents of a block, as `TextBlock` has it.
struct Found {
    std::vector<double> counts, lengths;
    std::vector<Occurrence> occurrences;
    std::vector<std::size_t> starts; // of each text's occurrences

    void clear(std::size_t n_terms, std::size_t stride) {
        counts.assign(n_terms * stride, 0.0);
        lengths.assign(stride, 0.0);
        occurrences.clear();
        starts.assign(1, 0);
    }
    std::span<const Occurrence> of_text(std::size_t text) const {
        return std::span(occurrences).subspan(starts[text], starts[text + 1] - starts[text]);
    }
};

// One thread's work: a query, and what was found of it in the documents at hand.
class PairScanner {
  public:
    explicit PairScanner(Task &task)
        : task_(task), query_(task.simd), found_(task.streams.size()), values_(most_texts), n_different_(most_texts),
          n_covered_(most_texts) {}

    void set_query(std::size_t query) { query_.set(task_.queries, query, task_.views); }

    // Fills the rows of at most `most_texts` documents.
    void fill(std::span<const std::int64_t> documents, std::span<float> rows, std::size_t n_features) {
        documents_ = documents;
        stride_ = (documents.size() + lanes - 1) / lanes * lanes;
        scan();
        std::size_t at = 0;
        for (std::size_t view = 0; view < task_.views.size(); ++view) {
            if (at == task_.columns.size() || task_.columns[at].view != view) continue;
            const Found &found = found_in(view);
            const TextBlock block = block_of(view, found);
            for (; at < task_.columns.size() && task_.columns[at].view == view; ++at) {
                const Column &column = task_.columns[at];
                if (column.count != nullptr) {
                    column.count->fill(task_.simd, block, column.settings, values_.data());
                } else {
                    fill_positions(column, block, found);
                }
                if (column.log) take_logs(task_.simd, values_.data(), stride_);
                for (std::size_t text = 0; text < documents.size(); ++text)
                    rows[text * n_features + column.place] = static_cast<float>(values_[text]);
            }
        }
    }

  private:
    void scan() {
        const std::size_t n_terms = query_.n_terms();
        for (Found &found : found_) found.clear(n_terms, stride_);
        for (std::size_t text = 0; text < documents_.size(); ++text) {
            for (std::size_t stream = 0; stream < found_.size(); ++stream) {
                const std::span<const std::uint32_t> tokens = task_.streams[stream].of_document(documents_[text]);
                Found &found = found_[stream];
                found.lengths[text] = static_cast<double>(tokens.size());
                if (!task_.positions) {
                    query_.finder().count_all(tokens, found.counts.data() + text, stride_);
                    continue;
                }
                query_.finder().find_all(tokens, found.occurrences);
                found.starts.push_back(found.occurrences.size());
                for (const Occurrence &one : found.of_text(text)) found.counts[one.term * stride_ + text] += 1.0;
            }
        }
    }

    const Found &found_in(std::size_t view) {
        const auto members = task_.views.streams_of(view);
        if (members.size() == 1) return found_[members[0]];
        joined_.clear(query_.n_terms(), stride_);
        for (const std::int64_t stream : members) {
            for (std::size_t k = 0; k < joined_.counts.size(); ++k) joined_.counts[k] += found_[stream].counts[k];
            for (std::size_t k = 0; k < stride_; ++k) joined_.lengths[k] += found_[stream].lengths[k];
        }
        if (task_.needs[view].positions) join_occurrences(members);
        return joined_;
    }

    void join_occurrences(std::span<const std::int64_t> members) {
        for (std::size_t text = 0; text < documents_.size(); ++text) {
            std::int64_t first = 0;
            for (const std::int64_t stream : members) {
                for (const Occurrence &one : found_[stream].of_text(text))
                    joined_.occurrences.push_back({first + one.position, one.term});
                first += static_cast<std::int64_t>(found_[stream].lengths[text]);
            }
            joined_.starts.push_back(joined_.occurrences.size());
        }
    }

    TextBlock block_of(std::size_t view, const Found &found) {
        streams_.clear();
        for (const std::int64_t stream : task_.views.streams_of(view)) {
            const Found &own = found_[stream];
            streams_.push_back({own.counts.data(), own.lengths.data(), task_.views.stream_mean_lengths[stream]});
        }
        if (task_.needs[view].different) count_different(view);
        const TextBlock block{query_,
                              view,
                              task_.views.n_documents,
                              task_.views.mean_lengths[view],
                              stride_,
                              found.counts.data(),
                              found.lengths.data(),
                              n_different_.data(),
                              streams_};
        if (task_.needs[view].positions) count_covered(found);
        return block;
    }

    void count_covered(const Found &found) {
        std::fill(n_covered_.begin(), n_covered_.end(), 0.0);
        for (std::size_t term = 0; term < query_.n_terms(); ++term)
            for (std::size_t text = 0; text < stride_; ++text)
                n_covered_[text] += found.counts[term * stride_ + text] > 0 ? 1.0 : 0.0;
    }

    void count_different(std::size_t view) {
        std::vector<std::atomic<std::uint32_t>> &counted = task_.needs[view].counted;
        for (std::size_t text = 0; text < documents_.size(); ++text) {
            const std::int64_t document = documents_[text];
            std::uint32_t n = counted.empty() ? 0 : counted[document].load(std::memory_order_relaxed);
            if (n == 0) {
                n = n_different(view, document) + 1;
                if (!counted.empty()) counted[document].store(n, std::memory_order_relaxed);
            }
            n_different_[text] = static_cast<double>(n - 1);
        }
        std::fill(n_different_.begin() + static_cast<std::ptrdiff_t>(documents_.size()), n_different_.end(), 0.0);
    }

    std::uint32_t n_different(std::size_t view, std::int64_t document) {
        const auto members = task_.views.streams_of(view);
        std::size_t length = 0;
        for (const std::int64_t stream : members) length += task_.streams[stream].of_document(document).size();
        different_.clear(length);
        for (const std::int64_t stream : members) different_.add(task_.streams[stream].of_document(document));
        return different_.count();
    }

    void fill_positions(const Column &column, const TextBlock &block, const Found &found) {
        for (std::size_t text = 0; text < documents_.size(); ++text) {
            const auto occurrences = found.of_text(text);
            const Match match{query_,           block.view, block.mean_length, block.lengths[text],
                              n_covered_[text], occurrences};
            values_[text] = occurrences.empty() ? 0.0 : column.position->value(match, column.settings);
        }
        std::fill(values_.begin() + static_cast<std::ptrdiff_t>(documents_.size()), values_.end(), 0.0);
    }

    Task &task_;
    QueryIndex query_;
    DifferentTokens different_;
    std::span<const std::int64_t> documents_;
    std::size_t stride_ = 0;
    std::vector<Found> found_; // by stream
    Found joined_;
    std::vector<StreamBlock> streams_;
    std::vector<double> values_, n_different_, n_covered_; // by text
};

std::vector<Column> columns_by_view(const TextColumns &columns, std::span<const std::int64_t> places) {
    std::vector<Column> result;
    result.reserve(columns.measures.size());
    for (std::size_t k = 0; k < columns.measures.size(); ++k) {
        Column column = column_named(columns.measures[k]);
        column.view = static_cast<std::size_t>(columns.views[k]);
        column.settings = columns.settings.subspan(k * columns.width, columns.width);
        column.log = columns.logs[k];
        column.place = static_cast<std::size_t>(places[k]);
        result.push_back(column);
    }
    std::stable_sort(result.begin(), result.end(), [](const Column &a, const Column &b) { return a.view < b.view; });
    return result;
}

std::vector<ViewNeeds> needs_of(const std::vector<TokenStream> &streams, const StreamViews &views,
                                const QueryPairs &pairs, const std::vector<Column> &columns) {
    std::vector<ViewNeeds> needs(views.size());
    for (const Column &column : columns) {
        ViewNeeds &own = needs[column.view];
        own.positions |= column.position != nullptr;
        if (column.count == nullptr || !counts_different(column.count->name)) continue;
        own.different = true;
        const std::size_t n_documents = streams[views.streams_of(column.view)[0]].offsets.size() - 1;
        if (own.counted.empty() && n_documents <= 2 * pairs.documents.size())
            own.counted = std::vector<std::atomic<std::uint32_t>>(n_documents);
    }
    return needs;
}

constexpr std::size_t pairs_at_a_time = 1024;

} // namespace

std::size_t n_settings(const std::string &measure, std::size_t n_streams) {
    const Column column = column_named(measure);
    const std::size_t n = column.count != nullptr ? column.count->n_settings : column.position->n_settings;
    return n == of_streams ? 1 + 2 * n_streams : n;
}

void text_features(const std::vector<TokenStream> &streams, const StreamViews &views, const MatchedTerms &queries,
                   const QueryPairs &pairs, const TextColumns &columns, std::span<const std::int64_t> places,
                   std::span<float> out, std::size_t n_features, int threads, Simd simd) {
    std::vector<Column> ordered = columns_by_view(columns, places);
    std::vector<ViewNeeds> needs = needs_of(streams, views, pairs, ordered);
    const bool positions = std::any_of(needs.begin(), needs.end(), [](const ViewNeeds &own) { return own.positions; });
    Task task{streams, views, queries, std::move(ordered), std::move(needs), positions, simd};
    parallel_for(pairs.documents.size(), threads, pairs_at_a_time, [&](std::size_t begin, std::size_t end) {
        PairScanner scanner(task);
        const auto after = std::upper_bound(pairs.starts.begin(), pairs.starts.end(), static_cast<std::int64_t>(begin));
        auto query = static_cast<std::size_t>(after - pairs.starts.begin()) - 1;
        for (std::size_t row = begin; row < end; ++query) {
            const std::size_t last = std::min(end, static_cast<std::size_t>(pairs.starts[query + 1]));
            if (row < last) scanner.set_query(query);
            for (std::size_t n = 0; row < last; row += n) {
                n = std::min(last - row, most_texts);
                scanner.fill(pairs.documents.subspan(row, n), out.subspan(row * n_features, n * n_features),
                             n_features);
            }
        }
    });
}

void logs_of_counts(std::span<const double> counts, std::span<double> logs, int threads) {
    parallel_for(counts.size(), threads, 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) logs[k] = log_of(1.0 + counts[k]);
    });
}

} // namespace rankwright
