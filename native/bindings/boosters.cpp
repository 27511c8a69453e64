#include "core/boosters/label_pairs.hpp"
#include "core/boosters/moves.hpp"
#include "core/boosters/pair_units.hpp"

#include "bindings/define.hpp"

namespace rankwright {

namespace {

using Rows = In<std::int64_t>;
using Codes = InMatrix<std::uint8_t>;

FeatureCodes codes_of(const Codes &codes, const Rows &n_bins) { return {codes.data(), codes.shape(1), view(n_bins)}; }

LabelPairs pairs_of(const In<float> &labels, const In<double> &weights, const In<double> &query_weights,
                    const Rows &offsets, const Rows &order) {
    return {view(labels), view(weights), view(query_weights), view(offsets), view(order)};
}

} // namespace

void bind_boosters(nb::module_ &module) {
    define(module, "pair_potentials",
           {"scores", "labels", "weights", "query_weights", "offsets", "order", "potentials", "totals", "threads"},
           [](In<double> scores, In<float> labels, In<double> weights, In<double> query_weights, Rows offsets,
              Rows order, Out<double> potentials, Out<double> totals, int threads) {
               pair_potentials(view(scores), pairs_of(labels, weights, query_weights, offsets, order), fill(potentials),
                               fill(totals), threads);
           });
    define(module, "potential_stumps", {"codes", "n_bins", "potentials", "sums", "bin", "missing_above", "threads"},
           [](Codes codes, Rows n_bins, In<double> potentials, Out<double> sums, Out<std::int64_t> bin,
              Out<bool> missing_above, int threads) {
               potential_stumps(codes_of(codes, n_bins), view(potentials), fill(sums), {fill(bin), fill(missing_above)},
                                threads);
           });
    define(module, "fidelity_potentials",
           {"scores", "labels", "weights", "query_weights", "offsets", "order", "potentials", "totals", "threads"},
           [](In<double> scores, In<float> labels, In<double> weights, In<double> query_weights, Rows offsets,
              Rows order, Out<double> potentials, Out<double> totals, int threads) {
               fidelity_potentials(view(scores), pairs_of(labels, weights, query_weights, offsets, order),
                                   fill(potentials), fill(totals), threads);
           });
    define(
        module, "fidelity_agreement",
        {"scores", "labels", "weights", "query_weights", "offsets", "order", "above", "agree", "disagree", "threads"},
        [](In<double> scores, In<float> labels, In<double> weights, In<double> query_weights, Rows offsets, Rows order,
           In<std::uint8_t> above, OutMatrix<double> agree, OutMatrix<double> disagree, int threads) {
            fidelity_agreement(view(scores), pairs_of(labels, weights, query_weights, offsets, order), view(above),
                               fill(agree), fill(disagree), threads);
        });
    define(module, "rank_moves", {"scores", "column", "moves", "offsets", "moved", "rows", "threads"},
           [](In<double> scores, In<double> column, In<double> moves, Rows offsets, Out<double> moved,
              Out<std::int64_t> rows, int threads) {
               rank_moves(view(scores), view(column), view(moves), view(offsets), fill(moved), fill(rows), threads);
           });
    define(module, "pair_unit_sums", {"inputs", "offsets", "sums", "threads"},
           [](InMatrix<double> inputs, Rows offsets, OutMatrix<double> sums, int threads) {
               pair_unit_sums({inputs.data(), inputs.shape(1), view(offsets)}, fill(sums), threads);
           });
    define(
        module, "pair_unit_gradient", {"inputs", "offsets", "of_sums", "gradient", "threads"},
        [](InMatrix<double> inputs, Rows offsets, InMatrix<double> of_sums, OutMatrix<double> gradient, int threads) {
            pair_unit_gradient({inputs.data(), inputs.shape(1), view(offsets)}, view(of_sums), fill(gradient), threads);
        });
}

} // namespace rankwright
