// Features of how often the terms of a query occur. Sums go over the query's different terms, in their order; terms
// that stand in the query more than once count so often in the models (BM25, language models, DPH, vector space).
#include <algorithm>
#include <cmath>

#include "core/common/elementary.hpp"
#include "core/matches/matches.hpp"

namespace rankwright {

namespace {

constexpr double two_pi = 6.283185307179586;

double log2_of(double x) { return log_of(x) * Elementary<double>::log2_of_e; }

// Σ over the query's terms that the collection has of count in the query × log of what `ratio` gives: how much likelier
// the term is by the document's model than by the collection's. For terms that the text lacks it is the same whatever
// their share: most terms are such, and logarithms take most of the time.
template <typename Ratio> double log_likelihood_ratio(const Match &match, Ratio ratio) {
    const auto query_counts = match.query.counts(), share = match.query.share(match.view);
    const double of_absent = log_of(ratio(0.0, 1.0));
    double sum = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) {
        if (!(share[term] > 0)) continue;
        const double count = match.counts[term];
        sum += query_counts[term] * (count > 0 ? log_of(ratio(count, share[term])) : of_absent);
    }
    return sum;
}

} // namespace

double covered_terms(const Match &match) {
    double n = 0.0;
    for (const double count : match.counts) n += count > 0 ? 1.0 : 0.0;
    return n;
}

double covered_share(const Match &match) {
    return match.n_terms() == 0 ? 0.0 : covered_terms(match) / static_cast<double>(match.n_terms());
}

double covered_idf_share(const Match &match) {
    const auto idf = match.query.idf(match.view);
    double covered = 0.0, all = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) {
        all += idf[term];
        if (match.counts[term] > 0) covered += idf[term];
    }
    return all > 0 ? covered / all : 0.0;
}

double boolean_match(const Match &match) {
    return match.n_terms() > 0 && covered_terms(match) == static_cast<double>(match.n_terms()) ? 1.0 : 0.0;
}

double vector_space(const Match &match) {
    const auto query_counts = match.query.counts(), idf = match.query.idf(match.view);
    double product = 0.0, query_norm = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) {
        const double weight = query_counts[term] * idf[term];
        product += weight * (match.counts[term] * idf[term]);
        query_norm += weight * weight;
    }
    return product > 0 ? product / (std::sqrt(query_norm) * std::sqrt(match.length)) : 0.0;
}

double bm25(const Match &match, double k1, double b) {
    const auto query_counts = match.query.counts(), idf = match.query.idf(match.view);
    if (match.length == 0) return 0.0;
    const double saturation = k1 * (1.0 - b + b * match.length / match.mean_length);
    double sum = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) {
        const double count = match.counts[term];
        if (count > 0) sum += query_counts[term] * idf[term] * (count / (count + saturation));
    }
    return sum;
}

double bm25f(const Match &match, std::span<const double> settings) {
    const auto query_counts = match.query.counts(), idf = match.query.idf(match.view);
    double sum = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) {
        double count = 0.0;
        for (std::size_t k = 0; k < match.streams.size(); ++k) {
            const StreamMatch &own = match.streams[k];
            const double weight = settings[1 + 2 * k], b = settings[2 + 2 * k];
            if (own.counts[term] > 0)
                count += weight * (own.counts[term] / (1.0 - b + b * own.length / own.mean_length));
        }
        if (count > 0) sum += query_counts[term] * idf[term] * (count / (count + settings[0]));
    }
    return sum;
}

double absolute_discount(const Match &match, double discount) {
    if (match.length == 0) return log_likelihood_ratio(match, [&](double, double) { return discount; });
    const double rest = discount * match.n_different / match.length;
    return log_likelihood_ratio(match, [&](double count, double share) {
        return std::max(count - discount, 0.0) / match.length / share + rest;
    });
}

double dirichlet(const Match &match, double mu) {
    return log_likelihood_ratio(match,
                                [&](double count, double share) { return (count / share + mu) / (match.length + mu); });
}

double jelinek_mercer(const Match &match, double background) {
    if (match.length == 0) return log_likelihood_ratio(match, [&](double, double) { return background; });
    return log_likelihood_ratio(match, [&](double count, double share) {
        return (1.0 - background) * (count / match.length) / share + background;
    });
}

double dph(const Match &match) {
    const auto query_counts = match.query.counts(), collection = match.query.collection_count(match.view);
    double sum = 0.0;
    for (std::size_t term = 0; term < match.n_terms(); ++term) {
        const double count = match.counts[term], part = match.length > 0 ? count / match.length : 0.0;
        if (count == 0 || part >= 1 || collection[term] == 0) continue;
        const double norm = (1.0 - part) * (1.0 - part) / (count + 1.0);
        const double expected = count * (match.mean_length / match.length) * (match.n_documents / collection[term]);
        sum += query_counts[term] * norm * (count * log2_of(expected) + 0.5 * log2_of(two_pi * count * (1.0 - part)));
    }
    return sum;
}

} // namespace rankwright
