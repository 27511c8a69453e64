#include "core/objectives/lambdas.hpp"

#include <memory>

#include "core/objectives/query_pairs.hpp"
#include "core/ranking/ordering.hpp"

namespace rankwright {

namespace {

// The rows of a batch by rank, query after query; empty where ranks do not matter.
class RankedBatch {
  public:
    RankedBatch(const Batch &batch, bool ranks_matter, int threads) {
        if (!ranks_matter) return;
        storage_ = std::make_unique_for_overwrite<std::int64_t[]>(batch.scores.size());
        rows_ = {storage_.get(), batch.scores.size()};
        rank_rows(batch.scores, batch.starts, rows_, threads);
    }
    std::span<const std::int64_t> rows() const { return rows_; }

  private:
    std::unique_ptr<std::int64_t[]> storage_;
    std::span<std::int64_t> rows_;
};

// Calls add_pairs(pairs, query, ranked), which returns a query's forces, for every query of the batch and writes them
// to the output.
template <typename Real, typename AddPairs>
void sum_pairs(const PairData &data, const PairSettings &settings, const Batch &batch, const LambdaSpans<Real> &out,
               bool ranks_matter, int threads, AddPairs &&add_pairs) {
    const RankedBatch ranked(batch, ranks_matter, threads);
    const auto make_worker = [&] { return QueryPairs<Real>(data, settings, !out.cost.empty()); };
    for_each_query(
        batch, data.groups, threads, make_worker, [&](QueryPairs<Real> &pairs, std::size_t k, const BatchQuery &query) {
            const QueryForces<Real> forces = add_pairs(pairs, query, ranked.rows());
            forces.write(out.gradient.subspan(query.start, query.n), out.curvature.subspan(query.start, query.n));
            if (!out.cost.empty()) out.cost[k] = forces.cost();
        });
}

} // namespace

template <typename Real>
void label_pair_lambdas(const LabelledQueries &pairs, const Batch &batch, const LambdaSpans<Real> &out, int threads) {
    const bool ranks_matter = pairs.settings.reads_ranks() && !pairs.settings.pairs_noisy_neighbours();
    sum_pairs(pairs.data, pairs.settings, batch, out, ranks_matter, threads,
              [&](QueryPairs<Real> &sums, const BatchQuery &query, std::span<const std::int64_t> ranked) {
                  return sums.pairs_of_labels(query, pairs.by_label, ranked);
              });
}

template <typename Real>
void preference_lambdas(const PairData &data, const PairTable &table, const PairSettings &settings, const Batch &batch,
                        const LambdaSpans<Real> &out, int threads) {
    sum_pairs(data, settings, batch, out, settings.reads_ranks(), threads,
              [&](QueryPairs<Real> &pairs, const BatchQuery &query, std::span<const std::int64_t> ranked) {
                  return pairs.pairs_of_table(query, table, ranked);
              });
}

template void label_pair_lambdas<float>(const LabelledQueries &, const Batch &, const LambdaSpans<float> &, int);
template void label_pair_lambdas<double>(const LabelledQueries &, const Batch &, const LambdaSpans<double> &, int);
template void preference_lambdas<float>(const PairData &, const PairTable &, const PairSettings &, const Batch &,
                                        const LambdaSpans<float> &, int);
template void preference_lambdas<double>(const PairData &, const PairTable &, const PairSettings &, const Batch &,
                                         const LambdaSpans<double> &, int);

} // namespace rankwright
