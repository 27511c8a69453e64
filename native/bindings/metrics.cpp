#include "core/bootstrap.hpp"
#include "core/concordance.hpp"
#include "core/discounted.hpp"
#include "core/relevance.hpp"

#include "bindings/arrays.hpp"

namespace rankwright {

namespace {

using Rows = In<std::int64_t>;

RankedLists lists_of(const Rows &offsets, const Rows &n_ranked, const Rows &rows, const In<bool> &tied) {
    return {view(offsets), view(n_ranked), view(rows), view(tied)};
}

} // namespace

void bind_metrics(nb::module_ &module) {
    const auto values = nb::arg("values").noconvert(), gains = nb::arg("gains").noconvert();
    const auto labels = nb::arg("labels").noconvert(), discounts = nb::arg("discounts").noconvert();
    const auto offsets = nb::arg("offsets").noconvert(), n_ranked = nb::arg("n_ranked").noconvert();
    const auto rows = nb::arg("rows").noconvert(), tied = nb::arg("tied").noconvert();
    const auto threads = nb::arg("threads");

    module.def(
        "exponential_gains",
        [](In<float> labels, Out<double> gains, int threads) {
            nb::gil_scoped_release released;
            exponential_gains(view(labels), fill(gains), threads);
        },
        labels, gains, threads);
    module.def(
        "discounted_gains",
        [](In<double> gains, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, In<double> discounts,
           Out<double> found, Out<double> ideal, int threads) {
            nb::gil_scoped_release released;
            discounted_gains(view(gains), lists_of(offsets, n_ranked, rows, tied), view(discounts), fill(found),
                             fill(ideal), threads);
        },
        gains, offsets, n_ranked, rows, tied, discounts, nb::arg("found").noconvert(), nb::arg("ideal").noconvert(),
        threads);
    module.def(
        "mean_gain_shares",
        [](In<double> gains, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, In<double> discounts,
           Out<double> means, int threads) {
            nb::gil_scoped_release released;
            mean_gain_shares(view(gains), lists_of(offsets, n_ranked, rows, tied), view(discounts), fill(means),
                             threads);
        },
        gains, offsets, n_ranked, rows, tied, discounts, nb::arg("means").noconvert(), threads);
    module.def(
        "precision_sums",
        [](In<bool> relevant, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, std::int64_t cutoff,
           Out<double> sums, Out<std::int64_t> n_relevant, int threads) {
            nb::gil_scoped_release released;
            precision_sums(view(relevant), lists_of(offsets, n_ranked, rows, tied), cutoff, fill(sums),
                           fill(n_relevant), threads);
        },
        nb::arg("relevant").noconvert(), offsets, n_ranked, rows, tied, nb::arg("cutoff"), nb::arg("sums").noconvert(),
        nb::arg("n_relevant").noconvert(), threads);
    module.def(
        "read_until_satisfied",
        [](In<double> stop, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, std::int64_t cutoff,
           Out<double> reciprocal, Out<double> stopped, int threads) {
            nb::gil_scoped_release released;
            read_until_satisfied(view(stop), lists_of(offsets, n_ranked, rows, tied), cutoff, fill(reciprocal),
                                 fill(stopped), threads);
        },
        nb::arg("stop").noconvert(), offsets, n_ranked, rows, tied, nb::arg("cutoff"),
        nb::arg("reciprocal").noconvert(), nb::arg("stopped").noconvert(), threads);
    module.def(
        "wrong_pairs",
        [](In<float> labels, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, Out<double> wrong,
           Out<double> n_pairs, int threads) {
            nb::gil_scoped_release released;
            wrong_pairs(view(labels), lists_of(offsets, n_ranked, rows, tied), fill(wrong), fill(n_pairs), threads);
        },
        labels, offsets, n_ranked, rows, tied, nb::arg("wrong").noconvert(), nb::arg("n_pairs").noconvert(), threads);
    module.def(
        "bootstrap_means",
        [](In<double> values, In<double> weights, std::uint64_t seed, Out<double> means, int threads) {
            nb::gil_scoped_release released;
            bootstrap_means(view(values), view(weights), seed, fill(means), threads);
        },
        values, nb::arg("weights").noconvert(), nb::arg("seed"), nb::arg("means").noconvert(), threads);
    module.def(
        "random_sign_sums",
        [](In<double> values, std::uint64_t seed, Out<double> sums, int threads) {
            nb::gil_scoped_release released;
            random_sign_sums(view(values), seed, fill(sums), threads);
        },
        values, nb::arg("seed"), nb::arg("sums").noconvert(), threads);
}

} // namespace rankwright
