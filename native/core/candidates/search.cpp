#include "core/candidates/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/candidates/best_list.hpp"
#include "core/candidates/dense_terms.hpp"
#include "core/candidates/term_cursor.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t few = window / 32; // so few postings are gone through one by one, not by looking at every sum
constexpr std::size_t batch = 256;       // postings scored, and sums looked at, together
constexpr std::size_t dense_share = 8;   // a term is dense where at least so large a part of the documents has it
// Asking a term about a document takes as long as taking so many postings.
constexpr std::size_t postings_per_question = 16;
// To guess a threshold, `piece` documents of each `piece` · `one_of` are searched, where terms have many documents.
constexpr std::uint32_t piece = 512, one_of = 32;
constexpr std::size_t many_lists = 16; // times k

// Whether the terms stand next to each other, in this order, in a field of the document.
bool has_phrase(const SegmentStreams &streams, std::uint32_t document, std::span<const std::uint32_t> terms) {
    for (std::size_t field = 0; field < streams.tokens.size(); ++field) {
        const auto tokens = streams.tokens[field];
        const auto begin = tokens.begin() + streams.offsets[field][document];
        const auto end = tokens.begin() + streams.offsets[field][document + 1];
        if (std::search(begin, end, terms.begin(), terms.end()) != end) return true;
    }
    return false;
}

// What a document must have besides a score.
struct Conditions {
    const SegmentStreams &streams;
    const QueryPhrases &phrases;
    std::span<const std::uint8_t> kept;
    std::size_t query;

    bool hold(std::uint32_t document) const {
        if (!kept.empty() && kept[document] == 0) return false;
        if (phrases.starts.empty()) return true;
        for (std::int64_t phrase = phrases.starts[query]; phrase < phrases.starts[query + 1]; ++phrase) {
            const auto start = static_cast<std::size_t>(phrases.term_starts[phrase]);
            const auto stop = static_cast<std::size_t>(phrases.term_starts[phrase + 1]);
            if (!has_phrase(streams, document, phrases.terms.subspan(start, stop - start))) return false;
        }
        return true;
    }
};

// The search of one query in one segment. Documents are scored in windows. In each, terms that together could not lift
// a document into the list are not walked, but only asked about documents that other terms found (MaxScore, with the
// bounds of blocks).
template <typename Scorer> class QuerySearch {
  public:
    using Cursor = TermCursor<Scorer>;

    QuerySearch(const SegmentPostings &postings, const Scorer &scorer, Conditions conditions, double query_length,
                std::int64_t first, Simd simd)
        : postings_(postings), scorer_(scorer), conditions_(conditions), query_length_(query_length), first_(first),
          most_prior_(scorer.most_prior(query_length)), dense_(simd) {}

    void add_term(std::uint32_t number, WeightedTerm term) { terms_.emplace_back(postings_, scorer_, term, number); }

    // A score that k documents probably reach: what a sample of the documents suggests, or -infinity.
    double guess(std::size_t k) {
        constexpr double nothing = -std::numeric_limits<double>::infinity();
        std::size_t n_postings = 0;
        for (const Cursor &term : terms_) n_postings += term.size();
        if (n_postings / many_lists < k || postings_.n_documents() < 2 * piece * one_of) return nothing;
        const double expected = static_cast<double>(k) / one_of;
        std::size_t rank = k / one_of + 1; // of which the sample has fewer than expected, by three standard deviations
        while (static_cast<double>(rank) - 3 * std::sqrt(static_cast<double>(rank)) < expected) ++rank;
        BestList sample({}, {}, rank);
        begin(sample);
        const auto n_documents = static_cast<std::uint32_t>(postings_.n_documents());
        for (std::uint32_t from = 0; n_documents - from > piece * one_of; from += piece * one_of)
            search_window(from, from + piece);
        return sample.size() < rank ? nothing : sample.worst();
    }

    void run(BestList &best) {
        begin(best);
        const auto n_documents = static_cast<std::uint32_t>(postings_.n_documents());
        std::uint32_t from = next_after(0);
        while (from < n_documents) {
            const std::uint32_t to = n_documents - from > window ? from + window : n_documents;
            search_window(from, to);
            from = next_after(to);
        }
    }

  private:
    // Postings of a term in a window.
    struct Walked {
        Cursor *cursor;
        std::size_t begin, end;
    };

    void begin(BestList &best) {
        best_ = &best;
        cursors_ = terms_;
    }

    std::uint32_t next_after(std::uint32_t from) const {
        std::uint32_t next = std::numeric_limits<std::uint32_t>::max();
        for (const Cursor &cursor : cursors_) next = std::min(next, cursor.next_after(from));
        return next;
    }

    void search_window(std::uint32_t from, std::uint32_t to) {
        for (Cursor &cursor : cursors_) cursor.enter(from, to);
        std::erase_if(cursors_, [](const Cursor &cursor) { return cursor.is_done(); });
        std::size_t n_asked = arrange();
        walked_.clear();
        for (std::size_t i = n_asked; i < cursors_.size(); ++i) walk(cursors_[i], from, to);
        if (dense_.empty()) {
            std::size_t n_postings = 0;
            for (const Walked &walked : walked_) n_postings += walked.end - walked.begin;
            if (is_better_spread(n_asked, n_postings, from, to) && spread(cursors_[n_asked - 1], from, to)) --n_asked;
        }
        if (!dense_.empty()) {
            visit_dense(from, to, n_asked);
        } else if (Scorer::is_positive && walked_.size() == 1) {
            visit_list(walked_.front(), from, n_asked);
        } else {
            visit_sparse(from, to, n_asked);
        }
    }

    // Sorts the terms by what they can add, and returns how many of the least are only asked: together they cannot lift
    // a document into the list.
    std::size_t arrange() {
        if constexpr (!Scorer::is_positive) return 0;
        std::sort(cursors_.begin(), cursors_.end(),
                  [](const Cursor &a, const Cursor &b) { return a.most() < b.most(); });
        asked_most_.assign(1, 0.0);
        std::size_t n_asked = 0;
        for (const Cursor &cursor : cursors_) {
            const double most = asked_most_.back() + cursor.most();
            if (most + most_prior_ > best_->threshold()) break;
            asked_most_.push_back(most);
            ++n_asked;
        }
        return n_asked;
    }

    // Takes the term's postings of the window: as counts of all documents where many have it, else one by one.
    void walk(Cursor &cursor, std::uint32_t from, std::uint32_t to) {
        std::size_t begin = 0, end = 0;
        cursor.take(from, to, begin, end);
        if (begin == end) return;
        if constexpr (Scorer::has_count_bounds) {
            const bool is_dense = (end - begin) * dense_share >= to - from;
            if (is_dense && dense_.take(scorer_, cursor.term(), postings_.documents.data(), begin, end, from)) return;
        }
        require_in_window(begin, end, from, to);
        walked_.push_back({&cursor, begin, end});
    }

    // Whether a term that would be asked about so many documents is faster taken as counts of all documents.
    bool is_better_spread(std::size_t n_asked, std::size_t n_documents, std::uint32_t from, std::uint32_t to) const {
        if (!Scorer::has_count_bounds || n_asked == 0) return false;
        const auto n_postings = static_cast<std::size_t>(cursors_[n_asked - 1].share() * (to - from));
        return n_postings * dense_share >= to - from &&
               n_documents * postings_per_question > n_postings + (to - from) / 8;
    }

    // Takes the term's postings of the window as counts of all documents, if these can be taken.
    bool spread(const Cursor &cursor, std::uint32_t from, std::uint32_t to) {
        if constexpr (Scorer::has_count_bounds) {
            std::size_t begin = 0, end = 0;
            cursor.find(from, to, begin, end);
            return dense_.take(scorer_, cursor.term(), postings_.documents.data(), begin, end, from);
        }
        return false;
    }

    // A file may hold postings in any order.
    void require_in_window(std::size_t begin, std::size_t end, std::uint32_t from, std::uint32_t to) const {
        const std::uint32_t *const documents = postings_.documents.data();
        bool fits = true;
        for (std::size_t i = begin; i < end; ++i) fits &= documents[i] - from < to - from;
        if (!fits) throw std::invalid_argument("the postings of a term are not in order");
    }

    // Goes through the documents that the bounds of dense terms, and sums of the others, leave.
    void visit_dense(std::uint32_t from, std::uint32_t to, std::size_t n_asked) {
        if constexpr (Scorer::has_count_bounds) {
            for (const Walked &walked : walked_) add_up(walked, from);
            const std::size_t n = to - from, n_sums = walked_.empty() ? 0 : n;
            dense_.bound(scorer_, from, n, std::span(sums_).first(n_sums));
            while (is_better_spread(n_asked, dense_.n_above(n, bar(n_asked)), from, to) &&
                   spread(cursors_[n_asked - 1], from, to)) {
                dense_.bound_last(scorer_, from, n);
                --n_asked;
            }
            for (std::size_t begin = 0; begin < n; begin += looked_at)
                dense_.visit_above(begin, bar(n_asked), [&](std::size_t place) {
                    const auto document = from + static_cast<std::uint32_t>(place);
                    visit(document, sums_[place] + dense_.score(scorer_, document, place), n_asked);
                });
            std::fill_n(sums_.begin(), n_sums, 0.0);
            dense_.clear();
        }
    }

    void visit_sparse(std::uint32_t from, std::uint32_t to, std::size_t n_asked) {
        std::size_t n_postings = 0;
        for (const Walked &walked : walked_) {
            n_postings += walked.end - walked.begin;
            add_up(walked, from);
        }
        if (n_postings == 0) return;
        if (n_postings <= few || !Scorer::is_positive) {
            visit_touched(from, n_asked);
        } else {
            visit_sums(from, to, n_asked);
        }
    }

    // Adds what the term gives to the documents of the window.
    void add_up(const Walked &walked, std::uint32_t from) {
        std::array<double, batch> addends;
        for (std::size_t at = walked.begin; at < walked.end; at += batch) {
            const std::size_t stop = std::min(at + batch, walked.end);
            scorer_.addends(walked.cursor->term(), at, stop, addends.data());
            for (std::size_t i = at; i < stop; ++i) sums_[postings_.documents[i] - from] += addends[i - at];
        }
    }

    // Goes through the documents of one term, which need no sums.
    void visit_list(const Walked &walked, std::uint32_t, std::size_t n_asked) {
        std::array<double, batch> addends;
        for (std::size_t at = walked.begin; at < walked.end; at += batch) {
            const std::size_t stop = std::min(at + batch, walked.end);
            scorer_.addends(walked.cursor->term(), at, stop, addends.data());
            visit_above(std::span(addends).first(stop - at), n_asked,
                        [&](std::size_t i) { return postings_.documents[at + i]; });
        }
    }

    void visit_touched(std::uint32_t from, std::size_t n_asked) {
        std::vector<std::uint32_t> &touched = touched_;
        touched.clear();
        for (const Walked &walked : walked_)
            for (std::size_t i = walked.begin; i < walked.end; ++i)
                if (scorer_.matches(i)) touched.push_back(postings_.documents[i]);
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        for (const std::uint32_t document : touched) {
            const double sum = sums_[document - from];
            sums_[document - from] = 0;
            visit(document, sum, n_asked);
        }
    }

    void visit_sums(std::uint32_t from, std::uint32_t to, std::size_t n_asked) {
        for (std::uint32_t begin = 0; begin < to - from; begin += batch) // beyond the window, sums are 0
            visit_above(std::span(sums_).subspan(begin, batch), n_asked,
                        [&](std::size_t i) { return from + begin + static_cast<std::uint32_t>(i); });
        std::fill_n(sums_.begin(), to - from, 0.0);
    }

    // What terms that are walked must give a document, so that it can still come in.
    double bar(std::size_t n_asked) const {
        return std::max(0.0, best_->threshold() - asked_most_[n_asked] - most_prior_);
    }

    // Visits the documents whose sums can still come in. Where nothing was added, a sum is 0.
    template <typename DocumentOf>
    void visit_above(std::span<const double> sums, std::size_t n_asked, DocumentOf document_of) {
        const double least = bar(n_asked);
        std::array<std::uint16_t, batch> above;
        std::size_t n_above = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            above[n_above] = static_cast<std::uint16_t>(i);
            n_above += sums[i] > least ? 1 : 0;
        }
        for (std::size_t i = 0; i < n_above; ++i) visit(document_of(above[i]), sums[above[i]], n_asked);
    }

    // Asks the terms that were not walked, those that can add most first, as long as the document can still come in.
    void visit(std::uint32_t document, double sum, std::size_t n_asked) {
        double score = sum + scorer_.prior(query_length_, document);
        for (std::size_t i = n_asked; i-- > 0;) {
            if (score + asked_most_[i + 1] <= best_->threshold()) return;
            score += cursors_[i].at(document);
        }
        if (score > best_->threshold() && conditions_.hold(document)) best_->add({score, first_ + document});
    }

    const SegmentPostings &postings_;
    const Scorer &scorer_;
    Conditions conditions_;
    double query_length_;
    std::int64_t first_;
    double most_prior_;
    BestList *best_ = nullptr;
    std::vector<Cursor> terms_, cursors_; // at their beginning, and where the search is
    std::vector<double> asked_most_{0.0}; // by the first n terms together
    std::vector<Walked> walked_;
    std::vector<std::uint32_t> touched_; // documents with a posting in the window, where these are few
    std::array<double, window> sums_{};
    DenseTerms dense_;
};

template <typename Scorer> struct SegmentSearch {
    const SegmentPostings &postings;
    const SegmentStreams &streams;
    const QueryTerms &queries;
    const QueryPhrases &phrases;
    const Scorer scorer;
    std::span<const std::uint8_t> kept;
    std::int64_t first;
    const TopDocuments &tops;
    Simd simd = simd_level();

    void run(std::size_t query) const {
        const std::size_t k = tops.k(), row = query * k;
        const auto size = static_cast<std::size_t>(tops.sizes[query]);
        if (k == 0) return;
        QuerySearch<Scorer> search(postings, scorer, {streams, phrases, kept, query}, queries.lengths[query], first,
                                   simd);
        for (std::int64_t i = queries.starts[query]; i < queries.starts[query + 1]; ++i) {
            if (queries.terms[i] == no_term) continue;
            if (queries.terms[i] >= postings.n_terms()) throw std::invalid_argument("a query's term is not there");
            search.add_term(queries.terms[i], {queries.weights[i], queries.rarities[i]});
        }
        const BestList before(tops.scores.subspan(row, size), tops.documents.subspan(row, size), k);
        BestList best = before;
        best.expect(search.guess(k));
        search.run(best);
        if (best.size() < k && best.threshold() > before.threshold()) { // fewer reach the threshold than was guessed
            best = before;
            search.run(best);
        }
        const std::vector<ScoredDocument> &found = best.sorted();
        for (std::size_t i = 0; i < found.size(); ++i) {
            tops.scores[row + i] = found[i].score;
            tops.documents[row + i] = found[i].document;
        }
        tops.sizes[query] = static_cast<std::int64_t>(found.size());
    }
};

} // namespace

void top_documents(const SegmentPostings &postings, const SegmentStreams &streams, const QueryTerms &queries,
                   const QueryPhrases &phrases, const TextScorer &scorer, std::span<const std::uint8_t> kept,
                   std::int64_t first, const TopDocuments &tops, int threads) {
    const auto search = [&](const auto &by_model) {
        using Scorer = std::remove_cvref_t<decltype(by_model)>;
        const SegmentSearch<Scorer> all{postings, streams, queries, phrases, by_model, kept, first, tops};
        parallel_for(queries.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
            for (std::size_t query = begin; query < end; ++query) all.run(query);
        });
    };
    switch (scorer.model) {
    case TextModel::bm25:
        return search(WholeText<Bm25Formula>(postings, scorer));
    case TextModel::bm25f:
        return search(WeightedFields(postings, scorer));
    case TextModel::dirichlet:
        return search(WholeText<DirichletFormula>(postings, scorer));
    case TextModel::dph:
        return search(WholeText<DphFormula>(postings, scorer));
    }
}

} // namespace rankwright
