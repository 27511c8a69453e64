#include "core/boosters/pair_units.hpp"

#include <algorithm>

#include "core/common/elementary.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_at_a_time = 4;

// Calls use(i, j, tanh of their difference) for every two documents of a query and every unit, where i and j are
// indices into the matrices, and afterwards divides the query's part of `out` by its number of documents.
template <typename Use> void for_unit_pairs(const PairUnits &units, std::span<double> out, int threads, Use &&use) {
    std::fill(out.begin(), out.end(), 0.0);
    const std::size_t n_units = units.n_units;
    parallel_for(units.offsets.size() - 1, threads, queries_at_a_time, [&](std::size_t begin, std::size_t end) {
        for (std::size_t query = begin; query < end; ++query) {
            const auto first = static_cast<std::size_t>(units.offsets[query]) * n_units;
            const auto last = static_cast<std::size_t>(units.offsets[query + 1]) * n_units;
            for (std::size_t i = first; i < last; i += n_units)
                for (std::size_t j = i + n_units; j < last; j += n_units)
                    for (std::size_t unit = 0; unit < n_units; ++unit)
                        use(i + unit, j + unit, tanh_of(units.inputs[i + unit] - units.inputs[j + unit]));
            const auto n_docs = static_cast<double>(units.offsets[query + 1] - units.offsets[query]);
            for (std::size_t place = first; place < last; ++place) out[place] /= n_docs;
        }
    });
}

} // namespace

void pair_unit_sums(const PairUnits &units, std::span<double> sums, int threads) {
    for_unit_pairs(units, sums, threads, [&](std::size_t i, std::size_t j, double compared) {
        sums[i] += compared;
        sums[j] -= compared;
    });
}

void pair_unit_gradient(const PairUnits &units, std::span<const double> of_sums, std::span<double> gradient,
                        int threads) {
    for_unit_pairs(units, gradient, threads, [&](std::size_t i, std::size_t j, double compared) {
        const double slope = (of_sums[i] - of_sums[j]) * (1.0 - compared * compared);
        gradient[i] += slope;
        gradient[j] -= slope;
    });
}

} // namespace rankwright
