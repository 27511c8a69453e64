#include "core/nets/pieces.hpp"

#include <algorithm>
#include <limits>

#include "core/common/simd.hpp"
#include "core/common/vectors.hpp"

namespace rankwright {

namespace {

constexpr std::size_t lanes = 16;
using Lanes = Pack<float, lanes * sizeof(float)>;
using Wholes = BitsOf<Lanes>;

// As a plain copy: packs are never passed between functions compiled for different processors.
template <typename Vector, typename Number> [[gnu::always_inline]] inline Vector read(const Number *from) {
    Vector values;
    std::memcpy(&values, from, sizeof(Vector));
    return values;
}

template <typename Vector, typename Number> [[gnu::always_inline]] inline void write(Number *to, Vector values) {
    std::memcpy(to, &values, sizeof(Vector));
}

std::size_t n_packs(std::size_t n) { return (n + lanes - 1) / lanes; }

} // namespace

std::size_t Pieces::n_inputs() const {
    std::size_t n = n_features();
    for (std::size_t feature = 0; feature < n_features(); ++feature) n += n_inputs(feature) + missing[feature];
    return n;
}

NodeTable::NodeTable(const Pieces &pieces) : pieces_(pieces), n_inputs_(pieces.n_inputs()), first_rows_{0} {
    const std::size_t n_features = pieces.n_features(), padded = n_packs(n_features) * lanes;
    first_knots_.assign(padded, 0.0F);
    first_slopes_.assign(padded, 0.0F);
    rows_.assign(padded, 0);
    missing_rows_.assign(padded, -1);
    placed_if_missing_.assign(padded, 1.0F);
    for (std::size_t feature = 0; feature < n_features; ++feature) {
        const std::size_t first = first_rows_.back();
        const std::size_t n_nodes = pieces.n_inputs(feature) + (pieces.categorical[feature] ? 0 : 1);
        if (pieces.categorical[feature]) categories_.push_back(feature);
        rows_[feature] = static_cast<std::int32_t>(first);
        if (pieces.missing[feature]) {
            missing_rows_[feature] = static_cast<std::int32_t>(first + n_nodes);
            placed_if_missing_[feature] = 0.0F;
        }
        first_rows_.push_back(first + n_nodes + pieces.missing[feature]);
    }
    // A round looks at one knot of each feature of a pack: is the value beyond it? The first and the last knot of
    // numbers do not matter, because values beyond them are cut off.
    round_starts_.push_back(0);
    for (std::size_t from = 0; from < n_features; from += lanes) {
        const std::size_t to = std::min(from + lanes, n_features);
        std::size_t n_rounds = 0;
        for (std::size_t feature = from; feature < to; ++feature) {
            const std::size_t n = pieces.n_knots(feature), ends = pieces.categorical[feature] ? 0 : 2;
            n_rounds = std::max(n_rounds, n - std::min(n, ends));
        }
        const std::size_t at = knots_.size();
        knots_.resize(at + n_rounds * lanes, std::numeric_limits<float>::quiet_NaN()); // which nothing is beyond
        slopes_.resize(at + n_rounds * lanes, 0.0F);
        for (std::size_t feature = from; feature < to; ++feature) {
            const auto knots =
                pieces.knots.subspan(static_cast<std::size_t>(pieces.starts[feature]), pieces.n_knots(feature));
            const std::size_t lane = at + feature - from;
            if (pieces.categorical[feature]) {
                for (std::size_t i = 0; i < knots.size(); ++i) knots_[lane + i * lanes] = knots[i];
                continue;
            }
            if (knots.empty()) continue;
            first_knots_[feature] = knots[0];
            for (std::size_t i = 0; i + 1 < knots.size(); ++i) {
                const float slope = 1.0F / (knots[i + 1] - knots[i]);
                if (i == 0) {
                    first_slopes_[feature] = slope;
                    continue;
                }
                knots_[lane + (i - 1) * lanes] = knots[i];
                slopes_[lane + (i - 1) * lanes] = slope;
            }
        }
        round_starts_.push_back(at + n_rounds * lanes);
    }
}

struct FindPlaces {
    [[gnu::always_inline]] static void run(const NodeTable *table, const NetRows *inputs, Places *places) {
        const std::size_t n_features = inputs->n_features;
        for (std::size_t from = 0, pack = 0; from < n_features; from += lanes, ++pack) {
            const std::size_t n = std::min(lanes, n_features - from);
            Lanes shift = {}, factor = {};
            std::memcpy(&shift, inputs->shift.data() + from, n * sizeof(float));
            std::memcpy(&factor, inputs->factor.data() + from, n * sizeof(float));
            const auto first_knot = read<Lanes>(table->first_knots_.data() + from);
            const auto first_slope = read<Lanes>(table->first_slopes_.data() + from);
            const auto first_row = read<Wholes>(table->rows_.data() + from);
            const auto missing_row = read<Wholes>(table->missing_rows_.data() + from);
            const auto placed_if_missing = read<Lanes>(table->placed_if_missing_.data() + from);
            for (std::size_t k = 0; k < inputs->rows.size(); ++k) {
                const float *own = inputs->features.data() + static_cast<std::size_t>(inputs->rows[k]) * n_features;
                Lanes value = {};
                if (n == lanes) {
                    value = read<Lanes>(own + from);
                } else {
                    std::memcpy(&value, own + from, n * sizeof(float));
                }
                const Lanes moved = (value - shift) * factor, z = value == value ? moved : Lanes{};
                Lanes knot = first_knot, slope = first_slope;
                Wholes row = first_row;
                for (std::size_t at = table->round_starts_[pack]; at < table->round_starts_[pack + 1]; at += lanes) {
                    const auto next = read<Lanes>(table->knots_.data() + at);
                    const auto next_slope = read<Lanes>(table->slopes_.data() + at);
                    row = z >= next ? row + 1 : row;
                    knot = z >= next ? next : knot;
                    slope = z >= next ? next_slope : slope;
                }
                Lanes share = (z - knot) * slope;
                share = share > Lanes{} ? share : Lanes{}; // 0 where it is not a number
                share = share < Lanes{} + 1.0F ? share : Lanes{} + 1.0F;
                // Masks are compared anew: kept in a vector, they are taken apart lane by lane.
                const Lanes placed = value == value ? Lanes{} + 1.0F : placed_if_missing;
                write(places->rows.data() + k * places->width + from, placed > Lanes{} ? row : missing_row);
                write(places->shares.data() + k * places->width + from, placed > Lanes{} ? share : Lanes{});
            }
        }
    }
};

void NodeTable::place(const NetRows &inputs, Places &places) const {
    places.n_docs = inputs.rows.size();
    places.n_features = inputs.n_features;
    places.width = n_packs(inputs.n_features) * lanes;
    places.rows.resize(places.n_docs * places.width);
    places.shares.resize(places.n_docs * places.width);
    run_for<FindPlaces>(simd_level(), this, &inputs, &places);
}

void NodeTable::write_inputs(const NetRows &rows, const Places &places, std::span<float> out) const {
    const std::size_t n_features = places.n_features, width = padded_width(n_features);
    std::vector<float> standardised(places.n_docs * width);
    standardise_padded(rows, standardised);
    for (std::size_t k = 0; k < places.n_docs; ++k) {
        float *input = std::copy_n(standardised.data() + k * width, n_features, out.data() + k * n_inputs_);
        for (const std::size_t feature : categories_) out[k * n_inputs_ + feature] = 0.0F;
        std::fill_n(input, n_inputs_ - n_features, 0.0F);
        for (std::size_t feature = 0; feature < places.n_features; ++feature) {
            const std::size_t at = k * places.width + feature, n = pieces_.n_inputs(feature);
            const auto node = static_cast<std::size_t>(places.rows[at]) - first_rows_[feature];
            if (places.rows[at] == missing_rows_[feature]) {
                input[n] = pieces_.height;
            } else if (pieces_.categorical[feature]) {
                input[node] = pieces_.height;
            } else if (n > 0) {
                std::fill_n(input, node, pieces_.height);
                input[node] = pieces_.height * places.shares[at];
            }
            input += n + pieces_.missing[feature];
        }
    }
}

void NodeTable::lay_out(std::span<const float> weights, std::size_t n_units, std::span<float> nodes) const {
    const std::size_t width = padded_width(n_units);
    const float height = pieces_.height;
    std::size_t input = pieces_.n_features();
    for (std::size_t feature = 0; feature < pieces_.n_features(); ++feature) {
        const std::size_t n = pieces_.n_inputs(feature);
        const bool adds_up = !pieces_.categorical[feature];
        for (std::size_t unit = 0; unit < n_units; ++unit) {
            const float *weight = weights.data() + unit * n_inputs_ + input;
            float *node = nodes.data() + first_rows_[feature] * width + unit;
            float sum = 0.0F;
            if (adds_up) {
                *node = 0.0F;
                node += width;
            }
            for (std::size_t i = 0; i < n; ++i, node += width) {
                *node = adds_up ? sum += height * weight[i] : height * weight[i];
            }
            if (pieces_.missing[feature]) *node = height * weight[n];
        }
        input += n + pieces_.missing[feature];
    }
}

void NodeTable::add_gradient(const float *node_sums, std::size_t n_units, float *gradient) const {
    const std::size_t width = padded_width(n_units);
    const float height = pieces_.height;
    std::size_t input = pieces_.n_features();
    for (std::size_t feature = 0; feature < pieces_.n_features(); ++feature) {
        const std::size_t n = pieces_.n_inputs(feature);
        const bool adds_up = !pieces_.categorical[feature];
        for (std::size_t unit = 0; unit < n_units; ++unit) {
            float *slope = gradient + unit * n_inputs_ + input;
            const float *node = node_sums + (first_rows_[feature] + adds_up) * width + unit;
            float sum = 0.0F;
            for (std::size_t i = n; i-- > 0;) {
                if (adds_up) {
                    sum += node[i * width];
                    slope[i] += height * sum;
                } else {
                    slope[i] += height * node[i * width];
                }
            }
            if (pieces_.missing[feature]) slope[n] += height * node[n * width];
        }
        input += n + pieces_.missing[feature];
    }
}

namespace {

// So many features at a time: their nodes stay in the processor's nearest cache while all documents go by, and sums of
// one feature need not wait for those of another.
constexpr std::size_t features_at_once = 4;

template <std::size_t n> using Constant = std::integral_constant<std::size_t, n>;

// Calls use(packs, first column) for columns of `width`, up to four packs of them at a time.
template <typename Use> [[gnu::always_inline]] inline void for_columns(std::size_t width, Use &&use) {
    std::size_t column = 0;
    for (; column + 4 * lanes <= width; column += 4 * lanes) use(Constant<4>{}, column);
    const std::size_t left = (width - column) / lanes;
    if (left == 3) use(Constant<3>{}, column);
    if (left == 2) use(Constant<2>{}, column);
    if (left == 1) use(Constant<1>{}, column);
}

// Some packs of columns of all documents.
template <std::size_t packs>
[[gnu::always_inline]] inline void add_nodes(const Places &places, const float *nodes, std::size_t width, float *out) {
    for (std::size_t from = 0; from < places.n_features; from += features_at_once) {
        const std::size_t to = std::min(from + features_at_once, places.n_features);
        for (std::size_t k = 0; k < places.n_docs; ++k) {
            Lanes sums[packs];
#pragma GCC unroll 4
            for (std::size_t p = 0; p < packs; ++p) sums[p] = read<Lanes>(out + k * width + p * lanes);
            for (std::size_t at = k * places.width + from; at < k * places.width + to; ++at) {
                const float *below = nodes + static_cast<std::size_t>(places.rows[at]) * width, *above = below + width;
                const Lanes share = Lanes{} + places.shares[at], rest = 1.0F - share;
#pragma GCC unroll 4
                for (std::size_t p = 0; p < packs; ++p) {
                    sums[p] += rest * read<Lanes>(below + p * lanes) + share * read<Lanes>(above + p * lanes);
                }
            }
#pragma GCC unroll 4
            for (std::size_t p = 0; p < packs; ++p) write(out + k * width + p * lanes, sums[p]);
        }
    }
}

template <std::size_t packs>
[[gnu::always_inline]] inline void add_forces(const Places &places, const float *forces, std::size_t width,
                                              float *node_sums) {
    for (std::size_t from = 0; from < places.n_features; from += features_at_once) {
        const std::size_t to = std::min(from + features_at_once, places.n_features);
        for (std::size_t k = 0; k < places.n_docs; ++k) {
            Lanes force[packs];
#pragma GCC unroll 4
            for (std::size_t p = 0; p < packs; ++p) force[p] = read<Lanes>(forces + k * width + p * lanes);
            for (std::size_t at = k * places.width + from; at < k * places.width + to; ++at) {
                float *below = node_sums + static_cast<std::size_t>(places.rows[at]) * width, *above = below + width;
                const Lanes share = Lanes{} + places.shares[at], rest = 1.0F - share;
#pragma GCC unroll 4
                for (std::size_t p = 0; p < packs; ++p) {
                    write(below + p * lanes, read<Lanes>(below + p * lanes) + rest * force[p]);
                    write(above + p * lanes, read<Lanes>(above + p * lanes) + share * force[p]);
                }
            }
        }
    }
}

struct AddNodes {
    [[gnu::always_inline]] static void run(const Places *places, const float *nodes, std::size_t width, float *out) {
        for_columns(width, [&](auto packs, std::size_t column) __attribute__((always_inline)) {
            add_nodes<packs()>(*places, nodes + column, width, out + column);
        });
    }
};

struct AddForces {
    [[gnu::always_inline]] static void run(const Places *places, const float *forces, std::size_t width,
                                           float *node_sums) {
        for_columns(width, [&](auto packs, std::size_t column) __attribute__((always_inline)) {
            add_forces<packs()>(*places, forces + column, width, node_sums + column);
        });
    }
};

} // namespace

void add_placed_nodes(const Places &places, const float *nodes, std::size_t width, float *out) {
    run_for<AddNodes>(simd_level(), &places, nodes, width, out);
}

void add_placed_forces(const Places &places, const float *forces, std::size_t width, float *node_sums) {
    run_for<AddForces>(simd_level(), &places, forces, width, node_sums);
}

} // namespace rankwright
