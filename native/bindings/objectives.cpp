#include "bindings/define.hpp"
#include "bindings/objective_records.hpp"
#include "core/objectives/lambdas.hpp"
#include "core/objectives/list_lambdas.hpp"

namespace rankwright {

template <> struct Reader<Batch> {
    static Batch read(nb::handle batch) {
        return {view<double>(batch, "scores"), view<std::int64_t>(batch, "queries"),
                view<std::int64_t>(batch, "starts"), field<std::uint64_t>(batch, "key")};
    }
};

template <typename T> struct Reader<LambdaSpans<T>> {
    static LambdaSpans<T> read(nb::handle forces) {
        return {fill<T>(forces, "gradient"), fill<T>(forces, "curvature"), fill<double>(forces, "cost")};
    }
};

namespace {

template <typename T>
void require_lambdas(const Batch &batch, const WeighedGroups &groups, const LambdaSpans<T> &forces) {
    require(!groups.offsets.empty(), "offsets must have a value or more");
    require_groups(groups, static_cast<std::size_t>(groups.offsets.back()));
    require_batch(batch.queries, batch.starts, batch.scores.size(), groups);
    require_size("gradient", forces.gradient.size(), batch.scores.size());
    require_size("curvature", forces.curvature.size(), batch.scores.size());
    require_size_or_none("cost", forces.cost.size(), batch.queries.size());
}

std::size_t n_docs(const WeighedGroups &groups) { return static_cast<std::size_t>(groups.offsets.back()); }

template <typename T> void bind_label_pairs(nb::module_ &module) {
    define(module, "label_pair_lambdas", {"batch", "pairs", "forces", "threads"},
           [](Batch batch, LabelledQueries pairs, LambdaSpans<T> forces, int threads) {
               require_lambdas(batch, pairs.data.groups, forces);
               require_size("labels", pairs.data.labels.size(), n_docs(pairs.data.groups));
               require_size_or_none("by_label", pairs.by_label.size(), n_docs(pairs.data.groups));
               require_size_or_none("worth", pairs.data.worth.size(), n_docs(pairs.data.groups));
               label_pair_lambdas<T>(pairs, batch, forces, threads);
           });
}

template <typename T> void bind_preferences(nb::module_ &module) {
    define(module, "preference_lambdas",
           {"batch", "groups", "first_pair", "better", "worse", "probability", "weight", "worth", "discount",
            "settings", "forces", "threads"},
           [](Batch batch, WeighedGroups groups, In<std::int64_t> first_pair, In<std::int64_t> better,
              In<std::int64_t> worse, In<float> probability, In<float> weight, In<double> worth, In<double> discount,
              PairSettings settings, LambdaSpans<T> forces, int threads) {
               require_lambdas(batch, groups, forces);
               require_size("first_pair", first_pair.size(), groups.offsets.size());
               require_offsets("first_pair", view(first_pair), better.size());
               for (const std::size_t size : {worse.size(), probability.size(), weight.size()})
                   require_size("worse, probability and weight", size, better.size());
               require_size_or_none("worth", worth.size(), n_docs(groups));
               const PairTable table{view(first_pair), view(better), view(worse), view(probability), view(weight)};
               preference_lambdas<T>({groups, {}, view(worth), view(discount)}, table, settings, batch, forces,
                                     threads);
           });
}

template <typename T> void bind_points(nb::module_ &module) {
    define(module, "point_lambdas", {"batch", "groups", "targets", "loss", "forces", "threads"},
           [](Batch batch, WeighedGroups groups, In<float> targets, std::string_view loss, LambdaSpans<T> forces,
              int threads) {
               const auto point_loss =
                   named<PointLoss>(loss, {{"squared", PointLoss::squared}, {"logistic", PointLoss::logistic}});
               require_lambdas(batch, groups, forces);
               require_size("targets", targets.size(), n_docs(groups));
               point_lambdas<T>(groups, view(targets), point_loss, batch, forces, threads);
           });
}

template <typename T> void bind_softmax(nb::module_ &module) {
    define(module, "softmax_lambdas", {"batch", "groups", "shares", "exponential", "noise", "forces", "threads"},
           [](Batch batch, WeighedGroups groups, In<double> shares, bool exponential, bool noise, LambdaSpans<T> forces,
              int threads) {
               require_lambdas(batch, groups, forces);
               require_size("shares", shares.size(), n_docs(groups));
               softmax_lambdas<T>(groups, {view(shares), exponential, noise}, batch, forces, threads);
           });
}

template <typename T> void bind_for(nb::module_ &module) {
    bind_label_pairs<T>(module);
    bind_preferences<T>(module);
    bind_points<T>(module);
    bind_softmax<T>(module);
}

} // namespace

void bind_objectives(nb::module_ &module) {
    bind_for<float>(module);
    bind_for<double>(module); // for diagnostics
}

} // namespace rankwright
