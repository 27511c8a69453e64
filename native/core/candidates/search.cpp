#include "core/candidates/search.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "core/candidates/best_list.hpp"
#include "core/candidates/term_cursor.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::uint32_t window = 4096;   // documents scored together: their sums stay in the fastest cache
constexpr std::size_t few = window / 32; // so few postings are gone through one by one, not by looking at every sum
constexpr std::size_t batch = 256;       // postings scored, and sums looked at, together
constexpr std::size_t sampled_lists = 4; // times k postings are scored to find a first threshold

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
                std::int64_t first, BestList &best)
        : postings_(postings), scorer_(scorer), conditions_(conditions), query_length_(query_length), first_(first),
          best_(best), most_prior_(scorer.most_prior(query_length)) {}

    void add_term(std::uint32_t number, WeightedTerm term) { cursors_.emplace_back(postings_, scorer_, term, number); }

    // Finds a score that k documents reach by one term alone, from the rarest terms, before any document is looked at.
    // A document may come in several lists, but in the longest only once.
    void expect_from_single_terms(std::size_t k) {
        if constexpr (!Scorer::is_positive) return;
        std::sort(cursors_.begin(), cursors_.end(),
                  [](const Cursor &a, const Cursor &b) { return a.size() < b.size(); });
        std::vector<double> scores;
        std::size_t longest = 0;
        for (const Cursor &cursor : cursors_) {
            const std::size_t before = scores.size();
            append_scores(cursor, std::min(cursor.size(), sampled_lists * k - before), scores);
            longest = std::max(longest, scores.size() - before);
        }
        const std::size_t rank = k + scores.size() - longest;
        if (scores.size() < rank) return;
        std::nth_element(scores.begin(), scores.begin() + (rank - 1), scores.end(), std::greater<>());
        if (scores[rank - 1] > 0 || most_prior_ < 0) best_.expect(scores[rank - 1]);
    }

    void run() {
        const auto n_documents = static_cast<std::uint32_t>(postings_.n_documents());
        std::uint32_t from = next_after(0);
        while (from < n_documents) {
            const std::uint32_t to = n_documents - from > window ? from + window : n_documents;
            search_window(from, to);
            from = next_after(to);
        }
    }

  private:
    std::uint32_t next_after(std::uint32_t from) const {
        std::uint32_t next = std::numeric_limits<std::uint32_t>::max();
        for (const Cursor &cursor : cursors_) next = std::min(next, cursor.next_after(from));
        return next;
    }

    // The scores of the first n documents of a term, without what other terms add; of those that have it.
    void append_scores(const Cursor &cursor, std::size_t n, std::vector<double> &scores) const {
        for (std::size_t posting = cursor.begin(); posting < cursor.begin() + n; ++posting) {
            const std::uint32_t document = postings_.documents[posting];
            if (document >= postings_.n_documents()) throw std::invalid_argument("a posting names no document");
            if (scorer_.matches(posting))
                scores.push_back(scorer_.addend(cursor.term(), posting) + scorer_.prior(query_length_, document));
        }
    }

    void search_window(std::uint32_t from, std::uint32_t to) {
        for (Cursor &cursor : cursors_) cursor.enter(from, to);
        std::erase_if(cursors_, [](const Cursor &cursor) { return cursor.is_done(); });
        const std::size_t n_asked = arrange();
        if (n_asked == cursors_.size()) return;
        if (Scorer::is_positive && n_asked + 1 == cursors_.size()) {
            visit_list(from, to, n_asked);
            return;
        }
        std::size_t n_postings = 0;
        for (std::size_t i = n_asked; i < cursors_.size(); ++i) n_postings += add_up(cursors_[i], from, to);
        if (n_postings == 0) return;
        if (n_postings <= few || !Scorer::is_positive) {
            visit_touched(from, n_asked);
        } else {
            visit_sums(from, to, n_asked);
        }
        touched_.clear();
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
            if (most + most_prior_ > best_.threshold()) break;
            asked_most_.push_back(most);
            ++n_asked;
        }
        return n_asked;
    }

    // Adds what the term gives to the documents of the window; returns how many postings it has there.
    std::size_t add_up(Cursor &cursor, std::uint32_t from, std::uint32_t to) {
        std::size_t begin = 0, end = 0;
        cursor.take(from, to, begin, end);
        std::array<double, batch> addends;
        for (std::size_t at = begin; at < end; at += batch) {
            const std::size_t stop = std::min(at + batch, end);
            require_in_window(at, stop, from, to);
            scorer_.addends(cursor.term(), at, stop, addends.data());
            for (std::size_t i = at; i < stop; ++i) sums_[postings_.documents[i] - from] += addends[i - at];
        }
        if (!Scorer::is_positive || touched_.size() + (end - begin) <= few) {
            for (std::size_t i = begin; i < end; ++i)
                if (scorer_.matches(i)) touched_.push_back(postings_.documents[i]);
        }
        return end - begin;
    }

    // Goes through the documents of one term, which need no sums.
    void visit_list(std::uint32_t from, std::uint32_t to, std::size_t n_asked) {
        Cursor &cursor = cursors_[n_asked];
        std::size_t begin = 0, end = 0;
        cursor.take(from, to, begin, end);
        std::array<double, batch> addends;
        for (std::size_t at = begin; at < end; at += batch) {
            const std::size_t stop = std::min(at + batch, end);
            require_in_window(at, stop, from, to);
            scorer_.addends(cursor.term(), at, stop, addends.data());
            visit_above(std::span(addends).first(stop - at), n_asked,
                        [&](std::size_t i) { return postings_.documents[at + i]; });
        }
    }

    // A file may hold postings in any order.
    void require_in_window(std::size_t begin, std::size_t end, std::uint32_t from, std::uint32_t to) const {
        const std::uint32_t *const documents = postings_.documents.data();
        bool fits = true;
        for (std::size_t i = begin; i < end; ++i) fits &= documents[i] - from < to - from;
        if (!fits) throw std::invalid_argument("the postings of a term are not in order");
    }

    void visit_touched(std::uint32_t from, std::size_t n_asked) {
        std::sort(touched_.begin(), touched_.end());
        touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
        for (const std::uint32_t document : touched_) {
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

    // Visits the documents whose sums can still come in. Where nothing was added, a sum is 0.
    template <typename DocumentOf>
    void visit_above(std::span<const double> sums, std::size_t n_asked, DocumentOf document_of) {
        const double bar = std::max(0.0, best_.threshold() - asked_most_[n_asked] - most_prior_);
        std::array<std::uint16_t, batch> above;
        std::size_t n_above = 0;
        for (std::size_t i = 0; i < sums.size(); ++i) {
            above[n_above] = static_cast<std::uint16_t>(i);
            n_above += sums[i] > bar ? 1 : 0;
        }
        for (std::size_t i = 0; i < n_above; ++i) visit(document_of(above[i]), sums[above[i]], n_asked);
    }

    // Asks the terms that were not walked, those that can add most first, as long as the document can still come in.
    void visit(std::uint32_t document, double sum, std::size_t n_asked) {
        double score = sum + scorer_.prior(query_length_, document);
        for (std::size_t i = n_asked; i-- > 0;) {
            if (score + asked_most_[i + 1] <= best_.threshold()) return;
            score += cursors_[i].at(document);
        }
        if (score > best_.threshold() && conditions_.hold(document)) best_.add({score, first_ + document});
    }

    const SegmentPostings &postings_;
    const Scorer &scorer_;
    Conditions conditions_;
    double query_length_;
    std::int64_t first_;
    BestList &best_;
    double most_prior_;
    std::vector<Cursor> cursors_;
    std::vector<double> asked_most_{0.0}; // by the first n terms together
    std::vector<std::uint32_t> touched_;  // documents with a posting in the window, where these are few
    std::array<double, window> sums_{};
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

    void run(std::size_t query) const {
        const std::size_t k = tops.k(), row = query * k;
        const auto size = static_cast<std::size_t>(tops.sizes[query]);
        if (k == 0) return;
        BestList best(tops.scores.subspan(row, size), tops.documents.subspan(row, size), k);
        QuerySearch<Scorer> search(postings, scorer, {streams, phrases, kept, query}, queries.lengths[query], first,
                                   best);
        for (std::int64_t i = queries.starts[query]; i < queries.starts[query + 1]; ++i) {
            if (queries.terms[i] == no_term) continue;
            if (queries.terms[i] >= postings.n_terms()) throw std::invalid_argument("a query's term is not there");
            search.add_term(queries.terms[i], {queries.weights[i], queries.rarities[i]});
        }
        if (kept.empty() && phrases.starts.empty()) search.expect_from_single_terms(k);
        search.run();
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
