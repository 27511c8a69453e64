#include "core/metrics/bootstrap.hpp"
#include "core/metrics/concordance.hpp"
#include "core/metrics/discounted.hpp"
#include "core/metrics/relevance.hpp"

#include "bindings/define.hpp"

namespace rankwright {

namespace {

using Rows = In<std::int64_t>;

RankedLists lists_of(const Rows &offsets, const Rows &n_ranked, const Rows &rows, const In<bool> &tied) {
    return {view(offsets), view(n_ranked), view(rows), view(tied)};
}

} // namespace

void bind_metrics(nb::module_ &module) {
    define(module, "exponential_gains", {"labels", "gains", "threads"},
           [](In<float> labels, Out<double> gains, int threads) {
               exponential_gains(view(labels), fill(gains), threads);
           });
    define(module, "discounted_gains",
           {"gains", "offsets", "n_ranked", "rows", "tied", "discounts", "found", "ideal", "threads"},
           [](In<double> gains, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, In<double> discounts,
              Out<double> found, Out<double> ideal, int threads) {
               discounted_gains(view(gains), lists_of(offsets, n_ranked, rows, tied), view(discounts), fill(found),
                                fill(ideal), threads);
           });
    define(module, "mean_gain_shares",
           {"gains", "offsets", "n_ranked", "rows", "tied", "discounts", "means", "threads"},
           [](In<double> gains, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, In<double> discounts,
              Out<double> means, int threads) {
               mean_gain_shares(view(gains), lists_of(offsets, n_ranked, rows, tied), view(discounts), fill(means),
                                threads);
           });
    define(module, "precision_sums",
           {"relevant", "offsets", "n_ranked", "rows", "tied", "cutoff", "sums", "n_relevant", "threads"},
           [](In<bool> relevant, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, std::int64_t cutoff,
              Out<double> sums, Out<std::int64_t> n_relevant, int threads) {
               precision_sums(view(relevant), lists_of(offsets, n_ranked, rows, tied), cutoff, fill(sums),
                              fill(n_relevant), threads);
           });
    define(module, "read_until_satisfied",
           {"stop", "offsets", "n_ranked", "rows", "tied", "cutoff", "reciprocal", "stopped", "threads"},
           [](In<double> stop, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, std::int64_t cutoff,
              Out<double> reciprocal, Out<double> stopped, int threads) {
               read_until_satisfied(view(stop), lists_of(offsets, n_ranked, rows, tied), cutoff, fill(reciprocal),
                                    fill(stopped), threads);
           });
    define(module, "wrong_pairs", {"labels", "offsets", "n_ranked", "rows", "tied", "wrong", "n_pairs", "threads"},
           [](In<float> labels, Rows offsets, Rows n_ranked, Rows rows, In<bool> tied, Out<double> wrong,
              Out<double> n_pairs, int threads) {
               wrong_pairs(view(labels), lists_of(offsets, n_ranked, rows, tied), fill(wrong), fill(n_pairs), threads);
           });
    define(module, "bootstrap_means", {"values", "weights", "seed", "means", "threads"},
           [](In<double> values, In<double> weights, std::uint64_t seed, Out<double> means, int threads) {
               bootstrap_means(view(values), view(weights), seed, fill(means), threads);
           });
    define(module, "random_sign_sums", {"values", "seed", "sums", "threads"},
           [](In<double> values, std::uint64_t seed, Out<double> sums, int threads) {
               random_sign_sums(view(values), seed, fill(sums), threads);
           });
}

} // namespace rankwright
