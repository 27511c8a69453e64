#include "core/trees/grower.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "core/forests/tree_scores.hpp"
#include "core/trees/leaf_values.hpp"
#include "core/trees/quantise.hpp"
#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

constexpr std::array<std::size_t, 13> often_usual{5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 19};
constexpr std::uint8_t usual_code = 3;
constexpr std::size_t n_features = 21, max_leaves = 20, n_nodes = 2 * max_leaves - 1;

// Documents with random codes, missing ones and categories among them, and gradients that follow the first feature.
template <typename Code> struct Sample {
    static constexpr std::size_t slots = Codes<Code>::slots, n_groups = (n_features + slots - 1) / slots;
    static constexpr double gradient_scale = 8191 / 2.5, curvature_scale = 2047;

    std::size_t n_rows;
    std::vector<Code> codes;
    std::vector<std::int64_t> n_bins;
    std::unique_ptr<bool[]> categorical = std::make_unique<bool[]>(n_features);
    std::unique_ptr<bool[]> asked = std::make_unique<bool[]>(n_features);
    std::vector<std::int8_t> monotone;
    std::vector<float> gradient, curvature;
    std::vector<std::int32_t> quantised;
    // Of codes of one byte, the same arranged: features that are usual together are a group, whose last slots are free.
    std::vector<std::int32_t> features;
    std::vector<std::uint8_t> usual, bytes;
    std::vector<std::uint32_t> counts;

    Sample(std::size_t rows, bool constrained, bool with_categories)
        : n_rows(rows), codes(n_groups * rows * slots), n_bins(n_features, 200), monotone(n_features, 0),
          gradient(rows), curvature(rows), quantised(rows) {
        std::mt19937 random(1);
        categorical[3] = categorical[20] = with_categories;
        for (std::size_t feature = 0; feature < n_features; ++feature) asked[feature] = feature % 5 != 4;
        if (constrained) monotone[0] = -1;
        const Codes<Code> out{codes.data(), n_groups, n_rows};
        for (std::size_t row = 0; row < n_rows; ++row) {
            for (std::size_t feature = 0; feature < n_features; ++feature) {
                out.column(feature)[row * slots] = static_cast<Code>(random() % 201);
            }
            for (const std::size_t feature : often_usual) {
                if (row % 4 != 0) out.column(feature)[row * slots] = usual_code;
            }
            // Twins in other groups: whoever sees them first, the lower one is split on.
            for (const std::size_t twin : {13, 18}) out.column(twin)[row * slots] = out.column(0)[row * slots];
            out.column(20)[row * slots] = out.column(3)[row * slots];
            const float noise = static_cast<float>(random() % 1000) / 500.0f - 1.0f;
            gradient[row] = noise + static_cast<float>(out.column(0)[row * slots]) / 100.0f - 1.0f;
            curvature[row] = static_cast<float>(random() % 1000) / 1000.0f;
            if (row % 5 == 2) gradient[row] = curvature[row] = 0.0f; // no force acts on it
        }
        quantise_lambdas(gradient, curvature, gradient_scale, curvature_scale, 7, {}, quantised, 2);
        if constexpr (sizeof(Code) == 1) arrange();
    }
    void arrange() {
        features.assign(often_usual.begin(), often_usual.end());
        features.resize(group_bytes, -1);
        for (std::int32_t feature = 0; feature < static_cast<std::int32_t>(n_features); ++feature) {
            if (std::ranges::find(features, feature) == features.end()) features.push_back(feature);
        }
        features.resize((features.size() + 7) / 8 * 8, -1);
        usual.assign(features.size(), usual_code);
        bytes.resize(n_rows * pitch());
        counts.resize(features.size() * ArrangedRows::n_byte_codes);
        arrange_codes({codes.data(), n_groups, n_rows}, arranged(), bytes, counts, 2);
    }
    std::size_t pitch() const { return features.size() + 8; }
    ArrangedRows arranged() const { return {bytes, pitch(), features, usual, 1, counts}; }
    TreeData<Code> data(bool all_rows, Exchange *exchange) const {
        return {.codes = {codes.data(), n_groups, n_rows},
                .columns = {n_bins, {categorical.get(), n_features}, monotone, {asked.get(), n_features}},
                .quantised = {quantised, gradient_scale, curvature_scale},
                .gradient = gradient,
                .curvature = curvature,
                .all_rows = all_rows,
                .key = 11,
                .exchange = exchange};
    }
};

struct Grown {
    std::vector<std::int32_t> feature, bin, left, right;
    std::vector<double> gain;
    std::vector<float> value, curvature;
    std::vector<std::int64_t> begin, held, count;
    std::vector<std::uint32_t> categories, rows;
    std::vector<double> scores;

    bool operator==(const Grown &) const = default;
};

struct Growth {
    bool symmetric = false;
    double gain_noise = 0.0, split_feature_fraction = 1.0;
    bool arranged = false; // whether histograms are summed from arranged rows
};

// With an exchange, the rows are those of one worker of several.
template <typename Code>
Grown grow(const Sample<Code> &sample, Growth growth, bool all_rows, std::size_t n_histograms, int threads, Simd simd,
           Exchange *exchange = nullptr) {
    Grown grown{std::vector<std::int32_t>(n_nodes),
                std::vector<std::int32_t>(n_nodes),
                std::vector<std::int32_t>(n_nodes),
                std::vector<std::int32_t>(n_nodes),
                std::vector<double>(n_nodes),
                std::vector<float>(n_nodes),
                std::vector<float>(n_nodes),
                std::vector<std::int64_t>(n_nodes),
                std::vector<std::int64_t>(n_nodes),
                std::vector<std::int64_t>(n_nodes),
                std::vector<std::uint32_t>(7 * n_nodes),
                {},
                std::vector<double>(sample.n_rows)};
    for (std::size_t row = 0; row < sample.n_rows; ++row) {
        const bool is_here = !exchange || row % exchange->size() == exchange->rank();
        if (is_here && (all_rows || row % 3 != 0)) grown.rows.push_back(static_cast<std::uint32_t>(row));
    }
    std::vector<std::uint32_t> spare(grown.rows.size());
    std::vector<std::uint8_t> sides(grown.rows.size());
    std::vector<std::uint64_t> histograms(n_histograms * 2 * Sample<Code>::n_groups * Sample<Code>::slots * 264);
    const auto missing_left = std::make_unique<bool[]>(n_nodes);
    const TreeSettings settings{.max_leaves = max_leaves,
                                .max_depth = 9,
                                .min_docs = 5,
                                .min_curvature = 0.5,
                                .l2 = 0.25,
                                .min_gain = 0.0,
                                .newton = true,
                                .category_smoothing = 10.0,
                                .max_split_categories = 32,
                                .learning_rate = 0.1,
                                .symmetric = growth.symmetric,
                                .gain_noise = growth.gain_noise,
                                .split_feature_fraction = growth.split_feature_fraction};
    const Tree tree{grown.feature,
                    grown.bin,
                    grown.left,
                    grown.right,
                    {missing_left.get(), n_nodes},
                    grown.gain,
                    grown.value,
                    grown.curvature,
                    grown.count,
                    grown.categories,
                    7};
    const RowListing listing{grown.begin, grown.held, grown.rows};
    const TreeData<Code> data = sample.data(all_rows && !exchange, exchange);
    const TreeScratch scratch{spare, sides, histograms, growth.arranged ? sample.arranged() : ArrangedRows{}};
    const std::size_t found = grow_tree<Code>(data, settings, scratch, tree, listing, threads, simd);
    CHECK(growth.symmetric ? found > 7 && found <= 31 : found == n_nodes); // 20 leaves allow 4 levels
    const auto feature = tree.feature.first(found); // symmetric trees may have fewer nodes than there is room for
    add_leaf_values(feature, listing.begin.first(found), listing.held.first(found), tree.value.first(found), grown.rows,
                    grown.scores, threads);
    std::vector<double> from_codes(sample.n_rows);
    score_tree<Code>({sample.codes.data(), Sample<Code>::n_groups, sample.n_rows}, sample.n_bins,
                     {feature, tree.bin.first(found), tree.left.first(found), tree.right.first(found),
                      tree.missing_left.first(found), tree.value.first(found), tree.categories.first(7 * found), 7},
                     from_codes, threads);
    for (const std::uint32_t row : grown.rows) CHECK(from_codes[row] == grown.scores[row]);
    return grown;
}

// An exchange between threads: each lays down its values, and all wait for each other.
class ThreadExchange : public Exchange {
  public:
    ThreadExchange(std::size_t number, std::vector<std::vector<std::int64_t>> &desk, std::barrier<> &barrier)
        : number_(number), desk_(desk), barrier_(barrier) {}
    std::size_t size() const override { return desk_.size(); }
    std::size_t rank() const override { return number_; }
    void add_up(std::span<std::int64_t> values) override {
        show(values);
        std::ranges::fill(values, 0);
        for (const auto &theirs : desk_) {
            for (std::size_t i = 0; i < values.size(); ++i) values[i] += theirs[i];
        }
        barrier_.arrive_and_wait();
    }
    void trade(std::span<const std::int64_t> out, std::span<const std::int64_t> sizes,
               std::span<std::int64_t> in) override {
        show(out);
        std::int64_t first = 0;
        for (std::size_t worker = 0; worker < number_; ++worker) first += sizes[worker];
        auto place = in.begin();
        for (const auto &theirs : desk_) place = std::copy_n(theirs.begin() + first, sizes[number_], place);
        barrier_.arrive_and_wait();
    }
    void gather(std::span<const std::int64_t> own, std::span<std::int64_t> all) override {
        show(own);
        auto place = all.begin();
        for (const auto &theirs : desk_) place = std::ranges::copy(theirs, place).out;
        barrier_.arrive_and_wait();
    }

  private:
    void show(std::span<const std::int64_t> values) {
        desk_[number_].assign(values.begin(), values.end());
        barrier_.arrive_and_wait();
    }
    std::size_t number_;
    std::vector<std::vector<std::int64_t>> &desk_;
    std::barrier<> &barrier_;
};

// Workers that have every other row grow the same tree.
template <typename Code>
void workers_grow_it(const Sample<Code> &sample, Growth growth, bool all_rows, const Grown &expected) {
    constexpr std::size_t n_workers = 4;
    std::vector<std::vector<std::int64_t>> desk(n_workers);
    std::barrier<> barrier(n_workers);
    std::vector<Grown> grown(n_workers);
    std::vector<std::jthread> workers;
    workers.reserve(n_workers);
    for (std::size_t number = 0; number < n_workers; ++number) {
        workers.emplace_back([&, number] {
            ThreadExchange exchange(number, desk, barrier);
            grown[number] = grow(sample, growth, all_rows, 3, 2, simd_level(), &exchange);
        });
    }
    workers.clear();
    for (Grown &own : grown) {
        for (const std::uint32_t row : own.rows) CHECK(own.scores[row] == expected.scores[row]);
        own.rows = expected.rows;
        own.begin = expected.begin;
        own.held = expected.held;
        own.scores = expected.scores;
        CHECK(own == expected);
    }
}

template <typename Code>
void the_tree_depends_on_nothing_but_the_data(std::size_t n_rows, bool constrained, Growth growth = {}) {
    const Sample<Code> sample(n_rows, constrained, !growth.symmetric);
    for (const bool all_rows : {true, false}) {
        growth.arranged = false;
        const Grown expected = grow(sample, growth, all_rows, max_leaves, 1, Simd::baseline);
        for (const Simd simd : simd_levels()) {
            for (const int threads : {1, 2, 7}) {
                growth.arranged = false;
                CHECK(grow(sample, growth, all_rows, max_leaves, threads, simd) == expected);
                growth.arranged = sizeof(Code) == 1;
                CHECK(grow(sample, growth, all_rows, max_leaves, threads, simd) == expected);
            }
        }
        CHECK(grow(sample, growth, all_rows, 2, 2, simd_level()) == expected);
        workers_grow_it(sample, growth, all_rows, expected);
    }
}

const rankwright::Test test("grower", [] {
    the_tree_depends_on_nothing_but_the_data<std::uint8_t>(400, false);
    the_tree_depends_on_nothing_but_the_data<std::uint8_t>(400, true);
    the_tree_depends_on_nothing_but_the_data<std::uint8_t>(13'000, false);
    the_tree_depends_on_nothing_but_the_data<std::uint16_t>(400, false);
    the_tree_depends_on_nothing_but_the_data<std::uint16_t>(13'000, false);
    the_tree_depends_on_nothing_but_the_data<std::uint8_t>(400, false, {false, 2.0, 0.5});
    for (const bool constrained : {false, true}) {
        the_tree_depends_on_nothing_but_the_data<std::uint8_t>(400, constrained, {true, 0.0, 1.0});
        the_tree_depends_on_nothing_but_the_data<std::uint8_t>(13'000, constrained, {true, 2.0, 0.5});
    }
    the_tree_depends_on_nothing_but_the_data<std::uint16_t>(400, false, {true, 0.0, 1.0});
});

} // namespace
