// What kernels of objectives and of nets read: the queries of a dataset, and how their documents pair.
#pragma once

#include "bindings/records.hpp"
#include "bindings/require.hpp"
#include "core/objectives/lambdas.hpp"

namespace rankwright {

inline PairLoss loss_named(std::string_view name) {
    return named<PairLoss>(
        name, {{"logistic", PairLoss::logistic}, {"hinge", PairLoss::hinge}, {"spring", PairLoss::spring}});
}

inline Delta delta_named(std::string_view name) {
    return named<Delta>(name, {{"constant", Delta::constant},
                               {"discounted-gain", Delta::discounted_gain},
                               {"average-precision", Delta::average_precision},
                               {"reciprocal-rank", Delta::reciprocal_rank},
                               {"expected-reciprocal-rank", Delta::expected_reciprocal_rank}});
}

inline void require_groups(const WeighedGroups &groups, std::size_t n_docs) {
    require_offsets("offsets", groups.offsets, n_docs);
    require_size_or_none("document_weights", groups.document_weights.size(), n_docs);
    require_size_or_none("query_weights", groups.query_weights.size(), groups.offsets.size() - 1);
}

// Queries of the groups, and the places of their scores.
inline void require_batch(std::span<const std::int64_t> queries, std::span<const std::int64_t> starts,
                          std::size_t n_scores, const WeighedGroups &groups) {
    require_size("starts", starts.size(), queries.size() + 1);
    require(starts.front() >= 0 && static_cast<std::size_t>(starts.back()) <= n_scores,
            "starts must be places of scores");
    require_below("queries", queries, groups.offsets.size() - 1);
}

template <> struct Reader<WeighedGroups> {
    static WeighedGroups read(nb::handle groups) {
        return {view<std::int64_t>(groups, "offsets"), view<float>(groups, "document_weights"),
                view<float>(groups, "query_weights")};
    }
};

template <> struct Reader<PairSettings> {
    static PairSettings read(nb::handle settings) {
        return {.loss = loss_named(field<std::string_view>(settings, "loss")),
                .shape = field<double>(settings, "shape"),
                .delta = delta_named(field<std::string_view>(settings, "delta")),
                .truncation = field<std::int64_t>(settings, "truncation"),
                .sampled = field<std::int64_t>(settings, "sampled"),
                .pair_equal_labels = field<bool>(settings, "pair_equal_labels"),
                .certainty = field<double>(settings, "certainty"),
                .query_norm = field<bool>(settings, "query_norm"),
                .gap_norm = field<bool>(settings, "gap_norm"),
                .shuffle_ties = field<bool>(settings, "shuffle_ties"),
                .expected_ties = field<bool>(settings, "expected_ties"),
                .perturbations = field<std::int64_t>(settings, "perturbations"),
                .noise = field<double>(settings, "noise"),
                .neighbours = field<bool>(settings, "neighbours"),
                .constant_share = field<double>(settings, "constant_share")};
    }
};

template <> struct Reader<LabelledQueries> {
    static LabelledQueries read(nb::handle pairs) {
        return {.data = {.groups = Reader<WeighedGroups>::read(pairs.attr("groups")),
                         .labels = view<float>(pairs, "labels"),
                         .worth = view<double>(pairs, "worth"),
                         .discount = view<double>(pairs, "discount")},
                .by_label = view<std::int64_t>(pairs, "by_label"),
                .settings = Reader<PairSettings>::read(pairs.attr("settings"))};
    }
};

} // namespace rankwright
