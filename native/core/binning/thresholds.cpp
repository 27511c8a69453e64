// Where the bins of each feature meet.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "core/binning/binning.hpp"
#include "core/binning/sparse_binning.hpp"
#include "core/common/parallel.hpp"

namespace rankwright {

namespace {

// Columns read together: half a cache line of each row, and few enough that the work divides evenly among threads.
constexpr std::size_t columns_at_a_time = 8;

constexpr std::uint32_t sign_bit = 0x80000000u;

// An unsigned integer for each float, in the same order.
std::uint32_t key_of(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f); // -0 becomes +0
    return bits & sign_bit ? ~bits : bits | sign_bit;
}

float value_of(std::uint32_t key) { return std::bit_cast<float>(key & sign_bit ? key ^ sign_bit : ~key); }

// Sorts by radix, 11 bits at a time: a few passes over memory, and none where all keys agree in those bits.
class RadixSort {
  public:
    void operator()(std::vector<std::uint32_t> &keys) {
        spare_.resize(keys.size());
        std::array<std::array<std::uint32_t, 2048>, 3> counts{};
        for (const std::uint32_t key : keys) {
            for (std::size_t pass = 0; pass < 3; ++pass) ++counts[pass][digit(key, pass)];
        }
        for (std::size_t pass = 0; pass < 3; ++pass) {
            if (keys.empty() || counts[pass][digit(keys[0], pass)] == keys.size()) continue;
            std::uint32_t place = 0;
            for (std::uint32_t &count : counts[pass]) place += std::exchange(count, place);
            for (const std::uint32_t key : keys) spare_[counts[pass][digit(key, pass)]++] = key;
            keys.swap(spare_);
        }
    }

  private:
    static std::size_t digit(std::uint32_t key, std::size_t pass) { return (key >> (11 * pass)) & 2047; }

    std::vector<std::uint32_t> spare_;
};

// Fills keys[i] with those of column first + i in the given rows. A missing value is written like any other, and then
// written over: a branch would often be guessed wrong.
void read_keys(FloatTable features, std::span<const std::int64_t> rows, std::size_t first, std::size_t last,
               std::span<std::vector<std::uint32_t>> keys) {
    std::array<std::uint32_t *, columns_at_a_time> next;
    for (std::size_t column = first; column < last; ++column) {
        keys[column - first].resize(rows.size() + 1);
        next[column - first] = keys[column - first].data();
    }
    for (const std::int64_t row : rows) {
        const float *values = features.data + row * features.n_columns;
        for (std::size_t column = first; column < last; ++column) {
            std::uint32_t *&place = next[column - first];
            *place = key_of(values[column]);
            place += !std::isnan(values[column]);
        }
    }
    for (std::size_t column = first; column < last; ++column) {
        auto &own = keys[column - first];
        own.resize(static_cast<std::size_t>(next[column - first] - own.data()));
    }
}

struct DistinctValues {
    std::vector<float> values; // ascending
    std::vector<std::int64_t> counts;
    std::vector<std::uint8_t> heavy; // whether a value has a bin of its own
};

void count_distinct(const std::vector<std::uint32_t> &sorted, DistinctValues &distinct) {
    distinct.values.clear();
    distinct.counts.clear();
    for (std::size_t first = 0; first < sorted.size();) {
        std::size_t last = first + 1;
        while (last < sorted.size() && sorted[last] == sorted[first]) ++last;
        distinct.values.push_back(value_of(sorted[first]));
        distinct.counts.push_back(static_cast<std::int64_t>(last - first));
        first = last;
    }
}

// Counts so many zeros more.
void add_zeros(std::int64_t n, DistinctValues &distinct) {
    if (n == 0) return;
    const auto place = std::ranges::lower_bound(distinct.values, 0.0f);
    const auto count = distinct.counts.begin() + (place - distinct.values.begin());
    if (place != distinct.values.end() && *place == 0.0f) {
        *count += n;
    } else {
        distinct.counts.insert(count, n);
        distinct.values.insert(place, 0.0f);
    }
}

// A number t with a <= t < b, in the middle where rounding allows.
float between(float a, float b) {
    const auto middle = static_cast<float>(0.5 * (static_cast<double>(a) + static_cast<double>(b)));
    return middle < b ? middle : a;
}

struct Shares {
    std::int64_t rows; // not yet in a bin
    std::int64_t bins; // not yet used
};

// Marks the values that get a bin of their own, until the mean size of the other bins no longer falls. Returns the rows
// and bins that remain for the other values.
Shares mark_heavy(DistinctValues &distinct, std::int64_t max_bins) {
    Shares rest{0, max_bins};
    for (const std::int64_t count : distinct.counts) rest.rows += count;
    distinct.heavy.assign(distinct.values.size(), 0);
    for (bool found = true; found;) {
        found = false;
        const Shares before = rest;
        for (std::size_t i = 0; i < distinct.values.size(); ++i) {
            if (distinct.heavy[i] || distinct.counts[i] * before.bins < before.rows) continue;
            distinct.heavy[i] = found = true;
            rest.rows -= distinct.counts[i];
            rest.bins -= 1;
        }
    }
    return rest;
}

// Calls end_bin(i) for each distinct value that is the largest of its bin, except the last.
template <typename EndBin> void share_bins(DistinctValues &distinct, std::int64_t max_bins, EndBin &&end_bin) {
    const std::size_t n = distinct.values.size();
    if (n <= static_cast<std::size_t>(max_bins)) {
        for (std::size_t i = 0; i + 1 < n; ++i) end_bin(i);
        return;
    }
    Shares rest = mark_heavy(distinct, max_bins);
    std::int64_t held = 0; // rows of light values in the bin being filled
    for (std::size_t i = 0; i + 1 < n; ++i) {
        if (distinct.heavy[i]) {
            rest.rows -= held; // light values that are too few for a bin of their own join this one
        } else {
            held += distinct.counts[i];
            const bool full = held * rest.bins >= rest.rows;
            const bool half_full_before_heavy =
                distinct.heavy[i + 1] && rest.bins > 1 && 2 * held * rest.bins >= rest.rows;
            if (!full && !half_full_before_heavy) continue;
            rest.rows -= held;
            rest.bins -= 1;
        }
        held = 0;
        end_bin(i);
    }
}

} // namespace

void find_thresholds(FloatTable features, std::span<const std::int64_t> rows, std::int64_t max_bins,
                     std::span<float> thresholds, std::span<std::int64_t> n_thresholds, int threads) {
    parallel_for(features.n_columns, threads, columns_at_a_time, [&](std::size_t first, std::size_t last) {
        std::array<std::vector<std::uint32_t>, columns_at_a_time> keys;
        read_keys(features, rows, first, last, keys);
        RadixSort sort;
        DistinctValues distinct;
        for (std::size_t column = first; column < last; ++column) {
            sort(keys[column - first]);
            count_distinct(keys[column - first], distinct);
            float *out = thresholds.data() + column * (max_bins - 1);
            std::int64_t n_found = 0;
            share_bins(distinct, max_bins,
                       [&](std::size_t i) { out[n_found++] = between(distinct.values[i], distinct.values[i + 1]); });
            n_thresholds[column] = n_found;
        }
    });
}

void find_sparse_thresholds(const SparseTable &features, std::span<const std::int64_t> rows, std::int64_t max_bins,
                            std::span<const std::int64_t> offsets, std::span<float> thresholds,
                            std::span<std::int64_t> n_thresholds, int threads) {
    constexpr std::size_t features_at_a_time = 256;
    std::vector<std::size_t> next(features.n_columns + 1);
    const auto visit_values = [&](auto visit) {
        for (const std::int64_t row : rows) {
            for (const std::size_t entry : features.entries(static_cast<std::size_t>(row))) {
                visit(static_cast<std::size_t>(features.columns[entry]), features.values[entry]);
            }
        }
    };
    visit_values([&](std::size_t column, float) { ++next[column + 1]; });
    for (std::size_t column = 0; column < features.n_columns; ++column) next[column + 1] += next[column];
    const std::vector<std::size_t> starts = next;
    std::vector<float> values(starts.back());
    visit_values([&](std::size_t column, float value) { values[next[column]++] = value; });
    parallel_for(features.n_columns, threads, features_at_a_time, [&](std::size_t first, std::size_t last) {
        std::vector<std::uint32_t> keys;
        DistinctValues distinct;
        for (std::size_t column = first; column < last; ++column) {
            keys.clear();
            for (std::size_t place = starts[column]; place < starts[column + 1]; ++place) {
                if (!std::isnan(values[place])) keys.push_back(key_of(values[place]));
            }
            std::ranges::sort(keys); // most columns have few
            count_distinct(keys, distinct);
            const std::size_t n_stored = starts[column + 1] - starts[column];
            if (features.absent == 0.0f) add_zeros(static_cast<std::int64_t>(rows.size() - n_stored), distinct);
            float *out = thresholds.data() + offsets[column];
            std::int64_t n_found = 0;
            share_bins(distinct, max_bins,
                       [&](std::size_t i) { out[n_found++] = between(distinct.values[i], distinct.values[i + 1]); });
            n_thresholds[column] = n_found;
        }
    });
}

} // namespace rankwright
