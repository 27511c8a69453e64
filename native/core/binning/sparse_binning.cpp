#include "core/binning/sparse_binning.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <vector>

#include "core/binning/column_codes.hpp"
#include "core/common/counter_random.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

constexpr std::size_t rows_at_a_time = 4096;
constexpr std::size_t sampled_rows = 1 << 16;      // on which bundles are tried
constexpr std::size_t bundles_to_try = 16;         // the latest ones
constexpr std::size_t most_places = (1 << 16) - 1; // of a bundle: its codes take two bytes

std::uint32_t code_of(const BinEdges &edges, std::size_t feature, float value) {
    const std::span<const float> own = edges.of(feature);
    const std::size_t missing = edges.missing_code(feature);
    if (value != value) return static_cast<std::uint32_t>(missing);
    const std::size_t code = count_smaller(own, value);
    if (!edges.categorical[feature]) return static_cast<std::uint32_t>(code);
    return static_cast<std::uint32_t>(code < own.size() && own[code] == value ? code : missing);
}

// Calls visit(feature, code) for each code of a row that is not the usual one, in the order of features.
template <typename Visit>
void visit_set(const SparseTable &features, const BinEdges &edges, std::span<const std::uint32_t> usual,
               std::size_t row, Visit visit) {
    for (const std::size_t entry : features.entries(row)) {
        const auto feature = static_cast<std::size_t>(features.columns[entry]);
        const std::uint32_t code = code_of(edges, feature, features.values[entry]);
        if (code != usual[feature]) visit(feature, code);
    }
}

// The rows of a sample in which each feature is set.
struct SetRows {
    std::vector<std::size_t> starts;
    std::vector<std::uint32_t> rows; // by number in the sample

    SetRows(const SparseTable &features, const BinEdges &edges, std::span<const std::uint32_t> usual, std::size_t n)
        : starts(features.n_columns + 1) {
        const auto visit_all = [&](auto visit) {
            for (std::size_t i = 0; i < n; ++i) {
                visit_set(features, edges, usual, features.n_rows() * i / n,
                          [&](std::size_t feature, std::uint32_t) { visit(feature, static_cast<std::uint32_t>(i)); });
            }
        };
        visit_all([&](std::size_t feature, std::uint32_t) { ++starts[feature + 1]; });
        for (std::size_t feature = 0; feature < features.n_columns; ++feature) starts[feature + 1] += starts[feature];
        rows.resize(starts.back());
        std::vector<std::size_t> next = starts;
        visit_all([&](std::size_t feature, std::uint32_t row) { rows[next[feature]++] = row; });
    }
    std::span<const std::uint32_t> of(std::size_t feature) const {
        return std::span(rows).subspan(starts[feature], starts[feature + 1] - starts[feature]);
    }
};

struct Bundle {
    std::vector<bool> taken; // rows of the sample
    std::size_t n_places = 0;

    bool has_room(std::span<const std::uint32_t> rows, std::size_t places) const {
        return n_places + places <= most_places &&
               std::ranges::none_of(rows, [&](std::uint32_t row) { return taken[row]; });
    }
    void add(std::span<const std::uint32_t> rows, std::size_t places) {
        for (const std::uint32_t row : rows) taken[row] = true;
        n_places += places;
    }
};

// Tries features in their order, as those of one field often follow each other.
std::size_t try_bundles(const SetRows &set, std::size_t n_sampled, std::span<const std::int64_t> n_set,
                        std::span<const std::uint32_t> n_places, std::span<std::int32_t> bundle) {
    std::vector<Bundle> bundles; // all, of which only the latest still have their rows
    for (std::size_t feature = 0; feature < bundle.size(); ++feature) {
        bundle[feature] = -1;
        if (n_set[feature] == 0 || n_places[feature] > most_places) continue;
        const std::span<const std::uint32_t> rows = set.of(feature);
        const std::size_t oldest = bundles.size() - std::min(bundles.size(), bundles_to_try);
        std::size_t number = bundles.size();
        while (number > oldest && !bundles[number - 1].has_room(rows, n_places[feature])) --number;
        if (number == oldest) {
            bundles.push_back({std::vector<bool>(n_sampled), 0});
            if (bundles.size() > bundles_to_try) bundles[bundles.size() - 1 - bundles_to_try].taken = {};
            number = bundles.size();
        }
        bundles[number - 1].add(rows, n_places[feature]);
        bundle[feature] = static_cast<std::int32_t>(number - 1);
    }
    return bundles.size();
}

// Takes the later of two features out of their bundle where a row has both.
void leave_out_conflicts(const SparseTable &features, const BinEdges &edges, std::span<const std::uint32_t> usual,
                         std::size_t n_bundles, std::span<std::int32_t> bundle, int threads) {
    std::vector<std::atomic<bool>> out(bundle.size());
    parallel_for(features.n_rows(), threads, rows_at_a_time * 16, [&](std::size_t first, std::size_t last) {
        std::vector<std::size_t> last_row(n_bundles, std::numeric_limits<std::size_t>::max());
        for (std::size_t row = first; row < last; ++row) {
            visit_set(features, edges, usual, row, [&](std::size_t feature, std::uint32_t) {
                if (bundle[feature] < 0) return;
                std::size_t &latest = last_row[static_cast<std::size_t>(bundle[feature])];
                if (latest == row) out[feature].store(true, std::memory_order_relaxed);
                latest = row;
            });
        }
    });
    for (std::size_t feature = 0; feature < bundle.size(); ++feature) {
        if (out[feature]) bundle[feature] = -1;
    }
}

// Numbers the bundles that are set in half of the rows or more, and returns how many there are.
std::size_t keep_full(std::size_t n_rows, std::size_t n_bundles, std::span<const std::int64_t> n_set,
                      std::span<std::int32_t> bundle) {
    std::vector<std::int64_t> n_taken(n_bundles);
    for (std::size_t feature = 0; feature < bundle.size(); ++feature) {
        if (bundle[feature] >= 0) n_taken[static_cast<std::size_t>(bundle[feature])] += n_set[feature];
    }
    std::vector<std::int32_t> number(n_bundles, -1);
    std::int32_t n_kept = 0;
    for (std::size_t own = 0; own < n_bundles; ++own) {
        if (2 * n_taken[own] >= static_cast<std::int64_t>(n_rows)) number[own] = n_kept++;
    }
    for (std::int32_t &own : bundle) own = own < 0 ? -1 : number[static_cast<std::size_t>(own)];
    return static_cast<std::size_t>(n_kept);
}

std::size_t row_at(std::span<const std::int64_t> order, std::size_t place) {
    return order.empty() ? place : static_cast<std::size_t>(order[place]);
}

} // namespace

void hash_sparse_rows(const SparseTable &features, std::span<std::uint64_t> out, int threads) {
    constexpr std::uint32_t one_nan = 0x7FC00000u;
    const auto hash = [](std::size_t feature, float value) -> std::uint64_t {
        if (value == 0.0f) return 0;
        return mix(mix(feature) ^ (value != value ? one_nan : std::bit_cast<std::uint32_t>(value)));
    };
    std::uint64_t of_absent = 0;
    const bool lacks_absent = features.absent != 0.0f;
    for (std::size_t feature = 0; lacks_absent && feature < features.n_columns; ++feature) {
        of_absent += hash(feature, features.absent);
    }
    parallel_for(out.size(), threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            std::uint64_t sum = of_absent;
            for (const std::size_t entry : features.entries(row)) {
                const auto feature = static_cast<std::size_t>(features.columns[entry]);
                sum += hash(feature, features.values[entry]) - hash(feature, features.absent);
            }
            out[row] = sum;
        }
    });
}

void count_sparse_codes(const SparseTable &features, const BinEdges &edges, std::span<std::uint32_t> usual,
                        std::span<std::int64_t> n_set, std::span<bool> any_missing, int threads) {
    for (std::size_t feature = 0; feature < usual.size(); ++feature) {
        usual[feature] = code_of(edges, feature, features.absent);
    }
    std::vector<std::atomic<std::int64_t>> counts(usual.size());
    std::vector<std::atomic<bool>> missing(usual.size());
    parallel_for(features.n_rows(), threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t row = first; row < last; ++row) {
            visit_set(features, edges, usual, row, [&](std::size_t feature, std::uint32_t code) {
                counts[feature].fetch_add(1, std::memory_order_relaxed);
                if (code == edges.missing_code(feature)) missing[feature].store(true, std::memory_order_relaxed);
            });
        }
    });
    for (std::size_t feature = 0; feature < usual.size(); ++feature) {
        n_set[feature] = counts[feature];
        any_missing[feature] = missing[feature];
    }
}

std::size_t bundle_features(const SparseTable &features, const BinEdges &edges, std::span<const std::uint32_t> usual,
                            std::span<const std::int64_t> n_set, std::span<const std::uint32_t> n_places,
                            std::span<std::int32_t> bundle, int threads) {
    const std::size_t n_sampled = std::min(features.n_rows(), sampled_rows);
    const SetRows set(features, edges, usual, n_sampled);
    const std::size_t n_tried = try_bundles(set, n_sampled, n_set, n_places, bundle);
    const std::size_t n_worth = keep_full(features.n_rows(), n_tried, n_set, bundle);
    leave_out_conflicts(features, edges, usual, n_worth, bundle, threads);
    return keep_full(features.n_rows(), n_worth, n_set, bundle);
}

void count_listed(const SparseTable &features, std::span<const std::int64_t> order, const BinEdges &edges,
                  const SparseCodesOut &columns, std::span<std::int64_t> counts, int threads) {
    parallel_for(features.n_rows(), threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t place = first; place < last; ++place) {
            std::int64_t n = 0;
            visit_set(features, edges, columns.usual, row_at(order, place),
                      [&](std::size_t feature, std::uint32_t) { n += columns.bundle[feature] < 0; });
            counts[place] = n;
        }
    });
}

void pack_sparse_codes(const SparseTable &features, std::span<const std::int64_t> order, const BinEdges &edges,
                       const SparseCodesOut &columns, std::span<const std::int64_t> starts,
                       std::span<std::uint16_t> bundled, std::span<std::uint32_t> listed, int threads) {
    const std::size_t n_bundles = columns.bases.size();
    parallel_for(features.n_rows(), threads, rows_at_a_time, [&](std::size_t first, std::size_t last) {
        for (std::size_t place = first; place < last; ++place) {
            std::uint16_t *own = bundled.data() + place * n_bundles;
            std::fill_n(own, n_bundles, std::uint16_t{0});
            std::uint32_t *begin = listed.data() + starts[place], *end = begin;
            visit_set(
                features, edges, columns.usual, row_at(order, place), [&](std::size_t feature, std::uint32_t code) {
                    const std::uint32_t found = columns.first[feature] + code - (code > columns.usual[feature] ? 1 : 0);
                    if (columns.bundle[feature] < 0) {
                        *end++ = found;
                    } else {
                        const auto number = static_cast<std::size_t>(columns.bundle[feature]);
                        own[number] = static_cast<std::uint16_t>(found - columns.bases[number]);
                    }
                });
            std::sort(begin, end);
        }
    });
}

} // namespace rankwright
