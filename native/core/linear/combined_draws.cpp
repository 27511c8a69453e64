#include "core/linear/combined_draws.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/common/counter_random.hpp"
#include "core/common/dot.hpp"
#include "core/common/elementary.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

namespace {

constexpr double smallest_scale = 1e-9; // below it the scale is multiplied into the weights, lest digits be lost

struct Example {
    const float *row;
    const float *other; // subtracted, where the example is a pair
    double target;
    double weight;
};

struct Product {
    [[gnu::always_inline]] static void run(const Example *example, const double *weights, std::size_t n, double *buffer,
                                           double *product, double *square) {
        if (example->other == nullptr) {
            for (std::size_t k = 0; k < n; ++k) buffer[k] = static_cast<double>(example->row[k]);
        } else {
            for (std::size_t k = 0; k < n; ++k) {
                buffer[k] = static_cast<double>(example->row[k]) - static_cast<double>(example->other[k]);
            }
        }
        FourDoubles products{}, squares{};
        std::size_t k = 0;
        for (; k + 4 <= n; k += 4) {
            const FourDoubles values = load<FourDoubles>(buffer + k);
            products += values * load<FourDoubles>(weights + k);
            squares += values * values;
        }
        double rest = 0.0, rest_square = 0.0;
        for (; k < n; ++k) {
            rest += buffer[k] * weights[k];
            rest_square += buffer[k] * buffer[k];
        }
        *product = sum_of(products, FourDoubles{}) + rest;
        *square = sum_of(squares, FourDoubles{}) + rest_square;
    }
};

struct Move {
    [[gnu::always_inline]] static void run(const double *buffer, double factor, std::size_t n, double *weights) {
        for (std::size_t k = 0; k < n; ++k) weights[k] += factor * buffer[k];
    }
};

double logistic(double x) {
    const double e = exp_minus<double>(std::fabs(x));
    return x >= 0.0 ? 1.0 / (1.0 + e) : e / (1.0 + e);
}

// A whole number from 0 to n - 1; n may be larger than 2^32.
std::uint64_t below_large(std::uint64_t random, std::uint64_t n) {
    return static_cast<std::uint64_t>(unit_interval(random) * static_cast<double>(n));
}

class Drawer {
  public:
    Drawer(const DrawnRows &documents, const DrawnPairs &pairs, const DrawSettings &settings)
        : documents_(documents), pairs_(pairs), settings_(settings) {}

    Example draw(std::int64_t number) const {
        const std::uint64_t stream = stream_of(settings_.key, static_cast<std::uint64_t>(number));
        const std::int64_t n_pairs = pairs_.pairs_before.back();
        const bool alone = n_pairs == 0 || unit_interval(stream_of(stream, 0)) < settings_.regression_share;
        return alone ? document(stream) : pair(stream, n_pairs);
    }

  private:
    const float *row_of(std::size_t row) const { return documents_.features.row(row); }
    double label_of(std::size_t row) const { return static_cast<double>(documents_.labels[row]); }
    double weight_of(std::size_t row) const { return documents_.weights.empty() ? 1.0 : documents_.weights[row]; }
    double weight_as_partner(std::size_t row) const {
        return documents_.partner_weights.empty() ? 1.0 : documents_.partner_weights[row];
    }

    Example document(std::uint64_t stream) const {
        const auto row = static_cast<std::size_t>(below_large(stream_of(stream, 1), documents_.features.n_rows));
        const double label = label_of(row);
        return {row_of(row), nullptr, settings_.logistic ? (label > 0.0 ? 1.0 : 0.0) : label, weight_of(row)};
    }

    Example pair(std::uint64_t stream, std::int64_t n_pairs) const {
        const auto chosen =
            static_cast<std::int64_t>(below_large(stream_of(stream, 1), static_cast<std::uint64_t>(n_pairs)));
        const auto after = std::ranges::upper_bound(pairs_.pairs_before, chosen);
        const auto place = static_cast<std::size_t>(after - pairs_.pairs_before.begin()) - 1;
        std::int64_t partner = pairs_.query_first[place] + chosen - pairs_.pairs_before[place];
        if (partner >= pairs_.same_first[place]) partner += pairs_.same_last[place] - pairs_.same_first[place];
        const auto one = static_cast<std::size_t>(pairs_.by_label[place]);
        const auto other = static_cast<std::size_t>(pairs_.by_label[static_cast<std::size_t>(partner)]);
        const double difference = label_of(one) - label_of(other);
        const double target = settings_.logistic ? (difference > 0.0 ? 1.0 : 0.0) : difference;
        return {row_of(one), row_of(other), target, weight_of(one) * weight_as_partner(other)};
    }

    const DrawnRows &documents_;
    const DrawnPairs &pairs_;
    const DrawSettings &settings_;
};

} // namespace

void combined_draws(const DrawnRows &documents, const DrawnPairs &pairs, const DrawSettings &settings,
                    std::int64_t first, std::int64_t last, std::span<double> weights) {
    const Simd simd = simd_level();
    const std::size_t n = documents.features.n_features;
    const Drawer drawer(documents, pairs, settings);
    std::vector<double> buffer(n);
    double scale = 1.0; // the weights are scale · what is stored: shrinking them all costs one product
    for (std::int64_t number = first; number < last; ++number) {
        const Example example = drawer.draw(number);
        const double rate = 1.0 / (settings.stiffness + settings.l2 * static_cast<double>(number));
        double product = 0.0, square = 0.0;
        run_for<Product>(simd, static_cast<const Example *>(&example), static_cast<const double *>(weights.data()), n,
                         buffer.data(), &product, &square);
        const double score = scale * product;
        const double error = example.target - (settings.logistic ? logistic(score) : score);
        const double step = square > 0.0 ? std::min(rate * example.weight, 1.0 / square) : 0.0;
        scale *= 1.0 - rate * settings.l2;
        run_for<Move>(simd, static_cast<const double *>(buffer.data()), step * error / scale, n, weights.data());
        if (scale < smallest_scale) {
            for (double &weight : weights) weight *= scale;
            scale = 1.0;
        }
    }
    for (double &weight : weights) weight *= scale;
}

} // namespace rankwright
