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

template <typename T> void bind_label_pairs(nb::module_ &module) {
    define(module, "label_pair_lambdas", {"batch", "pairs", "forces", "threads"},
           [](Batch batch, LabelledQueries pairs, LambdaSpans<T> forces, int threads) {
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
               point_lambdas<T>(groups, view(targets), point_loss, batch, forces, threads);
           });
}

template <typename T> void bind_softmax(nb::module_ &module) {
    define(module, "softmax_lambdas", {"batch", "groups", "shares", "exponential", "noise", "forces", "threads"},
           [](Batch batch, WeighedGroups groups, In<double> shares, bool exponential, bool noise, LambdaSpans<T> forces,
              int threads) { softmax_lambdas<T>(groups, {view(shares), exponential, noise}, batch, forces, threads); });
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
