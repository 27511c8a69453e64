#include "bindings/define.hpp"
#include "bindings/objective_records.hpp"
#include "bindings/require.hpp"
#include "bindings/standardised_rows.hpp"
#include "core/nets/descent.hpp"
#include "core/nets/plain_net.hpp"

namespace rankwright {

// Rows of features on their way to a net, with the pieces that they are cut into, if any.
struct NetRowsRecord {
    StandardisedRows rows;
    Pieces pieces;

    NetFeatures features() const { return {rows.features, rows.shift, rows.factor, pieces}; }
    std::size_t n_inputs() const { return pieces.empty() ? rows.n_features : pieces.n_inputs(); }
    void require_fit() const {
        rows.require_fit();
        if (pieces.empty()) return;
        require_offsets("starts", pieces.starts, pieces.knots.size());
        require(std::ranges::is_sorted(pieces.starts), "starts must ascend");
        require_size("starts", pieces.n_features(), rows.n_features);
        require_size("categorical", pieces.categorical.size(), rows.n_features);
        require_size("missing", pieces.missing.size(), rows.n_features);
    }
    void require_rows(std::span<const std::int64_t> wanted) const {
        require_fit();
        rows.require_rows(wanted);
    }
};

template <> struct Reader<NetRowsRecord> {
    static NetRowsRecord read(nb::handle rows) {
        NetRowsRecord found{Reader<StandardisedRows>::read(rows), {}};
        if (const nb::object pieces = rows.attr("pieces"); !pieces.is_none()) {
            found.pieces = {view<std::int64_t>(pieces, "starts"), view<float>(pieces, "knots"),
                            view<bool>(pieces, "categorical"), view<bool>(pieces, "missing"),
                            field<float>(pieces, "height")};
        }
        return found;
    }
};

template <> struct Reader<PlainNet> {
    static PlainNet read(nb::handle net) {
        const auto activation =
            named<Activation>(field<std::string_view>(net, "activation"), {{"relu", Activation::relu},
                                                                           {"tanh", Activation::tanh},
                                                                           {"sigmoid", Activation::sigmoid},
                                                                           {"gelu", Activation::gelu}});
        return {.widths = view<std::int64_t>(net, "widths"),
                .weights = fill<float>(net, "weights"),
                .last_threshold = field<bool>(net, "last_threshold"),
                .activation = activation,
                .dropout = field<double>(net, "dropout"),
                .n_members = field<std::size_t>(net, "n_members")};
    }
};

template <> struct Reader<Descent> {
    static Descent read(nb::handle rule) {
        const auto optimizer = named<Optimizer>(field<std::string_view>(rule, "optimizer"),
                                                {{"adam", Optimizer::adam}, {"sgd", Optimizer::sgd}});
        return {.optimizer = optimizer,
                .learning_rate = field<double>(rule, "learning_rate"),
                .weight_decay = field<double>(rule, "weight_decay"),
                .pull = field<double>(rule, "pull"),
                .mean = fill<float>(rule, "mean"),
                .square = fill<float>(rule, "square"),
                .n_steps = field<std::int64_t>(rule, "n_steps")};
    }
};

template <> struct Reader<Walk> {
    static Walk read(nb::handle walk) {
        return {.queries = view<std::int64_t>(walk, "queries"),
                .starts = view<std::int64_t>(walk, "starts"),
                .keys = view<std::int64_t>(walk, "keys"),
                .batch_queries = field<std::size_t>(walk, "batch_queries"),
                .scores = fill<double>(walk, "scores"),
                .cost = fill<double>(walk, "cost")};
    }
};

namespace {

std::size_t n_weights(const PlainNet &net) {
    std::size_t found = 0;
    for (const Layer &layer : layers_of(net)) found += layer.n_numbers();
    return found;
}

void require_net(const PlainNet &net, const NetRowsRecord &inputs) {
    inputs.require_fit();
    require(net.widths.size() >= 2 && *std::min_element(net.widths.begin(), net.widths.end()) >= 0,
            "a net has the widths of its inputs and of a layer or more");
    require(net.widths.back() == 1, "the last layer of a net must have one unit");
    require(net.n_members >= 1 && (net.n_members == 1 || net.widths.size() > 2),
            "a net of members must have a hidden layer");
    require_size("the first of widths", static_cast<std::size_t>(net.widths[0]), inputs.n_inputs());
    require_size("weights", net.weights.size(), n_weights(net));
}

void require_rule(const Descent &rule, std::size_t n_weights) {
    const bool remembers = rule.optimizer == Optimizer::adam;
    require_size("mean", rule.mean.size(), remembers ? n_weights : rule.mean.size());
    require_size("square", rule.square.size(), remembers ? n_weights : rule.square.size());
}

void require_walk(const NetRowsRecord &inputs, const LabelledQueries &pairs, const Walk &walk) {
    require_groups(pairs.data.groups, inputs.rows.n_rows);
    require_size("labels", pairs.data.labels.size(), static_cast<std::size_t>(pairs.data.groups.offsets.back()));
    require_batch(walk.queries, walk.starts, walk.scores.size(), pairs.data.groups);
    require_size_or_none("cost", walk.cost.size(), walk.queries.size());
    require(walk.batch_queries >= 1 && walk.keys.size() * walk.batch_queries >= walk.queries.size(),
            "every step needs a key");
}

} // namespace

void bind_nets(nb::module_ &module) {
    define(module, "net_scores", {"net", "inputs", "rows", "key", "scores", "threads"},
           [](PlainNet net, NetRowsRecord inputs, In<std::int64_t> rows, std::uint64_t key, Out<double> scores,
              int threads) {
               require_net(net, inputs);
               inputs.require_rows(view(rows));
               require_size("scores", scores.size(), rows.size());
               net_scores(net, inputs.features(), view(rows), key, fill(scores), threads);
           });
    define(module, "net_member_scores", {"net", "inputs", "rows", "key", "scores", "threads"},
           [](PlainNet net, NetRowsRecord inputs, In<std::int64_t> rows, std::uint64_t key, Out<double> scores,
              int threads) {
               require_net(net, inputs);
               inputs.require_rows(view(rows));
               require_size("scores", scores.size(), rows.size() * net.n_members);
               net_member_scores(net, inputs.features(), view(rows), key, fill(scores), threads);
           });
    define(module, "net_inputs", {"inputs", "rows", "out"},
           [](NetRowsRecord inputs, In<std::int64_t> rows, OutMatrix<float> out) {
               inputs.require_rows(view(rows));
               require(!inputs.pieces.empty(), "net_inputs must have pieces");
               require_shape("out", out, rows.size(), inputs.n_inputs());
               const NodeTable table(inputs.pieces);
               const NetRows own{inputs.rows.features, inputs.rows.n_features, view(rows), inputs.rows.shift,
                                 inputs.rows.factor};
               Places places;
               table.place(own, places);
               table.write_inputs(own, places, fill(out));
           });
    define(module, "net_gradient", {"net", "inputs", "rows", "key", "forces", "gradient", "threads"},
           [](PlainNet net, NetRowsRecord inputs, In<std::int64_t> rows, std::uint64_t key, In<float> forces,
              Out<float> gradient, int threads) {
               require_net(net, inputs);
               inputs.require_rows(view(rows));
               require_size("forces", forces.size(), rows.size() * net.n_members);
               require_size("gradient", gradient.size(), net.weights.size());
               net_gradient(net, inputs.features(), view(rows), key, view(forces), fill(gradient), threads);
           });
    define(module, "follow_gradient", {"rule", "gradient", "weights"},
           [](Descent rule, In<float> gradient, Out<float> weights) {
               require_rule(rule, weights.size());
               require_size("gradient", gradient.size(), weights.size());
               follow_gradient(rule, view(gradient), fill(weights));
           });
    define(module, "descend_net", {"net", "inputs", "pairs", "rule", "walk", "threads"},
           [](PlainNet net, NetRowsRecord inputs, LabelledQueries pairs, Descent rule, Walk walk, int threads) {
               require_net(net, inputs);
               require_rule(rule, net.weights.size());
               require_walk(inputs, pairs, walk);
               return descend_net(net, inputs.features(), pairs, rule, walk, threads);
           });
}

} // namespace rankwright
