#include "core/trees/split.hpp"

#include <memory>
#include <random>
#include <vector>

#include "tests/check.hpp"
#include "tests/test.hpp"

using namespace rankwright;

namespace {

constexpr std::size_t n_features = 3, n_bins = 20;

// The bins of three features that are all the same.
struct Triplets {
    std::vector<std::int64_t> bins_of_feature = std::vector<std::int64_t>(n_features, n_bins);
    std::unique_ptr<bool[]> asked = std::make_unique<bool[]>(n_features);
    HistogramLayout layout;
    std::vector<std::uint64_t> words;
    Sums all;

    explicit Triplets(std::uint32_t seed)
        : layout(bins_of_feature, {asked.get(), n_features}, 8, false), words(layout.n_words) {
        std::mt19937 random(seed);
        for (std::size_t row = 0; row < 400; ++row) {
            const auto gradient = static_cast<std::int32_t>(random() % 2001) - 1000;
            const Packed document = Packed::of_document(gradient * (1 << curvature_bits) + 100);
            const std::size_t code = random() % (n_bins + 1);
            for (std::size_t slot = 0; slot < n_features; ++slot) {
                words[layout.groups[0].base + slot * layout.groups[0].stride + code] += document.word;
            }
            all = all + document.sums();
        }
    }
    FeatureBins<PackedBins> feature(std::size_t slot) const {
        return {{layout.groups[0], words.data(), slot}, n_bins, static_cast<std::int32_t>(slot)};
    }
};

// Threads see the features in an order of their own: among equal splits, the lowest feature is the best in each.
void the_best_does_not_depend_on_the_order() {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        const Triplets data(seed);
        const SplitRules rules{5, 0.0, 1.0, true, false, 1.0, 8};
        const SplitRules constrained{5, 0.0, 1.0, true, true, 1.0, 8};
        for (const auto &order : {std::vector<std::size_t>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {1, 0, 2}}) {
            SplitSearch search(rules, n_bins + 1, simd_level()), bounded(constrained, n_bins + 1, simd_level());
            Split by_number, by_category, by_bounds;
            for (const std::size_t slot : order) {
                search.numbers(data.feature(slot), data.all, by_number);
                search.categories(data.feature(slot), data.all, {}, by_category);
                bounded.monotone_numbers(data.feature(slot), data.all, 0, {}, by_bounds);
            }
            for (const Split &best : {by_number, by_category, by_bounds}) CHECK(best.feature == 0);
            CHECK(!by_category.categories.empty());
        }
    }
}

const rankwright::Test test("split", the_best_does_not_depend_on_the_order);

} // namespace
