// Features of how often the terms of a query occur. Sums go over the query's different terms, in their order; terms
// that stand in the query more than once count so often in the models (BM25, language models, DPH, vector space).
// A feature is written for a vector of texts, and compiled for each width of vectors.
#include <cmath>

#include "core/common/vectors.hpp"
#include "core/matches/matches.hpp"

namespace rankwright {

namespace {

constexpr double two_pi = 6.283185307179586;

// Some neighbouring texts of a block, as many as V has numbers.
template <typename V> struct Texts {
    const TextBlock &block;
    std::size_t first;

    std::size_t n_terms() const { return block.query.n_terms(); }
    const double *query_counts() const { return block.query.counts().data(); }
    const double *idf() const { return block.query.idf(block.view).data(); }
    [[gnu::always_inline]] V length() const { return load<V>(block.lengths + first); }
    [[gnu::always_inline]] V n_different() const { return load<V>(block.n_different + first); }
    [[gnu::always_inline]] V count(std::size_t term) const {
        return load<V>(block.counts + term * block.stride + first);
    }
};

template <typename V> [[gnu::always_inline]] inline bool any(BitsOf<V> mask) {
    typename Elementary<RealOf<V>>::Bits all = 0;
    for (std::size_t lane = 0; lane < sizeof(V) / sizeof(RealOf<V>); ++lane) all |= mask[lane];
    return all != 0;
}

template <typename V> [[gnu::always_inline]] inline V square_root(V values) {
    for (std::size_t lane = 0; lane < sizeof(V) / sizeof(RealOf<V>); ++lane) values[lane] = std::sqrt(values[lane]);
    return values;
}

template <typename V> [[gnu::always_inline]] inline V log2_of(V x) {
    return log_of<V>(x) * Elementary<double>::log2_of_e;
}

// Σ over the query's terms that the collection has of count in the query × log of what `ratio` gives: how much likelier
// the term is by the document's model than by the collection's. For terms that the text lacks it is `absent`, whatever
// their share: most terms are such, and logarithms take most of the time.
template <typename V, typename Model>
[[gnu::always_inline]] inline V log_likelihood_ratio(const Texts<V> &texts, const Model &model) {
    const double *query_counts = texts.query_counts(), *share = texts.block.query.share(texts.block.view).data();
    const V of_absent = log_of<V>(model.absent());
    V sum{};
    for (std::size_t term = 0; term < texts.n_terms(); ++term) {
        if (!(share[term] > 0)) continue;
        const V count = texts.count(term);
        V log = of_absent;
        if (any<V>(count > 0.0)) log = count > 0.0 ? log_of<V>(model.present(count, share[term])) : of_absent;
        sum += query_counts[term] * log;
    }
    return sum;
}

template <typename V> struct DiscountModel {
    double discount;
    V length, rest;
    [[gnu::always_inline]] V absent() const { return length > 0.0 ? rest : V{} + discount; }
    [[gnu::always_inline]] V present(V count, double share) const {
        const V left = count - discount;
        return (left < 0.0 ? V{} : left) / length / share + rest;
    }
};

template <typename V> struct DirichletModel {
    double mu;
    V length;
    [[gnu::always_inline]] V absent() const { return mu / (length + mu); }
    [[gnu::always_inline]] V present(V count, double share) const { return (count / share + mu) / (length + mu); }
};

template <typename V> struct MixedModel {
    double background;
    V length;
    [[gnu::always_inline]] V absent() const { return V{} + background; }
    [[gnu::always_inline]] V present(V count, double share) const {
        return (1.0 - background) * (count / length) / share + background;
    }
};

// What a term of the query is worth.
struct TermCount {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, std::size_t term) {
        return texts.count(term);
    }
};
struct TermShare {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, std::size_t term) {
        const V length = texts.length();
        return where<V>(length > 0.0, texts.count(term) / length);
    }
};
struct TermTfIdf {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, std::size_t term) {
        return texts.count(term) * texts.idf()[term];
    }
};
struct TermIdf {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, std::size_t term) {
        return V{} + texts.idf()[term];
    }
};

// Statistics over the query's terms; 0 where it has none.
template <typename Term> struct SumOf {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        V sum{};
        for (std::size_t term = 0; term < texts.n_terms(); ++term) sum += Term::of(texts, term);
        return sum;
    }
};
template <typename Term> struct MinOf {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        V least = texts.n_terms() == 0 ? V{} : Term::of(texts, 0);
        for (std::size_t term = 1; term < texts.n_terms(); ++term) {
            const V value = Term::of(texts, term);
            least = value < least ? value : least;
        }
        return least;
    }
};
template <typename Term> struct MaxOf {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        V most = texts.n_terms() == 0 ? V{} : Term::of(texts, 0);
        for (std::size_t term = 1; term < texts.n_terms(); ++term) {
            const V value = Term::of(texts, term);
            most = most < value ? value : most;
        }
        return most;
    }
};
template <typename Term> struct MeanOf {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        if (texts.n_terms() == 0) return V{};
        return SumOf<Term>::of(texts, settings) / static_cast<double>(texts.n_terms());
    }
};
template <typename Term> struct VarianceOf {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        if (texts.n_terms() == 0) return V{};
        const V mean = MeanOf<Term>::of(texts, settings);
        V sum{};
        for (std::size_t term = 0; term < texts.n_terms(); ++term) {
            const V gap = Term::of(texts, term) - mean;
            sum += gap * gap;
        }
        return sum / static_cast<double>(texts.n_terms());
    }
};

struct CoveredTerms {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        V n{};
        for (std::size_t term = 0; term < texts.n_terms(); ++term) n += where<V>(texts.count(term) > 0.0, V{} + 1.0);
        return n;
    }
};
struct CoveredShare {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        if (texts.n_terms() == 0) return V{};
        return CoveredTerms::of(texts, settings) / static_cast<double>(texts.n_terms());
    }
};
struct CoveredIdfShare {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        const double *idf = texts.idf();
        V covered{};
        double all = 0.0;
        for (std::size_t term = 0; term < texts.n_terms(); ++term) {
            all += idf[term];
            covered += where<V>(texts.count(term) > 0.0, V{} + idf[term]);
        }
        return all > 0 ? covered / all : V{};
    }
};
struct BooleanMatch {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        if (texts.n_terms() == 0) return V{};
        const V covered = CoveredTerms::of(texts, settings);
        return where<V>(covered == static_cast<double>(texts.n_terms()), V{} + 1.0);
    }
};
struct Length {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) { return texts.length(); }
};
struct DifferentTerms {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        return texts.n_different();
    }
};
struct QueryLength {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        return V{} + static_cast<double>(texts.block.query.places().size());
    }
};

struct VectorSpace {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        const double *query_counts = texts.query_counts(), *idf = texts.idf();
        V product{};
        double query_norm = 0.0;
        for (std::size_t term = 0; term < texts.n_terms(); ++term) {
            const double weight = query_counts[term] * idf[term];
            product += weight * (texts.count(term) * idf[term]);
            query_norm += weight * weight;
        }
        return where<V>(product > 0.0, product / (std::sqrt(query_norm) * square_root<V>(texts.length())));
    }
};
struct Bm25 {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        const double *query_counts = texts.query_counts(), *idf = texts.idf(), k1 = settings[0], b = settings[1];
        const V saturation = k1 * (1.0 - b + b * texts.length() / texts.block.mean_length);
        V sum{};
        for (std::size_t term = 0; term < texts.n_terms(); ++term) {
            const V count = texts.count(term);
            sum += where<V>(count > 0.0, query_counts[term] * idf[term] * (count / (count + saturation)));
        }
        return sum;
    }
};
struct Bm25f { // settings: k1, then weight and b of each stream
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        const double *query_counts = texts.query_counts(), *idf = texts.idf();
        V sum{};
        for (std::size_t term = 0; term < texts.n_terms(); ++term) {
            V count{};
            for (std::size_t k = 0; k < texts.block.streams.size(); ++k) {
                const StreamBlock &own = texts.block.streams[k];
                const double weight = settings[1 + 2 * k], b = settings[2 + 2 * k];
                const V here = load<V>(own.counts + term * texts.block.stride + texts.first);
                const V length = load<V>(own.lengths + texts.first);
                count += where<V>(here > 0.0, weight * (here / (1.0 - b + b * length / own.mean_length)));
            }
            sum += where<V>(count > 0.0, query_counts[term] * idf[term] * (count / (count + settings[0])));
        }
        return sum;
    }
};
struct AbsoluteDiscount {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        const V length = texts.length();
        const DiscountModel<V> model{settings[0], length, settings[0] * texts.n_different() / length};
        return log_likelihood_ratio(texts, model);
    }
};
struct Dirichlet {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        return log_likelihood_ratio(texts, DirichletModel<V>{settings[0], texts.length()});
    }
};
struct JelinekMercer {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings settings) {
        return log_likelihood_ratio(texts, MixedModel<V>{settings[0], texts.length()});
    }
};
struct Dph {
    template <typename V> [[gnu::always_inline]] static V of(const Texts<V> &texts, Settings) {
        const double *query_counts = texts.query_counts();
        const double *collection = texts.block.query.collection_count(texts.block.view).data();
        const V length = texts.length();
        V sum{};
        for (std::size_t term = 0; term < texts.n_terms(); ++term) {
            const V count = texts.count(term);
            if (collection[term] == 0 || !any<V>(count > 0.0)) continue;
            const V part = count / length, norm = (1.0 - part) * (1.0 - part) / (count + 1.0);
            const V expected =
                count * (texts.block.mean_length / length) * (texts.block.n_documents / collection[term]);
            const V surprise = count * log2_of<V>(expected) + 0.5 * log2_of<V>(two_pi * count * (1.0 - part));
            sum += where<V>((count > 0.0) & (part < 1.0), query_counts[term] * norm * surprise);
        }
        return sum;
    }
};

template <typename Measure, typename V> struct OverTexts {
    [[gnu::always_inline]] static void run(const TextBlock *block, Settings settings, double *values) {
        for (std::size_t first = 0; first < block->stride; first += sizeof(V) / sizeof(double))
            store<V>(values + first, Measure::of(Texts<V>{*block, first}, settings));
    }
};

template <typename Measure> void fill(Simd simd, const TextBlock &block, Settings settings, double *values) {
#ifdef RANKWRIGHT_X86
    if (simd == Simd::avx512)
        return compiled_for::avx512<OverTexts<Measure, Pack<double, 64>>>(&block, settings, values);
    if (simd == Simd::avx2) return compiled_for::avx2<OverTexts<Measure, Pack<double, 32>>>(&block, settings, values);
#endif
    static_cast<void>(simd);
    OverTexts<Measure, Pack<double, 16>>::run(&block, settings, values);
}

constexpr CountMeasure measures[] = {
    {"covered_terms", 0, fill<CoveredTerms>},
    {"covered_share", 0, fill<CoveredShare>},
    {"covered_idf_share", 0, fill<CoveredIdfShare>},
    {"length", 0, fill<Length>},
    {"different_terms", 0, fill<DifferentTerms>},
    {"query_length", 0, fill<QueryLength>},
    {"tf.sum", 0, fill<SumOf<TermCount>>},
    {"tf.min", 0, fill<MinOf<TermCount>>},
    {"tf.max", 0, fill<MaxOf<TermCount>>},
    {"tf.mean", 0, fill<MeanOf<TermCount>>},
    {"tf.variance", 0, fill<VarianceOf<TermCount>>},
    {"tf_share.sum", 0, fill<SumOf<TermShare>>},
    {"tf_share.min", 0, fill<MinOf<TermShare>>},
    {"tf_share.max", 0, fill<MaxOf<TermShare>>},
    {"tf_share.mean", 0, fill<MeanOf<TermShare>>},
    {"tf_share.variance", 0, fill<VarianceOf<TermShare>>},
    {"tf_idf.sum", 0, fill<SumOf<TermTfIdf>>},
    {"tf_idf.min", 0, fill<MinOf<TermTfIdf>>},
    {"tf_idf.max", 0, fill<MaxOf<TermTfIdf>>},
    {"tf_idf.mean", 0, fill<MeanOf<TermTfIdf>>},
    {"tf_idf.variance", 0, fill<VarianceOf<TermTfIdf>>},
    {"idf.sum", 0, fill<SumOf<TermIdf>>},
    {"idf.min", 0, fill<MinOf<TermIdf>>},
    {"idf.max", 0, fill<MaxOf<TermIdf>>},
    {"idf.mean", 0, fill<MeanOf<TermIdf>>},
    {"idf.variance", 0, fill<VarianceOf<TermIdf>>},
    {"boolean", 0, fill<BooleanMatch>},
    {"vector_space", 0, fill<VectorSpace>},
    {"bm25", 2, fill<Bm25>},
    {"bm25f", of_streams, fill<Bm25f>},
    {"absolute_discount", 1, fill<AbsoluteDiscount>},
    {"dirichlet", 1, fill<Dirichlet>},
    {"jelinek_mercer", 1, fill<JelinekMercer>},
    {"dph", 0, fill<Dph>},
};

template <typename V> struct TakeLogs {
    [[gnu::always_inline]] static void run(double *values, std::size_t n) {
        for (std::size_t first = 0; first < n; first += sizeof(V) / sizeof(double))
            store<V>(values + first, log_of<V>(1.0 + load<V>(values + first)));
    }
};

} // namespace

std::span<const CountMeasure> count_measures() { return measures; }

void take_logs(Simd simd, double *values, std::size_t stride) {
#ifdef RANKWRIGHT_X86
    if (simd == Simd::avx512) return compiled_for::avx512<TakeLogs<Pack<double, 64>>>(values, stride);
    if (simd == Simd::avx2) return compiled_for::avx2<TakeLogs<Pack<double, 32>>>(values, stride);
#endif
    static_cast<void>(simd);
    TakeLogs<Pack<double, 16>>::run(values, stride);
}

} // namespace rankwright
