#include "core/metrics/bootstrap.hpp"
#include "core/metrics/concordance.hpp"
#include "core/metrics/discounted.hpp"
#include "core/metrics/relevance.hpp"

#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"

namespace rankwright {

template <> struct Reader<RankedLists> {
    static RankedLists read(nb::handle lists) {
        return {view<std::int64_t>(lists, "offsets"), view<std::int64_t>(lists, "n_ranked"),
                view<std::int64_t>(lists, "rows"), view<bool>(lists, "tied")};
    }
};

namespace {

// A value for each document of the lists, and two for each list.
void require_lists(const RankedLists &lists, std::size_t n_docs, std::size_t n_first, std::size_t n_second) {
    require_offsets("offsets", lists.offsets, lists.rows.size());
    require_size("n_ranked", lists.n_ranked.size(), lists.offsets.size() - 1);
    require_size_or_none("tied", lists.tied.size(), lists.rows.size());
    require(n_docs >= lists.rows.size(), "every document of a list needs a value");
    require_size("the values of queries", n_first, lists.n_ranked.size());
    require_size("the values of queries", n_second, lists.n_ranked.size());
}

} // namespace

void bind_metrics(nb::module_ &module) {
    define(module, "exponential_gains", {"labels", "gains", "threads"},
           [](In<float> labels, Out<double> gains, int threads) {
               require_size("gains", gains.size(), labels.size());
               exponential_gains(view(labels), fill(gains), threads);
           });
    define(module, "discounted_gains", {"gains", "lists", "discounts", "found", "ideal", "threads"},
           [](In<double> gains, RankedLists lists, In<double> discounts, Out<double> found, Out<double> ideal,
              int threads) {
               require_lists(lists, gains.size(), found.size(), ideal.size());
               discounted_gains(view(gains), lists, view(discounts), fill(found), fill(ideal), threads);
           });
    define(module, "mean_gain_shares", {"gains", "lists", "discounts", "means", "threads"},
           [](In<double> gains, RankedLists lists, In<double> discounts, Out<double> means, int threads) {
               require_lists(lists, gains.size(), means.size(), means.size());
               mean_gain_shares(view(gains), lists, view(discounts), fill(means), threads);
           });
    define(module, "precision_sums", {"relevant", "lists", "cutoff", "sums", "n_relevant", "threads"},
           [](In<bool> relevant, RankedLists lists, std::int64_t cutoff, Out<double> sums, Out<std::int64_t> n_relevant,
              int threads) {
               require_lists(lists, relevant.size(), sums.size(), n_relevant.size());
               precision_sums(view(relevant), lists, cutoff, fill(sums), fill(n_relevant), threads);
           });
    define(module, "read_until_satisfied", {"stop", "lists", "cutoff", "reciprocal", "stopped", "threads"},
           [](In<double> stop, RankedLists lists, std::int64_t cutoff, Out<double> reciprocal, Out<double> stopped,
              int threads) {
               require_lists(lists, stop.size(), reciprocal.size(), stopped.size());
               read_until_satisfied(view(stop), lists, cutoff, fill(reciprocal), fill(stopped), threads);
           });
    define(module, "wrong_pairs", {"labels", "lists", "wrong", "n_pairs", "threads"},
           [](In<float> labels, RankedLists lists, Out<double> wrong, Out<double> n_pairs, int threads) {
               require_lists(lists, labels.size(), wrong.size(), n_pairs.size());
               wrong_pairs(view(labels), lists, fill(wrong), fill(n_pairs), threads);
           });
    define(module, "bootstrap_means", {"values", "weights", "seed", "means", "threads"},
           [](In<double> values, In<double> weights, std::uint64_t seed, Out<double> means, int threads) {
               require_size("weights", weights.size(), values.size());
               bootstrap_means(view(values), view(weights), seed, fill(means), threads);
           });
    define(module, "random_sign_sums", {"values", "seed", "sums", "threads"},
           [](In<double> values, std::uint64_t seed, Out<double> sums, int threads) {
               random_sign_sums(view(values), seed, fill(sums), threads);
           });
}

} // namespace rankwright
