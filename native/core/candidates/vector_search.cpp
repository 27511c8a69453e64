#include "core/candidates/vector_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/candidates/best_list.hpp"
#include "core/common/dot.hpp"
#include "core/common/float_lanes.hpp"
#include "core/common/parallel.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_together = 64; // are screened before they are looked at
constexpr double smallest = std::numeric_limits<float>::min();

constexpr std::size_t lanes = float_lanes;
using Floats = FloatLanes;

// Nearly the products of neighbouring rows with a query, and nearly the rows' squared lengths: all in single precision.
struct Screen {
    [[gnu::always_inline]] static inline void run(const float *rows, std::size_t n, std::size_t width,
                                                  const float *query, float *products, float *squares) {
        for (std::size_t row = 0; row < n; ++row, rows += width) {
            std::array<Floats, chains> product{}, square{};
            std::size_t k = 0;
            for (; k + chains * lanes <= width; k += chains * lanes) {
                for (std::size_t chain = 0; chain < chains; ++chain) {
                    const auto values = load<Floats>(rows + k + chain * lanes);
                    product[chain] += values * load<Floats>(query + k + chain * lanes);
                    square[chain] += values * values;
                }
            }
            products[row] = total((product[0] + product[1]) + (product[2] + product[3]));
            squares[row] = total((square[0] + square[1]) + (square[2] + square[3]));
            for (; k < width; ++k) {
                products[row] += rows[k] * query[k];
                squares[row] += rows[k] * rows[k];
            }
        }
    }

  private:
    static constexpr std::size_t chains = 4; // sums that do not wait for each other
};

struct Product {
    [[gnu::always_inline]] static inline void run(const float *row, std::size_t width, const double *query,
                                                  double *found) {
        *found = dot(row, query, width);
    }
};

// A query, and how far its products in single precision can be from the true ones.
class Query {
  public:
    explicit Query(std::span<const double> values)
        : values_(values), rounded_(values.begin(), values.end()), n_(static_cast<double>(values.size())),
          rounding_(1.1 * (n_ + 32.0) * std::numeric_limits<float>::epsilon()) {
        const double square = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
        const double slope = rounding_ * std::sqrt(square) + smallest * std::sqrt(n_);
        squared_slope_ = slope * slope;
    }

    const double *values() const { return values_.data(); }
    const float *rounded() const { return rounded_.data(); }

    // Whether the true product with a row of nearly this squared length is below the one found by this gap or less. By
    // Cauchy and Schwarz: each of a sum's terms is rounded fewer than `n_ + 32` times, the query's numbers once more,
    // and what is too small for single precision may be lost.
    bool is_off_by_less(double gap, float square) const {
        const double left = gap - smallest * n_;
        const double at_most = static_cast<double>(square) * (1.0 + rounding_) + smallest * n_;
        return left > 0.0 && at_most * squared_slope_ < left * left;
    }

  private:
    std::span<const double> values_;
    std::vector<float> rounded_;
    double n_, rounding_, squared_slope_;
};

// The best documents of a query among rows [begin, end). Rows that cannot be among them by what is found in single
// precision are passed over; products of the others are exact.
class PartSearch {
  public:
    PartSearch(const VectorRows &rows, std::span<const std::uint8_t> kept, Simd simd)
        : rows_(rows), kept_(kept), simd_(simd) {}

    void add(std::size_t begin, std::size_t end, const Query &query, BestList &best) const {
        std::array<float, rows_together> products, squares;
        run_for<Screen>(simd_, row(begin), end - begin, rows_.width, query.rounded(), products.data(), squares.data());
        for (std::size_t i = begin; i < end; ++i) {
            const double scale = rows_.scales.empty() ? 1.0 : rows_.scales[i];
            const double near = static_cast<double>(products[i - begin]);
            const bool is_below = std::isfinite(near) && scale > 0.0 &&
                                  query.is_off_by_less(best.threshold() / scale - near, squares[i - begin]);
            if (is_below) continue;
            if (!kept_.empty() && kept_[i] == 0) continue;
            double product = 0.0;
            run_for<Product>(simd_, row(i), rows_.width, query.values(), &product);
            if (product * scale > best.threshold()) best.add({product * scale, static_cast<std::int64_t>(i)});
        }
    }

  private:
    const float *row(std::size_t i) const { return rows_.values.data() + i * rows_.width; }

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
    std::vector<Query> asked;
    asked.reserve(n_queries);
    for (std::size_t query = 0; query < n_queries; ++query)
        asked.emplace_back(queries.subspan(query * rows.width, rows.width));
    const auto n_parts = static_cast<std::size_t>(std::max(threads, 1));
    const std::size_t part = std::max<std::size_t>((n + n_parts - 1) / n_parts, 1);
    // One list for each part and query: which part finds a document makes no difference to what is best.
    std::vector<BestList> lists(n_parts * n_queries, BestList({}, {}, k));
    parallel_for(n, threads, part, [&](std::size_t begin, std::size_t end) {
        BestList *const own = lists.data() + begin / part * n_queries;
        for (; begin < end; begin += rows_together)
            for (std::size_t query = 0; query < n_queries; ++query)
                search.add(begin, std::min(begin + rows_together, end), asked[query], own[query]);
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
