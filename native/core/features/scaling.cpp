#include "core/features/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 8;

// The statistics of each feature over the rows of a query so far. They are separate arrays, so that loops over features
// become vector instructions; a missing value leaves each of them as it was.
struct Sums {
    std::vector<double> total, count;
    std::vector<float> largest;

    explicit Sums(std::size_t n_features) : total(n_features), count(n_features), largest(n_features) {}

    void clear() {
        std::ranges::fill(total, 0.0);
        std::ranges::fill(count, 0.0);
        std::ranges::fill(largest, 0.0F);
    }

    void add(std::span<const float> row) {
        for (std::size_t feature = 0; feature < row.size(); ++feature) {
            const float value = row[feature];
            const bool known = value == value;
            total[feature] += known ? value : 0.0F;
            count[feature] += known ? 1.0 : 0.0;
            const float size = std::fabs(value);
            largest[feature] = size > largest[feature] ? size : largest[feature];
        }
    }

    void scale(std::span<const float> row, std::span<float> out) const {
        for (std::size_t feature = 0; feature < row.size(); ++feature) {
            const double value = row[feature];
            const double scaled = (value - total[feature] / count[feature]) / largest[feature];
            out[feature] = static_cast<float>(largest[feature] == 0.0F ? value : scaled);
        }
    }
};

struct Ranges {
    std::vector<float> least, most;

    explicit Ranges(std::size_t n_features) : least(n_features), most(n_features) {}

    void clear() {
        std::ranges::fill(least, std::numeric_limits<float>::infinity());
        std::ranges::fill(most, -std::numeric_limits<float>::infinity());
    }

    void add(std::span<const float> row) {
        for (std::size_t feature = 0; feature < row.size(); ++feature) {
            const float value = row[feature];
            least[feature] = value < least[feature] ? value : least[feature];
            most[feature] = value > most[feature] ? value : most[feature];
        }
    }

    void scale(std::span<const float> row, std::span<float> out) const {
        for (std::size_t feature = 0; feature < row.size(); ++feature) {
            const double value = row[feature], lowest = least[feature];
            const double range = static_cast<double>(most[feature]) - lowest;
            out[feature] = static_cast<float>((value - lowest) / (range == 0.0 ? 1.0 : range));
        }
    }
};

template <typename Statistics>
void scale_queries(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> offsets,
                   std::span<float> out, int threads) {
    const auto row_of = [n_features](auto matrix, std::int64_t row) {
        return matrix.subspan(static_cast<std::size_t>(row) * n_features, n_features);
    };
    parallel_for(offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        Statistics statistics(n_features);
        for (std::size_t query = first; query < last; ++query) {
            statistics.clear();
            for (auto row = offsets[query]; row < offsets[query + 1]; ++row) statistics.add(row_of(features, row));
            for (auto row = offsets[query]; row < offsets[query + 1]; ++row) {
                statistics.scale(row_of(features, row), row_of(out, row));
            }
        }
    });
}

// The known values of a feature in a query, sorted, each with where it belongs.
using Known = std::vector<std::pair<float, std::size_t>>;

void scale_sorted(const Known &known, std::span<float> out) {
    const double last = static_cast<double>(known.size()) - 1.0;
    for (std::size_t first = 0, end = 0; first < known.size(); first = end) {
        while (end < known.size() && known[end].first == known[first].first) ++end;
        const double place = static_cast<double>(first + end - 1); // twice the mean place of the equal ones
        const auto scaled = last == 0.0 ? 0.0F : static_cast<float>(place / last - 1.0);
        for (std::size_t one = first; one < end; ++one) out[known[one].second] = scaled;
    }
}

} // namespace

void scale_by_mean(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> offsets,
                   std::span<float> out, int threads) {
    scale_queries<Sums>(features, n_features, offsets, out, threads);
}

void scale_by_range(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> offsets,
                    std::span<float> out, int threads) {
    scale_queries<Ranges>(features, n_features, offsets, out, threads);
}

void scale_by_rank(std::span<const float> features, std::size_t n_features, std::span<const std::int64_t> offsets,
                   std::span<float> out, int threads) {
    parallel_for(offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t first, std::size_t last) {
        Known known;
        const auto first_value = [&](std::size_t query) {
            return static_cast<std::size_t>(offsets[query]) * n_features;
        };
        for (std::size_t query = first; query < last; ++query) {
            for (std::size_t feature = 0; feature < n_features; ++feature) {
                known.clear();
                for (auto at = first_value(query) + feature; at < first_value(query + 1); at += n_features) {
                    out[at] = features[at];
                    if (!std::isnan(features[at])) known.emplace_back(features[at], at);
                }
                std::ranges::sort(known);
                scale_sorted(known, out);
            }
        }
    });
}

} // namespace rankwright
