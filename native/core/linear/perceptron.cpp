#include "core/linear/perceptron.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/common/counter_random.hpp"
#include "core/common/dot.hpp"
#include "core/common/parallel.hpp"
#include "core/common/simd.hpp"

namespace rankwright {

namespace {

constexpr std::size_t scored_at_a_time = 64;
constexpr std::size_t rows_ahead = 4; // rows come in random order: fetching them early hides the wait for memory
constexpr std::size_t cache_line = 64 / sizeof(float);

// Moves the thresholds on the wrong side of the score; the weights move by the sum of these moves.
inline double move_thresholds(double score, std::int32_t level, double step, std::span<double> thresholds) {
    double total = 0.0;
    for (std::size_t r = 0; r < thresholds.size(); ++r) {
        const double side = level > static_cast<std::int32_t>(r) ? 1.0 : -1.0;
        if ((score - thresholds[r]) * side <= 0.0) {
            thresholds[r] -= side * step;
            total += side * step;
        }
    }
    return total;
}

double step_of(const RankedRows &documents, std::size_t row) {
    return documents.document_weights.empty() ? 1.0 : documents.document_weights[row];
}

void fetch_early(const RankedRows &documents, std::size_t place) {
    if (place + rows_ahead >= documents.order.size()) return;
    const float *row = documents.features.row(static_cast<std::size_t>(documents.order[place + rows_ahead]));
    for (std::size_t k = 0; k < documents.features.n_features; k += cache_line) __builtin_prefetch(row + k);
}

struct LinearScore {
    [[gnu::always_inline]] static void run(const float *row, const double *weights, std::size_t n, double *out) {
        *out = dot(row, weights, n);
    }
};

struct AddRow {
    [[gnu::always_inline]] static void run(const float *row, double factor, std::size_t n, double *to) {
        add_row(row, factor, n, to);
    }
};

struct QuadraticScore {
    [[gnu::always_inline]] static void run(const float *row, double gamma, double constant, const double *weights,
                                           const double *matrix, std::size_t n, double *out) {
        double form = 0.0;
        for (std::size_t i = 0; i < n; ++i) form += static_cast<double>(row[i]) * dot(row, matrix + i * n, n);
        *out = constant + 2.0 * gamma * dot(row, weights, n) + gamma * gamma * form;
    }
};

struct AddSquare {
    [[gnu::always_inline]] static void run(const float *row, double factor, std::size_t n, double *matrix) {
        for (std::size_t i = 0; i < n; ++i) add_row(row, factor * static_cast<double>(row[i]), n, matrix + i * n);
    }
};

enum class Kernel { rbf, quadratic, cubic };

Kernel kernel_named(std::string_view name) {
    return name == "rbf" ? Kernel::rbf : name == "quadratic" ? Kernel::quadratic : Kernel::cubic;
}

// Kernel values need no more digits than features have: single precision, eight supporting rows at a time.
using EightFloats = Pack<float, 32>;
constexpr std::size_t lanes = 8;

constexpr std::size_t rounded_up(std::size_t n) { return (n + lanes - 1) / lanes * lanes; }

[[gnu::always_inline]] inline float sum_of(EightFloats v) {
    return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7]));
}

// Scalar products of a row with four consecutive rows; `n` is a multiple of eight.
[[gnu::always_inline]] inline void four_products(const float *row, const float *others, std::size_t n, float *out) {
    EightFloats a{}, b{}, c{}, d{};
    for (std::size_t k = 0; k < n; k += lanes) {
        const EightFloats values = load<EightFloats>(row + k);
        a += values * load<EightFloats>(others + k);
        b += values * load<EightFloats>(others + n + k);
        c += values * load<EightFloats>(others + 2 * n + k);
        d += values * load<EightFloats>(others + 3 * n + k);
    }
    out[0] = sum_of(a), out[1] = sum_of(b), out[2] = sum_of(c), out[3] = sum_of(d);
}

// A matrix padded with zeros to whole vectors, in the length and in the number of its rows.
class PaddedRows {
  public:
    PaddedRows(std::size_t n_rows, std::size_t n_features)
        : n_features_(n_features), stride_(rounded_up(n_features)), values_(rounded_up(n_rows) * stride_),
          squares_(rounded_up(n_rows)) {}

    void put(std::size_t place, const float *row) {
        float *own = values_.data() + place * stride_;
        std::copy(row, row + n_features_, own);
        // The same operations as in every product, so that the distance of a row from itself is exactly 0.
        EightFloats sum{};
        for (std::size_t k = 0; k < stride_; k += lanes) sum += load<EightFloats>(own + k) * load<EightFloats>(own + k);
        squares_[place] = sum_of(sum);
    }

    std::size_t stride() const { return stride_; }
    const float *row(std::size_t place) const { return values_.data() + place * stride_; }
    const float *squares() const { return squares_.data(); }

  private:
    std::size_t n_features_, stride_;
    std::vector<float> values_, squares_;
};

struct KernelSum {
    [[gnu::always_inline]] static void run(const PaddedRows *one, const PaddedRows *support, const double *coefficients,
                                           std::size_t n_support, Kernel kernel, float gamma, double *out) {
        const float *row = one->row(0);
        const float own_square = one->squares()[0];
        const std::size_t stride = one->stride();
        double sum = 0.0;
        for (std::size_t s = 0; s < n_support; s += lanes) {
            float products[lanes];
            four_products(row, support->row(s), stride, products);
            four_products(row, support->row(s + 4), stride, products + 4);
            // A plain loop: functions of the library that take vectors may be compiled for another processor.
            float values[lanes];
            for (std::size_t k = 0; k < lanes; ++k) {
                if (kernel == Kernel::rbf) {
                    const float distance = own_square + support->squares()[s + k] - 2.0F * products[k];
                    values[k] = exp_minus<float>(gamma * (distance > 0.0F ? distance : 0.0F));
                } else {
                    const float base = 1.0F + gamma * products[k];
                    values[k] = kernel == Kernel::quadratic ? base * base : base * base * base;
                }
            }
            const std::size_t n = std::min(lanes, n_support - s);
            for (std::size_t k = 0; k < n; ++k) sum += coefficients[s + k] * static_cast<double>(values[k]);
        }
        *out = sum;
    }
};

// The supporting rows, copied together.
class Support {
  public:
    Support(const Rows &features, std::span<std::int64_t> rows, std::span<double> coefficients, std::int64_t count)
        : features_(features), rows_(rows), coefficients_(coefficients), count_(static_cast<std::size_t>(count)),
          values_(rows.size(), features.n_features), asked_(1, features.n_features), place_of_(features.n_rows, -1) {
        for (std::size_t place = 0; place < count_; ++place) put(place, static_cast<std::size_t>(rows_[place]));
    }

    double score(Simd simd, std::size_t row, Kernel kernel, double gamma) {
        double out = 0.0;
        asked_.put(0, features_.row(row));
        run_for<KernelSum>(simd, static_cast<const PaddedRows *>(&asked_), static_cast<const PaddedRows *>(&values_),
                           static_cast<const double *>(coefficients_.data()), count_, kernel, static_cast<float>(gamma),
                           &out);
        return out;
    }

    void add(std::size_t row, double coefficient) {
        if (place_of_[row] >= 0) {
            coefficients_[static_cast<std::size_t>(place_of_[row])] += coefficient;
            return;
        }
        std::size_t place = count_;
        if (count_ < rows_.size()) {
            ++count_;
        } else {
            for (std::size_t other = place = 0; other < count_; ++other) {
                if (std::fabs(coefficients_[other]) < std::fabs(coefficients_[place])) place = other;
            }
            place_of_[static_cast<std::size_t>(rows_[place])] = -1;
        }
        rows_[place] = static_cast<std::int64_t>(row);
        coefficients_[place] = coefficient;
        put(place, row);
    }

    std::int64_t count() const { return static_cast<std::int64_t>(count_); }

  private:
    void put(std::size_t place, std::size_t row) {
        values_.put(place, features_.row(row));
        place_of_[row] = static_cast<std::int64_t>(place);
    }

    const Rows &features_;
    std::span<std::int64_t> rows_;
    std::span<double> coefficients_;
    std::size_t count_;
    PaddedRows values_, asked_;
    std::vector<std::int64_t> place_of_; // of each row of the features; -1 where it supports nothing
};

} // namespace

void prank_pass(const RankedRows &documents, double share, std::uint64_t key, std::size_t n_members,
                std::span<double> weights, std::span<double> thresholds, int threads) {
    if (n_members == 0) return;
    const Simd simd = simd_level();
    const std::size_t n = documents.features.n_features, n_thresholds = thresholds.size() / n_members;
    parallel_for(n_members, threads, 1, [&](std::size_t first, std::size_t last) {
        for (std::size_t member = first; member < last; ++member) {
            const auto own = weights.subspan(member * n, n);
            const auto borders = thresholds.subspan(member * n_thresholds, n_thresholds);
            const std::uint64_t stream = stream_of(key, member);
            for (std::size_t place = 0; place < documents.order.size(); ++place) {
                fetch_early(documents, place);
                const auto row = static_cast<std::size_t>(documents.order[place]);
                if (share < 1.0 && unit_interval(stream_of(stream, row)) >= share) continue;
                const float *values = documents.features.row(row);
                double score = 0.0;
                run_for<LinearScore>(simd, values, own.data(), n, &score);
                const double move = move_thresholds(score, documents.levels[row], step_of(documents, row), borders);
                if (move != 0.0) run_for<AddRow>(simd, values, move, n, own.data());
            }
        }
    });
}

void quadratic_prank_pass(const RankedRows &documents, double gamma, std::span<double> constant,
                          std::span<double> weights, std::span<double> matrix, std::span<double> thresholds) {
    const Simd simd = simd_level();
    const std::size_t n = documents.features.n_features;
    for (const std::int64_t at : documents.order) {
        const auto row = static_cast<std::size_t>(at);
        const float *values = documents.features.row(row);
        double score = 0.0;
        run_for<QuadraticScore>(simd, values, gamma, constant[0], weights.data(), matrix.data(), n, &score);
        const double move = move_thresholds(score, documents.levels[row], step_of(documents, row), thresholds);
        if (move == 0.0) continue;
        constant[0] += move;
        run_for<AddRow>(simd, values, move, n, weights.data());
        run_for<AddSquare>(simd, values, move, n, matrix.data());
    }
}

void quadratic_scores(const Rows &features, double gamma, double constant, std::span<const double> weights,
                      std::span<const double> matrix, std::span<double> out, int threads) {
    const Simd simd = simd_level();
    parallel_for(features.n_rows, threads, scored_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            run_for<QuadraticScore>(simd, features.row(row), gamma, constant, weights.data(), matrix.data(),
                                    features.n_features, &out[row]);
        }
    });
}

void kernel_prank_pass(const RankedRows &documents, std::string_view kernel, double gamma,
                       std::span<std::int64_t> support, std::span<double> coefficients,
                       std::span<std::int64_t> n_support, std::span<double> thresholds) {
    const Simd simd = simd_level();
    const Kernel kind = kernel_named(kernel);
    Support kept(documents.features, support, coefficients, n_support[0]);
    for (const std::int64_t at : documents.order) {
        const auto row = static_cast<std::size_t>(at);
        const double score = kept.score(simd, row, kind, gamma);
        const double move = move_thresholds(score, documents.levels[row], step_of(documents, row), thresholds);
        if (move != 0.0) kept.add(row, move);
    }
    n_support[0] = kept.count();
}

void kernel_scores(const Rows &features, const Rows &support, std::span<const double> coefficients,
                   std::string_view kernel, double gamma, std::span<double> out, int threads) {
    const Simd simd = simd_level();
    const Kernel kind = kernel_named(kernel);
    PaddedRows supporting(support.n_rows, features.n_features);
    for (std::size_t s = 0; s < support.n_rows; ++s) supporting.put(s, support.row(s));
    parallel_for(features.n_rows, threads, scored_at_a_time, [&](std::size_t first, std::size_t last) {
        PaddedRows asked(1, features.n_features);
        for (std::size_t row = first; row < last; ++row) {
            asked.put(0, features.row(row));
            run_for<KernelSum>(simd, static_cast<const PaddedRows *>(&asked),
                               static_cast<const PaddedRows *>(&supporting), coefficients.data(), support.n_rows, kind,
                               static_cast<float>(gamma), &out[row]);
        }
    });
}

} // namespace rankwright
