#include "core/candidates/vector_search.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/candidates/best_list.hpp"
#include "core/common/dot.hpp"
#include "core/common/parallel.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_together = 64; // products of so many rows with a query are found before they are looked at

// The products of neighbouring rows with a query.
struct Products {
    [[gnu::always_inline]] static inline void run(const float *rows, std::size_t n, std::size_t width,
                                                  const double *query, double *found) {
        for (std::size_t row = 0; row < n; ++row) found[row] = dot(rows + row * width, query, width);
    }
};

// The best documents of a query among rows [begin, end).
class PartSearch {
  public:
    PartSearch(const VectorRows &rows, std::span<const std::uint8_t> kept, Simd simd)
        : rows_(rows), kept_(kept), simd_(simd) {}

    void add(std::size_t begin, std::size_t end, const double *query, BestList &best) const {
        std::array<double, rows_together> products;
        run_for<Products>(simd_, rows_.values.data() + begin * rows_.width, end - begin, rows_.width, query,
                          products.data());
        for (std::size_t row = begin; row < end; ++row) {
            const double scale = rows_.scales.empty() ? 1.0 : rows_.scales[row];
            const double score = products[row - begin] * scale;
            if (score > best.threshold() && (kept_.empty() || kept_[row] != 0))
                best.add({score, static_cast<std::int64_t>(row)});
        }
    }

  private:
    const VectorRows &rows_;
    std::span<const std::uint8_t> kept_;
    Simd simd_;
};

} // namespace

void top_vectors(const VectorRows &rows, std::span<const double> queries, std::span<const std::uint8_t> kept,
                 const TopDocuments &tops, int threads) {
    const std::size_t n_queries = tops.sizes.size(), k = tops.k(), n = rows.size();
    if (n_queries == 0 || k == 0) return;
    const PartSearch search(rows, kept, simd_level());
    const auto n_parts = static_cast<std::size_t>(std::max(threads, 1));
    const std::size_t part = std::max<std::size_t>((n + n_parts - 1) / n_parts, 1);
    // One list for each part and query: which part finds a document makes no difference to what is best.
    std::vector<BestList> lists(n_parts * n_queries, BestList({}, {}, k));
    parallel_for(n, threads, part, [&](std::size_t begin, std::size_t end) {
        BestList *const own = lists.data() + begin / part * n_queries;
        for (; begin < end; begin += rows_together)
            for (std::size_t query = 0; query < n_queries; ++query)
                search.add(begin, std::min(begin + rows_together, end), queries.data() + query * rows.width,
                           own[query]);
    });
    parallel_for(n_queries, threads, 1, [&](std::size_t query, std::size_t) {
        std::vector<ScoredDocument> all;
        for (std::size_t i = 0; i < n_parts; ++i) {
            const auto &found = lists[i * n_queries + query].sorted();
            all.insert(all.end(), found.begin(), found.end());
        }
        std::sort(all.begin(), all.end(), IsBetter());
        all.resize(std::min(all.size(), k));
        for (std::size_t i = 0; i < all.size(); ++i) {
            tops.scores[query * k + i] = all[i].score;
            tops.documents[query * k + i] = all[i].document;
        }
        tops.sizes[query] = static_cast<std::int64_t>(all.size());
    });
}

} // namespace rankwright
