#include "core/boosters/label_pairs.hpp"
#include "core/boosters/moves.hpp"
#include "core/boosters/pair_units.hpp"

#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"

namespace rankwright {

namespace {

using Rows = In<std::int64_t>;
using Codes = InMatrix<std::uint8_t>;

FeatureCodes codes_of(const Codes &codes, const Rows &n_bins) { return {codes.data(), codes.shape(1), view(n_bins)}; }

} // namespace

template <> struct Reader<LabelPairs> {
    static LabelPairs read(nb::handle pairs) {
        return {view<float>(pairs, "labels"), view<double>(pairs, "weights"), view<double>(pairs, "query_weights"),
                view<std::int64_t>(pairs, "offsets"), view<std::int64_t>(pairs, "order")};
    }
};

namespace {

void require_pairs(const LabelPairs &pairs, std::size_t n_docs) {
    require_size("labels", pairs.labels.size(), n_docs);
    require_size("weights", pairs.weights.size(), n_docs);
    require_offsets("offsets", pairs.offsets, pairs.order.size());
    require_size("query_weights", pairs.query_weights.size(), pairs.offsets.size() - 1);
}

// What pairs are summed to: a potential for each document, a total for each query.
void require_potentials(const LabelPairs &pairs, std::size_t n_docs, std::size_t n_potentials, std::size_t n_totals) {
    require_pairs(pairs, n_docs);
    require_size("potentials", n_potentials, n_docs);
    require_size("totals", n_totals, pairs.query_weights.size());
}

} // namespace

void bind_boosters(nb::module_ &module) {
    define(module, "pair_potentials", {"scores", "pairs", "potentials", "totals", "threads"},
           [](In<double> scores, LabelPairs pairs, Out<double> potentials, Out<double> totals, int threads) {
               require_potentials(pairs, scores.size(), potentials.size(), totals.size());
               pair_potentials(view(scores), pairs, fill(potentials), fill(totals), threads);
           });
    define(module, "potential_stumps", {"codes", "n_bins", "potentials", "sums", "bin", "missing_above", "threads"},
           [](Codes codes, Rows n_bins, In<double> potentials, Out<double> sums, Out<std::int64_t> bin,
              Out<bool> missing_above, int threads) {
               require_size("n_bins", n_bins.size(), codes.shape(0));
               require_size("potentials", potentials.size(), codes.shape(1));
               for (const std::size_t size : {sums.size(), bin.size(), missing_above.size()})
                   require_size("the values of features", size, codes.shape(0));
               potential_stumps(codes_of(codes, n_bins), view(potentials), fill(sums), {fill(bin), fill(missing_above)},
                                threads);
           });
    define(module, "fidelity_potentials", {"scores", "pairs", "potentials", "totals", "threads"},
           [](In<double> scores, LabelPairs pairs, Out<double> potentials, Out<double> totals, int threads) {
               require_potentials(pairs, scores.size(), potentials.size(), totals.size());
               fidelity_potentials(view(scores), pairs, fill(potentials), fill(totals), threads);
           });
    define(module, "fidelity_agreement", {"scores", "pairs", "above", "agree", "disagree", "threads"},
           [](In<double> scores, LabelPairs pairs, In<std::uint8_t> above, OutMatrix<double> agree,
              OutMatrix<double> disagree, int threads) {
               require_pairs(pairs, scores.size());
               require_size("above", above.size(), scores.size());
               require_shape("agree", agree, pairs.query_weights.size(), 8);
               require_shape("disagree", disagree, pairs.query_weights.size(), 8);
               fidelity_agreement(view(scores), pairs, view(above), fill(agree), fill(disagree), threads);
           });
    define(module, "rank_moves", {"scores", "column", "moves", "offsets", "moved", "rows", "threads"},
           [](In<double> scores, In<double> column, In<double> moves, Rows offsets, Out<double> moved,
              Out<std::int64_t> rows, int threads) {
               require_offsets("offsets", view(offsets), scores.size());
               require_size("column", column.size(), scores.size());
               require_size("moved", moved.size(), scores.size() * moves.size());
               require_size("rows", rows.size(), scores.size() * moves.size());
               rank_moves(view(scores), view(column), view(moves), view(offsets), fill(moved), fill(rows), threads);
           });
    define(module, "pair_unit_sums", {"inputs", "offsets", "sums", "threads"},
           [](InMatrix<double> inputs, Rows offsets, OutMatrix<double> sums, int threads) {
               require_offsets("offsets", view(offsets), inputs.shape(0));
               require_shape("sums", sums, inputs.shape(0), inputs.shape(1));
               pair_unit_sums({inputs.data(), inputs.shape(1), view(offsets)}, fill(sums), threads);
           });
    define(
        module, "pair_unit_gradient", {"inputs", "offsets", "of_sums", "gradient", "threads"},
        [](InMatrix<double> inputs, Rows offsets, InMatrix<double> of_sums, OutMatrix<double> gradient, int threads) {
            require_offsets("offsets", view(offsets), inputs.shape(0));
            require_shape("of_sums", of_sums, inputs.shape(0), inputs.shape(1));
            require_shape("gradient", gradient, inputs.shape(0), inputs.shape(1));
            pair_unit_gradient({inputs.data(), inputs.shape(1), view(offsets)}, view(of_sums), fill(gradient), threads);
        });
}

} // namespace rankwright
