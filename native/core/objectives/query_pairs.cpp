#include "core/objectives/query_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/common/counter_random.hpp"
#include "core/common/vectors.hpp"

namespace rankwright {

namespace {

// Documents from the highest label to the lowest, in runs of equal labels. A document's partners are those outside its
// run.
struct SortedRuns {
    std::size_t n_judged;
    std::vector<std::size_t> begin, end;

    // With `alone` every document is a run of its own.
    template <typename LabelAt> SortedRuns(std::size_t n, LabelAt label_at, bool alone) : n_judged(n) {
        while (n_judged > 0 && std::isnan(label_at(n_judged - 1))) --n_judged;
        begin.resize(n_judged);
        end.resize(n_judged);
        for (std::size_t at = 0; at < n_judged; ++at) {
            const bool continues = !alone && at > 0 && label_at(at) == label_at(at - 1);
            begin[at] = continues ? begin[at - 1] : at;
        }
        for (std::size_t at = n_judged; at-- > 0;) {
            const bool continues = at + 1 < n_judged && begin[at + 1] == begin[at];
            end[at] = continues ? end[at + 1] : at + 1;
        }
    }

    std::size_t n_partners(std::size_t at) const { return n_judged - (end[at] - begin[at]); }
    std::size_t partner(std::size_t at, std::size_t number) const {
        return number < begin[at] ? number : number + (end[at] - begin[at]);
    }
};

// The probability that a document ranks above one whose label is lower by `difference`.
double target_of(double certainty, double difference) {
    if (difference == 0.0) return 0.5;
    const double target = std::isinf(certainty) ? 1.0 : 1.0 / (1.0 + exp_minus(certainty * std::abs(difference)));
    return difference > 0.0 ? target : 1.0 - target;
}

} // namespace

template <typename Real>
void QueryPairs<Real>::load_by_rank(const BatchQuery &query, std::span<const std::int64_t> ranked) {
    query_ = query;
    row_at_.resize(query.n);
    for (std::size_t rank = 0; rank < query.n; ++rank) {
        row_at_[rank] = static_cast<std::uint32_t>(ranked[query.start + rank] - query.start);
    }
    if (settings_.shuffle_ties) shuffle_ties(query.scores, query.stream, row_at_, tie_keys_);
    if (settings_.delta != Delta::constant) weights_.load(query, row_at_);
    gather();
}

template <typename Real>
void QueryPairs<Real>::load_by_row(const BatchQuery &query, std::span<const std::int64_t> rows) {
    query_ = query;
    row_at_.resize(query.n);
    if (rows.empty()) {
        std::iota(row_at_.begin(), row_at_.end(), 0U);
    } else {
        for (std::size_t place = 0; place < query.n; ++place) {
            row_at_[place] = static_cast<std::uint32_t>(rows[query.first_row + place] - query.first_row);
        }
    }
    gather();
}

template <typename Real> void QueryPairs<Real>::load_noisy(const BatchQuery &query) {
    query_ = query;
    row_at_.resize(query.n);
    std::iota(row_at_.begin(), row_at_.end(), 0U);
    weights_.load(query, row_at_);
    gather();
}

// Fills all arrays that the loops read, in the order of places, and sets the sums to zero.
template <typename Real> void QueryPairs<Real>::gather() {
    const std::size_t n = query_.n;
    const auto scores = query_.scores;
    const auto [lowest, highest] = range_of(scores);
    // In floats, scores are counted from the highest one, so that they keep the digits that matter.
    const double origin = sizeof(Real) == sizeof(double) ? 0.0 : highest;
    rule_.divide_by_gap = settings_.gap_norm && lowest != highest;
    pad(score_, n, Real(0));
    pad(label_, n, std::numeric_limits<Real>::quiet_NaN());
    for (auto *zeros : {&gradient_, &curvature_}) {
        pad(*zeros, n, Real(0));
        std::fill(zeros->begin(), zeros->begin() + n, Real(0));
    }
    for (std::size_t place = 0; place < n; ++place) {
        score_[place] = static_cast<Real>(scores[row_at_[place]] - origin);
    }
    if (!data_.labels.empty()) {
        for (std::size_t place = 0; place < n; ++place) label_[place] = data_.labels[query_.first_row + row_at_[place]];
    }
    if (!data_.groups.document_weights.empty()) {
        pad(weight_, n, Real(0));
        for (std::size_t place = 0; place < n; ++place) {
            weight_[place] = data_.groups.document_weights[query_.first_row + row_at_[place]];
        }
    }
    gather_odds(highest - lowest);
    sums_ = {};
}

// Computes exponentials of documents instead of pairs, where that loses no digits.
template <typename Real> void QueryPairs<Real>::gather_odds(double score_span) {
    has_odds_ = near_row_ != nullptr && !settings_.neighbours && settings_.shape * score_span <= widest_odds_span;
    if (!has_odds_) return;
    using V = Pack<Real, 16>;
    pad(odds_, query_.n, Real(1));
    pad(odds_against_, query_.n, Real(1));
    for (std::size_t place = 0; place < query_.n; place += sizeof(V) / sizeof(Real)) {
        const V odds = exp_minus<V>(-rule_.shape * load<V>(&score_[place])); // scores are 0 or less here
        store<V>(&odds_[place], odds);
        store<V>(&odds_against_[place], Real(1) / odds);
    }
}

template <typename Real> void QueryPairs<Real>::add_row(std::size_t i, std::size_t first, const Real *pair_weights) {
    const RankedQuery<Real> view{.n = query_.n,
                                 .score = score_.data(),
                                 .label = label_.data(),
                                 .worth = weights_.worth(),
                                 .above = weights_.above(),
                                 .below = weights_.below(),
                                 .scale = weights_.scale(),
                                 .weight = data_.groups.document_weights.empty() ? nullptr : weight_.data(),
                                 .odds = odds_.data(),
                                 .odds_against = odds_against_.data(),
                                 .pair_weight = pair_weights,
                                 .gradient = gradient_.data(),
                                 .curvature = curvature_.data()};
    PairSums row;
    (has_odds_ ? near_row_ : loops_.row)(view, rule_, i, first, row);
    gradient_[i] += static_cast<Real>(row.force);
    curvature_[i] += static_cast<Real>(row.curvature);
    sums_.size += row.size;
    sums_.cost += row.cost;
}

template <typename Real>
QueryForces<Real> QueryPairs<Real>::pairs_of_labels(const BatchQuery &query, std::span<const std::int64_t> by_label,
                                                    std::span<const std::int64_t> ranked) {
    if (settings_.pairs_noisy_neighbours()) {
        load_noisy(query);
        add_neighbour_pairs();
        return QueryForces<Real>(*this);
    }
    const bool ranks_matter = settings_.delta != Delta::constant;
    // Up to this many documents, all pairs are no more than the draws would be.
    const std::size_t most_drawn = 2 * static_cast<std::size_t>(settings_.sampled) + 1;
    if (settings_.sampled > 0 && query.n > most_drawn) {
        ranks_matter ? load_by_rank(query, ranked) : load_by_row(query, {});
        add_sampled_pairs(by_label);
    } else if (ranks_matter || !is_whole(query.n)) {
        load_by_rank(query, ranked);
        settings_.neighbours ? add_neighbour_pairs() : add_ranked_pairs();
    } else {
        load_by_row(query, by_label);
        add_label_pairs();
    }
    return QueryForces<Real>(*this);
}

template <typename Real>
QueryForces<Real> QueryPairs<Real>::pairs_of_table(const BatchQuery &query, const PairTable &table,
                                                   std::span<const std::int64_t> ranked) {
    settings_.reads_ranks() ? load_by_rank(query, ranked) : load_by_row(query, {});
    add_listed_pairs(table, static_cast<std::size_t>(table.first_pair[query.query]),
                     static_cast<std::size_t>(table.first_pair[query.query + 1]));
    return QueryForces<Real>(*this);
}

template <typename Real> void QueryPairs<Real>::add_ranked_pairs() {
    if (settings_.delta != Delta::constant && !weights_.are_swaps()) return add_weighed_rows();
    const std::size_t n_rows = is_whole(query_.n) ? query_.n : static_cast<std::size_t>(settings_.truncation);
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (!std::isnan(label_[i])) add_row(i, i + 1);
    }
}

// Every weight is computed before its force; where a share of the weights is constant, twice: first for the sums, which
// the two shares have in common.
template <typename Real> void QueryPairs<Real>::add_weighed_rows() {
    pad(row_weights_, query_.n, Real(0));
    const auto for_rows = [&](auto &&each) {
        for (std::size_t i = 0; i < weights_.n_rows(); ++i) {
            if (std::isnan(label_[i])) continue;
            weights_.fill_row(i, row_weights_.data());
            each(i);
        }
    };
    const double share = settings_.constant_share;
    if (share == 0.0) return for_rows([&](std::size_t i) { add_row(i, i + 1, row_weights_.data()); });
    double changes = 0.0, counted = 0.0;
    for_rows([&](std::size_t i) {
        for (std::size_t j = i + 1; j < query_.n; ++j) {
            if (std::isnan(label_[j]) || label_[i] == label_[j]) continue;
            const double own = weight_of_documents(i, j);
            changes += own * row_weights_[j];
            counted += own * weights_.counted(i, j);
        }
    });
    const double constant = counted > 0.0 ? share * changes / counted : 0.0;
    for_rows([&](std::size_t i) {
        for (std::size_t j = i + 1; j < query_.n; ++j) {
            const double mixed = (1.0 - share) * row_weights_[j] + constant * weights_.counted(i, j);
            row_weights_[j] = static_cast<Real>(mixed);
        }
        add_row(i, i + 1, row_weights_.data());
    });
}

// The weights of a pair in several orders are added up by adding it several times. Pairs of equal labels, or without
// one, weigh nothing instead of being left out: a branch on labels would often be guessed wrong.
template <typename Real> void QueryPairs<Real>::add_neighbour_pairs() {
    const auto &noisy = weights_.noisy();
    const std::size_t n_pairs = query_.n == 0 ? 0 : std::min(query_.n - 1, noisy.n_counted());
    auto &[gap, target, weight, force, curvature] = neighbours_;
    for (auto *values : {&gap, &target, &weight, &force, &curvature}) pad(*values, n_pairs, Real(0));
    for (std::size_t k = 0; k < noisy.n_orders(); ++k) {
        const auto order = noisy.order(k);
        noisy.fill_neighbours(k, std::span(weight).first(n_pairs));
        weigh_neighbours(order.first(n_pairs == 0 ? 0 : n_pairs + 1));
        const std::size_t padded = (n_pairs + lanes - 1) / lanes * lanes;
        loops_.list({padded, gap.data(), target.data(), weight.data(), force.data(), curvature.data()}, rule_, sums_);
        // Each document but the first and the last has two neighbours.
        Real force_above = 0, curvature_above = 0;
        for (std::size_t rank = 0; rank < n_pairs; ++rank) {
            const auto place = order[rank];
            gradient_[place] = gradient_[place] - force_above + force[rank];
            curvature_[place] = curvature_[place] + curvature_above + curvature[rank];
            force_above = force[rank];
            curvature_above = curvature[rank];
        }
        if (n_pairs == 0) continue;
        gradient_[order[n_pairs]] -= force_above;
        curvature_[order[n_pairs]] += curvature_above;
    }
}

// Fills in gaps and targets of neighbours in an order, and finishes their weights.
template <typename Real> void QueryPairs<Real>::weigh_neighbours(std::span<const std::uint32_t> order) {
    auto &[gap, target, weight, force, curvature] = neighbours_;
    const std::size_t n_pairs = order.empty() ? 0 : order.size() - 1;
    ordered_scores_.resize(order.size());
    ordered_labels_.resize(order.size());
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        ordered_scores_[rank] = score_[order[rank]];
        ordered_labels_[rank] = label_[order[rank]];
    }
    const Real *score = ordered_scores_.data(), *label = ordered_labels_.data();
    for (std::size_t rank = 0; rank < n_pairs; ++rank) {
        gap[rank] = score[rank] - score[rank + 1];
        const Real difference = label[rank] - label[rank + 1];
        target[rank] = difference > 0 ? Real(1) : Real(0);
        weight[rank] = std::abs(difference) > 0 ? weight[rank] : Real(0); // not where a label is missing either
    }
    if (!std::isinf(settings_.certainty)) {
        for (std::size_t rank = 0; rank < n_pairs; ++rank) {
            target[rank] = static_cast<Real>(target_of(settings_.certainty, label[rank] - label[rank + 1]));
        }
    }
    if (data_.groups.document_weights.empty()) return;
    for (std::size_t rank = 0; rank < n_pairs; ++rank) {
        weight[rank] = static_cast<Real>(double(weight[rank]) * weight_of_documents(order[rank], order[rank + 1]));
    }
}

// Calls for_pairs(each) to have each(a, b, target, weight) called for every pair, and adds the pairs.
template <typename Real> template <typename ForPairs> void QueryPairs<Real>::add_pairs(ForPairs &&for_pairs) {
    const double share = settings_.constant_share;
    if (settings_.delta == Delta::constant) {
        for_pairs([&](std::size_t a, std::size_t b, double target, double weight) {
            buffer_pair(a, b, target, weight * weight_of_documents(a, b));
        });
        return empty_buffer();
    }
    double changes = 0.0, counted = 0.0;
    if (share > 0.0) {
        for_pairs([&](std::size_t a, std::size_t b, double, double weight) {
            weight *= weight_of_documents(a, b);
            changes += weight * weights_.weight(a, b);
            counted += weight * weights_.counted(a, b);
        });
    }
    const double constant = counted > 0.0 ? share * changes / counted : 0.0;
    for_pairs([&](std::size_t a, std::size_t b, double target, double weight) {
        double change = weights_.weight(a, b);
        if (share > 0.0) change = (1.0 - share) * change + constant * weights_.counted(a, b);
        buffer_pair(a, b, target, weight * weight_of_documents(a, b) * change);
    });
    empty_buffer();
}

// Labels fall, so the documents with a lower label than i's are those after its run of equal labels.
template <typename Real> void QueryPairs<Real>::add_label_pairs() {
    std::size_t run_end = 0;
    for (std::size_t i = 0; i < query_.n && !std::isnan(label_[i]); ++i) {
        while (run_end < query_.n && label_[run_end] == label_[i]) ++run_end;
        add_row(i, rule_.pair_equal_labels ? i + 1 : run_end);
    }
}

template <typename Real> void QueryPairs<Real>::find_places() {
    place_of_.resize(query_.n);
    for (std::size_t place = 0; place < query_.n; ++place)
        place_of_[row_at_[place]] = static_cast<std::uint32_t>(place);
}

// Every judged document draws partners among those with another label (or all others, where equal labels pair too).
// A pair whose documents have c and c' partners to choose from is drawn draws / c + draws / c' times on average:
// divided by that, sums over drawn pairs are unbiased.
template <typename Real> void QueryPairs<Real>::add_sampled_pairs(std::span<const std::int64_t> by_label) {
    find_places();
    add_pairs([&](auto &&each) { for_sampled_pairs(by_label, each); });
}

template <typename Real>
template <typename Each>
void QueryPairs<Real>::for_sampled_pairs(std::span<const std::int64_t> by_label, Each &&each) {
    const auto sorted = by_label.subspan(query_.first_row, query_.n);
    const auto label_at = [&](std::size_t at) { return data_.labels[sorted[at]]; };
    const auto row_of = [&](std::size_t at) { return static_cast<std::size_t>(sorted[at]) - query_.first_row; };
    const auto draws = static_cast<std::size_t>(settings_.sampled);
    const SortedRuns runs(query_.n, label_at, settings_.pair_equal_labels);
    for (std::size_t at = 0; at < runs.n_judged; ++at) {
        const std::size_t n_partners = runs.n_partners(at);
        if (n_partners == 0) return; // one label only
        const std::size_t row = row_of(at);
        for (std::size_t draw = 0; draw < draws; ++draw) {
            const auto random = stream_of(query_.stream, query_.n + row * draws + draw); // after those of ties
            const std::size_t other = runs.partner(at, below(random, n_partners));
            const double times = double(draws) / double(n_partners) + double(draws) / double(runs.n_partners(other));
            const double target = target_of(settings_.certainty, double(label_at(at)) - double(label_at(other)));
            each(place_of_[row], place_of_[row_of(other)], target, 1.0 / times);
        }
    }
}

template <typename Real>
void QueryPairs<Real>::add_listed_pairs(const PairTable &pairs, std::size_t first, std::size_t last) {
    find_places();
    const bool constant = settings_.delta == Delta::constant;
    std::size_t cut = constant ? static_cast<std::size_t>(settings_.truncation) : weights_.n_rows();
    if (constant && is_whole(query_.n)) cut = query_.n;
    add_pairs([&](auto &&each) {
        for (std::size_t pair = first; pair < last; ++pair) {
            const auto a = place_of_[pairs.better[pair] - query_.first_row];
            const auto b = place_of_[pairs.worse[pair] - query_.first_row];
            if (std::min(a, b) < cut) each(a, b, pairs.probability[pair], pairs.weight[pair]);
        }
    });
}

template <typename Real> double QueryPairs<Real>::weight_of_documents(std::size_t a, std::size_t b) const {
    return data_.groups.document_weights.empty() ? 1.0 : double(weight_[a]) * double(weight_[b]);
}

template <typename Real> void QueryPairs<Real>::write_pair(std::size_t a, std::size_t b, double target, double weight) {
    a_[buffered_] = static_cast<std::uint32_t>(a);
    b_[buffered_] = static_cast<std::uint32_t>(b);
    gap_[buffered_] = score_[a] - score_[b];
    target_[buffered_] = static_cast<Real>(target);
    pair_weight_[buffered_] = static_cast<Real>(weight);
}

template <typename Real>
void QueryPairs<Real>::buffer_pair(std::size_t a, std::size_t b, double target, double weight) {
    write_pair(a, b, target, weight);
    if (++buffered_ == buffered_pairs) empty_buffer();
}

template <typename Real> void QueryPairs<Real>::empty_buffer() {
    const std::size_t padded = (buffered_ + lanes - 1) / lanes * lanes;
    for (auto *values : {gap_, target_, pair_weight_}) std::fill(values + buffered_, values + padded, Real(0));
    loops_.list({padded, gap_, target_, pair_weight_, force_, pair_curvature_}, rule_, sums_);
    for (std::size_t pair = 0; pair < buffered_; ++pair) {
        gradient_[a_[pair]] += force_[pair];
        gradient_[b_[pair]] -= force_[pair];
        curvature_[a_[pair]] += pair_curvature_[pair];
        curvature_[b_[pair]] += pair_curvature_[pair];
    }
    buffered_ = 0;
}

template <typename Real> void QueryPairs<Real>::unload(std::span<Real> gradient, std::span<Real> curvature) const {
    double factor = query_.weight;
    const double size = 2.0 * sums_.size; // each pair pushes two documents
    if (settings_.query_norm && size > 0.0) factor *= Elementary<double>::log2_of_e * log_of(1.0 + size) / size;
    for (std::size_t place = 0; place < query_.n; ++place) {
        gradient[row_at_[place]] = static_cast<Real>(factor * double(gradient_[place]));
        curvature[row_at_[place]] = static_cast<Real>(factor * double(curvature_[place]));
    }
}

template class QueryPairs<float>;
template class QueryPairs<double>;

} // namespace rankwright
