#include "core/objectives/list_lambdas.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/common/elementary.hpp"

namespace rankwright {

namespace {

struct PointForce {
    double force, curvature, cost;
};

PointForce squared_force(double score, double target) {
    const double error = score - target;
    return {error, 1.0, 0.5 * error * error};
}

PointForce logistic_force(double score, double target) {
    const double e = exp_minus(std::abs(score));
    const double large = 1.0 / (1.0 + e), small = e * large; // the logistic function at |score| and at -|score|
    const double relevant = score < 0 ? small : large, irrelevant = score < 0 ? large : small;
    const double wrong_way = score < 0 ? target : 1.0 - target;
    return {(1.0 - target) * relevant - target * irrelevant, large * small,
            log_one_plus(e) + wrong_way * std::abs(score)};
}

double document_weight(const WeighedGroups &groups, std::size_t row) {
    return groups.document_weights.empty() ? 1.0 : groups.document_weights[row];
}

// One query's distributions; documents that take no part have NaN shares and exponentials of 0.
class SoftmaxQuery {
  public:
    void load(const WeighedGroups &groups, const SoftmaxTarget &target, const BatchQuery &query);
    double share(std::size_t row) const { return share_sum_ > 0.0 ? shares_[row] / share_sum_ : 0.0; }
    double probability(std::size_t row) const { return exponentials_[row] / exponential_sum_; }
    bool takes_part(std::size_t row) const { return !std::isnan(shares_[row]); }
    bool has_target() const { return share_sum_ > 0.0; }
    double log_probability(double score) const { return score - top_ - log_of(exponential_sum_); }

  private:
    std::vector<double> shares_, exponentials_;
    double top_ = 0, share_sum_ = 0, exponential_sum_ = 0;
};

void SoftmaxQuery::load(const WeighedGroups &groups, const SoftmaxTarget &target, const BatchQuery &query) {
    const auto given = target.shares.subspan(query.first_row, query.n);
    shares_.assign(given.begin(), given.end());
    exponentials_.assign(query.n, 0.0);
    top_ = -std::numeric_limits<double>::infinity();
    double top_share = top_;
    for (std::size_t row = 0; row < query.n; ++row) {
        if (!takes_part(row)) continue;
        top_ = std::max(top_, query.scores[row]);
        top_share = std::max(top_share, shares_[row]);
    }
    share_sum_ = exponential_sum_ = 0.0;
    for (std::size_t row = 0; row < query.n; ++row) {
        if (!takes_part(row)) continue;
        if (target.exponential) shares_[row] = exp_minus(top_share - shares_[row]);
        if (target.noise) shares_[row] += unit_interval(stream_of(query.stream, row));
        shares_[row] *= document_weight(groups, query.first_row + row);
        share_sum_ += shares_[row];
        exponentials_[row] = exp_minus(top_ - query.scores[row]);
        exponential_sum_ += exponentials_[row];
    }
}

} // namespace

template <typename Out>
void point_lambdas(const WeighedGroups &groups, std::span<const float> targets, PointLoss loss, const Batch &batch,
                   const LambdaSpans<Out> &out, int threads) {
    const auto force_of = loss == PointLoss::squared ? squared_force : logistic_force;
    const auto no_worker = [] { return 0; };
    for_each_query(batch, groups, threads, no_worker, [&](int, std::size_t k, const BatchQuery &query) {
        double cost = 0.0;
        for (std::size_t row = 0; row < query.n; ++row) {
            const float target = targets[query.first_row + row];
            const bool judged = !std::isnan(target);
            const double weight = judged ? query.weight * document_weight(groups, query.first_row + row) : 0.0;
            const auto [force, curvature, height] = force_of(query.scores[row], judged ? target : 0.0F);
            out.gradient[query.start + row] = static_cast<Out>(weight * force);
            out.curvature[query.start + row] = static_cast<Out>(weight * curvature);
            cost += weight * height;
        }
        if (!out.cost.empty()) out.cost[k] = cost;
    });
}

template <typename Out>
void softmax_lambdas(const WeighedGroups &groups, const SoftmaxTarget &target, const Batch &batch,
                     const LambdaSpans<Out> &out, int threads) {
    const auto make_worker = [] { return SoftmaxQuery(); };
    for_each_query(batch, groups, threads, make_worker,
                   [&](SoftmaxQuery &softmax, std::size_t k, const BatchQuery &query) {
                       softmax.load(groups, target, query);
                       double cost = 0.0;
                       for (std::size_t row = 0; row < query.n; ++row) {
                           const bool counts = softmax.has_target() && softmax.takes_part(row);
                           const double weight = counts ? query.weight : 0.0;
                           const double share = counts ? softmax.share(row) : 0.0;
                           const double found = counts ? softmax.probability(row) : 0.0;
                           out.gradient[query.start + row] = static_cast<Out>(weight * (found - share));
                           out.curvature[query.start + row] = static_cast<Out>(weight * found * (1.0 - found));
                           if (counts) cost -= weight * share * softmax.log_probability(query.scores[row]);
                       }
                       if (!out.cost.empty()) out.cost[k] = cost;
                   });
}

template void point_lambdas<float>(const WeighedGroups &, std::span<const float>, PointLoss, const Batch &,
                                   const LambdaSpans<float> &, int);
template void point_lambdas<double>(const WeighedGroups &, std::span<const float>, PointLoss, const Batch &,
                                    const LambdaSpans<double> &, int);
template void softmax_lambdas<float>(const WeighedGroups &, const SoftmaxTarget &, const Batch &,
                                     const LambdaSpans<float> &, int);
template void softmax_lambdas<double>(const WeighedGroups &, const SoftmaxTarget &, const Batch &,
                                      const LambdaSpans<double> &, int);

} // namespace rankwright
