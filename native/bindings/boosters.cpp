#include "core/label_pairs.hpp"
#include "core/moves.hpp"
#include "core/pair_units.hpp"

#include "bindings/arrays.hpp"

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
    const auto scores = nb::arg("scores").noconvert(), labels = nb::arg("labels").noconvert();
    const auto weights = nb::arg("weights").noconvert(), query_weights = nb::arg("query_weights").noconvert();
    const auto offsets = nb::arg("offsets").noconvert(), order = nb::arg("order").noconvert();
    const auto codes = nb::arg("codes").noconvert(), n_bins = nb::arg("n_bins").noconvert();
    const auto bin = nb::arg("bin").noconvert(), missing_above = nb::arg("missing_above").noconvert();
    const auto threads = nb::arg("threads");

    module.def(
        "pair_potentials",
        [](In<double> scores, In<float> labels, In<double> weights, In<double> query_weights, Rows offsets, Rows order,
           Out<double> potentials, Out<double> totals, int threads) {
            nb::gil_scoped_release released;
            pair_potentials(view(scores), pairs_of(labels, weights, query_weights, offsets, order), fill(potentials),
                            fill(totals), threads);
        },
        scores, labels, weights, query_weights, offsets, order, nb::arg("potentials").noconvert(),
        nb::arg("totals").noconvert(), threads);
    module.def(
        "potential_stumps",
        [](Codes codes, Rows n_bins, In<double> potentials, Out<double> sums, Out<std::int64_t> bin,
           Out<bool> missing_above, int threads) {
            nb::gil_scoped_release released;
            potential_stumps(codes_of(codes, n_bins), view(potentials), fill(sums), {fill(bin), fill(missing_above)},
                             threads);
        },
        codes, n_bins, nb::arg("potentials").noconvert(), nb::arg("sums").noconvert(), bin, missing_above, threads);
    module.def(
        "fidelity_potentials",
        [](In<double> scores, In<float> labels, In<double> weights, In<double> query_weights, Rows offsets, Rows order,
           Out<double> potentials, Out<double> totals, int threads) {
            nb::gil_scoped_release released;
            fidelity_potentials(view(scores), pairs_of(labels, weights, query_weights, offsets, order),
                                fill(potentials), fill(totals), threads);
        },
        scores, labels, weights, query_weights, offsets, order, nb::arg("potentials").noconvert(),
        nb::arg("totals").noconvert(), threads);
    module.def(
        "fidelity_agreement",
        [](In<double> scores, In<float> labels, In<double> weights, In<double> query_weights, Rows offsets, Rows order,
           In<std::uint8_t> above, OutMatrix<double> agree, OutMatrix<double> disagree, int threads) {
            nb::gil_scoped_release released;
            fidelity_agreement(view(scores), pairs_of(labels, weights, query_weights, offsets, order), view(above),
                               fill(agree), fill(disagree), threads);
        },
        scores, labels, weights, query_weights, offsets, order, nb::arg("above").noconvert(),
        nb::arg("agree").noconvert(), nb::arg("disagree").noconvert(), threads);
    module.def(
        "rank_moves",
        [](In<double> scores, In<double> column, In<double> moves, Rows offsets, Out<double> moved,
           Out<std::int64_t> rows, int threads) {
            nb::gil_scoped_release released;
            rank_moves(view(scores), view(column), view(moves), view(offsets), fill(moved), fill(rows), threads);
        },
        scores, nb::arg("column").noconvert(), nb::arg("moves").noconvert(), offsets, nb::arg("moved").noconvert(),
        nb::arg("rows").noconvert(), threads);
    module.def(
        "pair_unit_sums",
        [](InMatrix<double> inputs, Rows offsets, OutMatrix<double> sums, int threads) {
            nb::gil_scoped_release released;
            pair_unit_sums({inputs.data(), inputs.shape(1), view(offsets)}, fill(sums), threads);
        },
        nb::arg("inputs").noconvert(), offsets, nb::arg("sums").noconvert(), threads);
    module.def(
        "pair_unit_gradient",
        [](InMatrix<double> inputs, Rows offsets, InMatrix<double> of_sums, OutMatrix<double> gradient, int threads) {
            nb::gil_scoped_release released;
            pair_unit_gradient({inputs.data(), inputs.shape(1), view(offsets)}, {of_sums.data(), of_sums.size()},
                               fill(gradient), threads);
        },
        nb::arg("inputs").noconvert(), offsets, nb::arg("of_sums").noconvert(), nb::arg("gradient").noconvert(),
        threads);
}

} // namespace rankwright
