#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "bindings/codes.hpp"
#include "bindings/define.hpp"
#include "bindings/records.hpp"
#include "bindings/require.hpp"
#include "bindings/sparse_records.hpp"
#include "core/forests/sparse_scores.hpp"
#include "core/forests/tree_scores.hpp"
#include "core/trees/grower.hpp"
#include "core/trees/leaf_values.hpp"
#include "core/trees/quantise.hpp"

namespace rankwright {

template <> struct Reader<SplitColumns> {
    static SplitColumns read(nb::handle columns) {
        return {.n_bins = view<std::int64_t>(columns, "n_bins"),
                .categorical = view<bool>(columns, "categorical"),
                .monotone = view<std::int8_t>(columns, "monotone"),
                .asked = view<bool>(columns, "asked")};
    }
};

template <> struct Reader<TreeSettings> {
    static TreeSettings read(nb::handle settings) {
        const auto max_leaves = field<std::int64_t>(settings, "max_leaves");
        const bool any_depth = settings.attr("max_depth").is_none();
        return {.max_leaves = max_leaves,
                .max_depth = any_depth ? max_leaves : field<std::int64_t>(settings, "max_depth"),
                .min_docs = field<std::int64_t>(settings, "min_docs_in_leaf"),
                .min_curvature = field<double>(settings, "min_curvature_in_leaf"),
                .l2 = field<double>(settings, "l2"),
                .min_gain = field<double>(settings, "min_gain"),
                .newton = field<std::string_view>(settings, "split_gain") == "newton",
                .category_smoothing = field<double>(settings, "category_smoothing"),
                .max_split_categories = field<std::int64_t>(settings, "max_split_categories"),
                .learning_rate = field<double>(settings, "learning_rate"),
                .symmetric = field<std::string_view>(settings, "growth") == "symmetric",
                .gain_noise = field<double>(settings, "gain_noise"),
                .split_feature_fraction = field<double>(settings, "split_feature_fraction")};
    }
};

template <> struct Reader<ArrangedRows> {
    static ArrangedRows read(nb::handle arranged) {
        const auto rows = field<InMatrix<std::uint8_t>>(arranged, "rows");
        return {.bytes = view(rows),
                .pitch = rows.shape(1),
                .features = view<std::int32_t>(arranged, "features"),
                .usual = view<std::uint8_t>(arranged, "usual"),
                .n_skipping = field<std::size_t>(arranged, "n_skipping"),
                .counts = view<std::uint32_t>(arranged, "counts")};
    }
};

template <> struct Reader<TreeScratch> {
    static TreeScratch read(nb::handle scratch) {
        return {.rows = fill<std::uint32_t>(scratch, "rows"),
                .sides = fill<std::uint8_t>(scratch, "sides"),
                .histograms = fill<std::uint64_t>(scratch, "histograms"),
                .arranged = Reader<ArrangedRows>::read(scratch.attr("arranged"))};
    }
};

template <> struct Reader<Tree> {
    static Tree read(nb::handle nodes) {
        const auto categories = field<OutMatrix<std::uint32_t>>(nodes, "categories");
        return {.feature = fill<std::int32_t>(nodes, "feature"),
                .bin = fill<std::int32_t>(nodes, "bin"),
                .left = fill<std::int32_t>(nodes, "left"),
                .right = fill<std::int32_t>(nodes, "right"),
                .missing_left = fill<bool>(nodes, "missing_left"),
                .gain = fill<double>(nodes, "gain"),
                .value = fill<float>(nodes, "value"),
                .curvature = fill<float>(nodes, "curvature"),
                .count = fill<std::int64_t>(nodes, "count"),
                .categories = fill(categories),
                .n_category_words = categories.shape(1)};
    }
};

template <> struct Reader<GrownNodes> {
    static GrownNodes read(nb::handle nodes) {
        const auto categories = field<InMatrix<std::uint32_t>>(nodes, "categories");
        return {.feature = view<std::int32_t>(nodes, "feature"),
                .bin = view<std::int32_t>(nodes, "bin"),
                .left = view<std::int32_t>(nodes, "left"),
                .right = view<std::int32_t>(nodes, "right"),
                .missing_left = view<bool>(nodes, "missing_left"),
                .value = view<float>(nodes, "value"),
                .categories = view(categories),
                .words_per_node = categories.shape(1)};
    }
};

namespace {

// A Python object with the same methods, over NumPy arrays that look into ours.
class PythonExchange : public Exchange {
  public:
    explicit PythonExchange(nb::handle object) : object_(object) {
        nb::gil_scoped_acquire locked;
        n_workers_ = nb::cast<std::size_t>(object.attr("size"));
        number_ = nb::cast<std::size_t>(object.attr("rank"));
        require(n_workers_ > 0 && number_ < n_workers_, "the rank of a worker must lie below their number");
    }
    std::size_t size() const override { return n_workers_; }
    std::size_t rank() const override { return number_; }
    void add_up(std::span<std::int64_t> values) override {
        nb::gil_scoped_acquire locked;
        object_.attr("add_up")(array(values));
    }
    void trade(std::span<const std::int64_t> out, std::span<const std::int64_t> sizes,
               std::span<std::int64_t> in) override {
        nb::gil_scoped_acquire locked;
        object_.attr("trade")(array(out), array(sizes), array(in));
    }
    void gather(std::span<const std::int64_t> own, std::span<std::int64_t> all) override {
        nb::gil_scoped_acquire locked;
        object_.attr("gather")(array(own), array(all));
    }

  private:
    static nb::object array(std::span<std::int64_t> values) {
        using Lent = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>;
        return nb::cast(Lent(values.data(), {values.size()}, nb::handle()), nb::rv_policy::reference);
    }
    // Libraries that send arrays want to be able to write to them, and do not.
    static nb::object array(std::span<const std::int64_t> values) {
        return array(std::span(const_cast<std::int64_t *>(values.data()), values.size()));
    }

    nb::handle object_;
    std::size_t n_workers_, number_;
};

void require_nodes(const Tree &nodes, std::size_t least) {
    for (const std::size_t size : {nodes.bin.size(), nodes.left.size(), nodes.right.size(), nodes.missing_left.size(),
                                   nodes.gain.size(), nodes.value.size(), nodes.curvature.size(), nodes.count.size()})
        require_size("nodes", size, nodes.feature.size());
    require_size("categories", nodes.categories.size(), nodes.feature.size() * nodes.n_category_words);
    require(nodes.feature.size() >= least, "nodes must have room for every leaf that the tree may have");
}

// A tree of so many leaves at most, each with a row or more.
std::size_t most_nodes(std::int64_t max_leaves, std::size_t n_rows) {
    const std::size_t n_leaves = std::min(static_cast<std::size_t>(std::max<std::int64_t>(max_leaves, 1)), n_rows);
    return n_leaves == 0 ? 1 : 2 * n_leaves - 1;
}

constexpr const char *arguments_of_growth[] = {"codes",    "columns",  "quantised", "gradient",       "curvature",
                                               "rows",     "all_rows", "settings",  "gradient_scale", "curvature_scale",
                                               "seed",     "scratch",  "nodes",     "begin",          "held",
                                               "exchange", "threads"};

std::size_t n_rows_of(const InCodes<std::uint8_t> &codes) { return codes.shape(1); }
std::size_t n_rows_of(const InCodes<std::uint16_t> &codes) { return codes.shape(1); }
std::size_t n_rows_of(const Codes<const SparseCode> &codes) { return codes.n_rows(); }

template <typename Code> void require_features(const InCodes<Code> &codes, std::size_t n_features) {
    require(n_features <= codes.shape(0) * codes.shape(2), "codes must hold every feature");
}
void require_features(const Codes<const SparseCode> &codes, std::size_t n_features) {
    for (const std::size_t size : {codes.first.size(), codes.n_places.size(), codes.usual.size(), codes.bundle.size()})
        require_size("what is known of features", size, n_features);
    require(!codes.starts.empty(), "starts must have one more than rows");
    require_offsets("starts", codes.starts, codes.listed.size());
    require_size("bundled", codes.bundled.size(), codes.n_rows() * codes.bases.size());
}

void require_arrangement(const ArrangedRows &arranged, std::size_t n_rows, std::size_t n_features) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    require_size("the usual codes", arranged.usual.size(), arranged.features.size());
    require_size("counts", arranged.counts.size(), arranged.features.size() * ArrangedRows::n_byte_codes);
    if (arranged.empty()) return;
    require_size("arranged rows", arranged.bytes.size(), n_rows * arranged.pitch);
    require(arranged.features.size() % word == 0 && arranged.pitch >= arranged.features.size() + word,
            "arranged rows must have room for a word after their codes");
    require(arranged.n_skipping <= std::min<std::size_t>(64, arranged.features.size() / group_bytes),
            "rows cannot skip more groups than there are, nor than a word has bits");
    std::vector<std::size_t> n_places(n_features);
    for (const std::int32_t feature : arranged.features) {
        require(feature < static_cast<std::int64_t>(n_features), "arranged features must be those of the codes");
        if (feature >= 0) ++n_places[static_cast<std::size_t>(feature)];
    }
    require(std::ranges::all_of(n_places, [](std::size_t n) { return n == 1; }),
            "every feature must have one arranged place");
}

// `Given` is how codes of type `Code` come from Python.
template <typename Code, typename Given> void bind_grow_tree(nb::module_ &module, const char *name) {
    define(module, name, arguments_of_growth,
           [](Given codes, SplitColumns columns, In<std::int32_t> quantised, In<float> gradient, In<float> curvature,
              Out<std::uint32_t> rows, bool all_rows, TreeSettings settings, double gradient_scale,
              double curvature_scale, std::uint64_t seed, TreeScratch scratch, Tree nodes, Out<std::int64_t> begin,
              Out<std::int64_t> held, nb::handle exchange, int threads) {
               const std::size_t n_docs = n_rows_of(codes), n_features = columns.n_bins.size();
               for (const std::size_t size : {quantised.size(), gradient.size(), curvature.size()})
                   require_size("forces", size, n_docs);
               for (const std::size_t size :
                    {columns.categorical.size(), columns.monotone.size(), columns.asked.size()})
                   require_size("columns", size, n_features);
               require_features(codes, n_features);
               require(all_rows ? rows.size() == n_docs : rows.size() <= n_docs, "rows must be those of the codes");
               if (!all_rows) require_below("rows", std::span<const std::uint32_t>(fill(rows)), n_docs);
               require(scratch.rows.size() >= rows.size() && scratch.sides.size() >= rows.size(),
                       "scratch must have room for every row");
               require_arrangement(scratch.arranged, n_docs, n_features);
               std::optional<PythonExchange> workers;
               if (!exchange.is_none()) workers.emplace(exchange);
               const auto anywhere = std::numeric_limits<std::size_t>::max() / 2; // rows that other workers may have
               require_nodes(nodes, most_nodes(settings.max_leaves, workers ? anywhere : rows.size()));
               require_size("begin", begin.size(), nodes.feature.size());
               require_size("held", held.size(), nodes.feature.size());
               const TreeData<Code> data{.codes = codes_of(codes),
                                         .columns = columns,
                                         .quantised = {view(quantised), gradient_scale, curvature_scale},
                                         .gradient = view(gradient),
                                         .curvature = view(curvature),
                                         .all_rows = all_rows,
                                         .key = seed,
                                         .exchange = workers ? &*workers : nullptr};
               return grow_tree<Code>(data, settings, scratch, nodes, {fill(begin), fill(held), fill(rows)}, threads);
           });
}

void require_tree(const GrownNodes &nodes) {
    for (const std::size_t size :
         {nodes.bin.size(), nodes.left.size(), nodes.right.size(), nodes.missing_left.size(), nodes.value.size()})
        require_size("nodes", size, nodes.feature.size());
    require(nodes.feature.size() > 0, "a tree needs a node or more");
}

template <typename Code> void bind_score_tree(nb::module_ &module) {
    define(module, "score_tree", {"codes", "n_bins", "nodes", "scores", "threads"},
           [](InCodes<Code> codes, In<std::int64_t> n_bins, GrownNodes nodes, Out<double> scores, int threads) {
               require_tree(nodes);
               require_size("scores", scores.size(), codes.shape(1));
               score_tree<Code>(codes_of(codes), view(n_bins), nodes, fill(scores), threads);
           });
}

void bind_score_sparse_tree(nb::module_ &module) {
    define(
        module, "score_sparse_tree", {"codes", "n_bins", "nodes", "scores", "threads"},
        [](Codes<const SparseCode> codes, In<std::int64_t> n_bins, GrownNodes nodes, Out<double> scores, int threads) {
            require_tree(nodes);
            require_features(codes, n_bins.size());
            require_size("scores", scores.size(), codes.n_rows());
            score_sparse_tree(codes, view(n_bins), nodes, fill(scores), threads);
        });
}

} // namespace

void bind_trees(nb::module_ &module) {
    define(module, "quantise_lambdas",
           {"gradient", "curvature", "gradient_scale", "curvature_scale", "seed", "numbers", "quantised", "threads"},
           [](In<float> gradient, In<float> curvature, double gradient_scale, double curvature_scale,
              std::uint64_t seed, In<std::uint32_t> numbers, Out<std::int32_t> quantised, int threads) {
               require_size("curvature", curvature.size(), gradient.size());
               require_size("quantised", quantised.size(), gradient.size());
               require_size_or_none("numbers", numbers.size(), gradient.size());
               quantise_lambdas(view(gradient), view(curvature), gradient_scale, curvature_scale, seed, view(numbers),
                                fill(quantised), threads);
           });
    define(module, "add_leaf_values", {"nodes", "begin", "rows", "scores", "threads"},
           [](Tree nodes, In<std::int64_t> begin, In<std::uint32_t> rows, Out<double> scores, int threads) {
               require_nodes(nodes, 1);
               require_size("begin", begin.size(), nodes.feature.size());
               require_below("rows", view(rows), scores.size());
               for (std::size_t node = 0; node < begin.size(); ++node)
                   require(begin.data()[node] >= 0 && nodes.count[node] >= 0 &&
                               begin.data()[node] + nodes.count[node] <= static_cast<std::int64_t>(rows.size()),
                           "nodes must lie within rows");
               add_leaf_values(nodes.feature, view(begin), nodes.count, nodes.value, view(rows), fill(scores), threads);
           });
    define(module, "arrange_codes", {"codes", "features", "usual", "n_skipping", "rows", "counts", "threads"},
           [](InCodes<std::uint8_t> codes, In<std::int32_t> features, In<std::uint8_t> usual, std::size_t n_skipping,
              OutMatrix<std::uint8_t> rows, Out<std::uint32_t> counts, int threads) {
               const auto n_features = static_cast<std::size_t>(
                   std::ranges::count_if(view(features), [](std::int32_t feature) { return feature >= 0; }));
               const ArrangedRows arranged{fill(rows),  rows.shape(1), view(features),
                                           view(usual), n_skipping,    fill(counts)};
               require_features(codes, n_features);
               require_arrangement(arranged, codes.shape(1), n_features);
               arrange_codes(codes_of(codes), arranged, fill(rows), fill(counts), threads);
           });
    bind_grow_tree<std::uint8_t, InCodes<std::uint8_t>>(module, "grow_tree");
    bind_grow_tree<std::uint16_t, InCodes<std::uint16_t>>(module, "grow_tree");
    bind_grow_tree<SparseCode, Codes<const SparseCode>>(module, "grow_sparse_tree");
    bind_score_tree<std::uint8_t>(module);
    bind_score_tree<std::uint16_t>(module);
    bind_score_sparse_tree(module);
}

} // namespace rankwright
