#include <cmath>
#include <numeric>

#include "core/common/parallel.hpp"
#include "core/common/simd.hpp"
#include "core/comparators/comparator.hpp"
#include "core/comparators/layers.hpp"

namespace rankwright {

namespace {

constexpr std::size_t queries_a_block = 8; // sorted together by one thread

// A row of the block of queries being sorted, counted from 0.
using Row = std::uint32_t;
struct Comparison {
    Row left, right;
};
enum class Verdict : std::int8_t { right_wins = -1, neither = 0, left_wins = 1 };

struct FillHalves {
    [[gnu::always_inline]] static void run(const PreparedNet *net, const float *features, std::size_t n_docs,
                                           float *halves) {
        for (std::size_t row = 0; row < n_docs; ++row) {
            fill_halves(*net, features + row * net->n_features, halves + row * 2 * net->width);
        }
    }
};

struct Judge {
    [[gnu::always_inline]] static void run(const PreparedNet *net, const float *halves, const Comparison *comparisons,
                                           std::size_t n, Activations *activations, Verdict *verdicts) {
        const std::size_t stride = 2 * net->width;
        for (std::size_t k = 0; k < n; ++k) {
            const Outputs found = compare(*net, halves + comparisons[k].left * stride,
                                          halves + comparisons[k].right * stride, *activations);
            verdicts[k] = static_cast<Verdict>(static_cast<int>(found.left > found.right) -
                                               static_cast<int>(found.left < found.right));
        }
    }
};

// How much the net prefers each document to one of zeros.
struct AgainstNothing {
    [[gnu::always_inline]] static void run(const PreparedNet *net, const float *halves, const float *nothing,
                                           std::size_t n_docs, Activations *activations, float *preference) {
        for (std::size_t row = 0; row < n_docs; ++row) {
            const Outputs found = compare(*net, halves + row * 2 * net->width, nothing, *activations);
            const float difference = found.left - found.right;
            preference[row] = std::isnan(difference) ? 0.0F : difference;
        }
    }
};

// The documents of some queries, prepared for comparisons, and the comparisons that are made together.
class Bench {
  public:
    Bench(const PreparedNet &net, const float *features, std::size_t n_docs)
        : net_(net), simd_(simd_level()), activations_(net), halves_(n_docs * 2 * net.width) {
        run_for<FillHalves>(simd_, &net_, features, n_docs, halves_.data());
    }

    std::span<const Verdict> judge(std::span<const Comparison> comparisons) {
        verdicts_.resize(comparisons.size());
        run_for<Judge>(simd_, &net_, halves_.data(), comparisons.data(), comparisons.size(), &activations_,
                       verdicts_.data());
        return verdicts_;
    }

    bool goes_before(Row left, Row right) {
        const Comparison one{left, right};
        const Verdict verdict = judge({&one, 1})[0];
        return verdict == Verdict::left_wins || (verdict == Verdict::neither && left < right);
    }

    std::vector<float> against_nothing() {
        const std::vector<float> zeros(net_.n_features);
        std::vector<float> nothing(2 * net_.width), preference(halves_.size() / (2 * net_.width));
        run_for<FillHalves>(simd_, &net_, zeros.data(), std::size_t{1}, nothing.data());
        run_for<AgainstNothing>(simd_, &net_, halves_.data(), nothing.data(), preference.size(), &activations_,
                                preference.data());
        return preference;
    }

  private:
    const PreparedNet &net_;
    Simd simd_;
    Activations activations_;
    std::vector<float> halves_;
    std::vector<Verdict> verdicts_;
};

// Two neighbouring sorted runs of one query, being merged.
struct Merge {
    std::size_t left, left_end, right, right_end, out, query;
};

// Merge sort of all queries of a block at once. Runs double from level to level. In a level every merge makes one
// comparison at a time, and those of all merges are judged together.
template <typename Note>
void merge_sort(Bench &bench, std::span<const std::size_t> starts, std::vector<Row> &rows,
                std::span<std::int64_t> n_comparisons, Note &&note) {
    std::vector<Row> merged(rows.size());
    std::vector<Merge> active;
    std::vector<Comparison> comparisons;
    std::size_t longest = 0;
    for (std::size_t query = 0; query + 1 < starts.size(); ++query) {
        longest = std::max(longest, starts[query + 1] - starts[query]);
    }
    for (std::size_t run = 1; run < longest; run *= 2) {
        active.clear();
        for (std::size_t query = 0; query + 1 < starts.size(); ++query) {
            for (std::size_t at = starts[query]; at < starts[query + 1]; at += 2 * run) {
                const std::size_t middle = std::min(at + run, starts[query + 1]);
                const std::size_t end = std::min(at + 2 * run, starts[query + 1]);
                if (middle < end) {
                    active.push_back({at, middle, middle, end, at, query});
                } else {
                    std::copy(rows.begin() + static_cast<std::ptrdiff_t>(at),
                              rows.begin() + static_cast<std::ptrdiff_t>(end),
                              merged.begin() + static_cast<std::ptrdiff_t>(at));
                }
            }
        }
        while (!active.empty()) {
            comparisons.clear();
            for (const Merge &merge : active) comparisons.push_back({rows[merge.left], rows[merge.right]});
            const auto verdicts = bench.judge(comparisons);
            std::size_t kept = 0;
            for (std::size_t k = 0; k < active.size(); ++k) {
                Merge merge = active[k];
                const auto [left, right] = comparisons[k];
                ++n_comparisons[merge.query];
                note(merge.query, left, right, verdicts[k]);
                const bool takes_right =
                    verdicts[k] == Verdict::right_wins || (verdicts[k] == Verdict::neither && right < left);
                merged[merge.out++] = takes_right ? right : left;
                merge.right += takes_right;
                merge.left += !takes_right;
                if (merge.left < merge.left_end && merge.right < merge.right_end) {
                    active[kept++] = merge;
                    continue;
                }
                while (merge.left < merge.left_end) merged[merge.out++] = rows[merge.left++];
                while (merge.right < merge.right_end) merged[merge.out++] = rows[merge.right++];
            }
            active.resize(kept);
        }
        rows.swap(merged);
    }
}

// Heap sort of one query: another algorithm, which compares other pairs. The root is the document to rank last.
std::int64_t heap_sort(Bench &bench, std::span<Row> rows) {
    std::int64_t n_comparisons = 0;
    const auto goes_before = [&](Row left, Row right) {
        ++n_comparisons;
        return bench.goes_before(left, right);
    };
    const auto sink = [&](std::size_t at, std::size_t end) {
        for (std::size_t child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && goes_before(rows[child], rows[child + 1])) ++child;
            if (!goes_before(rows[at], rows[child])) return;
            std::swap(rows[at], rows[child]);
        }
    };
    for (std::size_t at = rows.size() / 2; at-- > 0;) sink(at, rows.size());
    for (std::size_t end = rows.size(); end > 1; --end) {
        std::swap(rows[0], rows[end - 1]);
        sink(0, end - 1);
    }
    return n_comparisons;
}

// The rows of some queries, counted from the first of them, before and after sorting.
class Block {
  public:
    Block(const PreparedNet &net, const Documents &documents, std::size_t first, std::size_t last,
          std::span<std::int64_t> rows)
        : start_(documents.offsets[first]), caller_rows_(rows),
          bench_(net, documents.features.data() + static_cast<std::size_t>(start_) * net.n_features,
                 static_cast<std::size_t>(documents.offsets[last] - start_)) {
        for (std::size_t query = first; query <= last; ++query) {
            starts_.push_back(static_cast<std::size_t>(documents.offsets[query] - start_));
        }
        for (std::size_t at = 0; at < starts_.back(); ++at) {
            rows_.push_back(static_cast<Row>(rows[static_cast<std::size_t>(start_) + at] - start_));
        }
    }

    void presort() {
        const auto preference = bench_.against_nothing();
        for (std::size_t query = 0; query + 1 < starts_.size(); ++query) {
            const auto own = rows_of(query);
            std::ranges::sort(own, [&](Row left, Row right) {
                return preference[left] != preference[right] ? preference[left] > preference[right] : left < right;
            });
        }
    }

    template <typename Note> void merge(std::span<std::int64_t> n_comparisons, Note &&note) {
        merge_sort(bench_, starts_, rows_, n_comparisons, note);
    }

    void heap(std::span<std::int64_t> n_comparisons) {
        for (std::size_t query = 0; query + 1 < starts_.size(); ++query) {
            n_comparisons[query] = heap_sort(bench_, rows_of(query));
        }
    }

    // Marks the places whose document the net finds equal to the one above.
    void mark_ties(std::span<bool> tied) {
        std::vector<Comparison> neighbours;
        for (std::size_t at = 1; at < rows_.size(); ++at) neighbours.push_back({rows_[at - 1], rows_[at]});
        const auto verdicts = bench_.judge(neighbours);
        for (std::size_t at = 1; at < rows_.size(); ++at) {
            tied[static_cast<std::size_t>(start_) + at] =
                verdicts[at - 1] == Verdict::neither && rows_[at - 1] < rows_[at];
        }
        for (std::size_t query = 0; query + 1 < starts_.size(); ++query) {
            if (starts_[query] < starts_[query + 1]) tied[static_cast<std::size_t>(start_) + starts_[query]] = false;
        }
    }

    void unload() const {
        for (std::size_t at = 0; at < rows_.size(); ++at) {
            caller_rows_[static_cast<std::size_t>(start_) + at] = start_ + static_cast<std::int64_t>(rows_[at]);
        }
    }

    std::int64_t caller_row(Row row) const { return start_ + static_cast<std::int64_t>(row); }

  private:
    std::span<Row> rows_of(std::size_t query) {
        return std::span(rows_).subspan(starts_[query], starts_[query + 1] - starts_[query]);
    }

    std::int64_t start_;
    std::span<std::int64_t> caller_rows_;
    Bench bench_;
    std::vector<std::size_t> starts_;
    std::vector<Row> rows_;
};

} // namespace

void sort_rows(const Comparator &net, const Documents &documents, SortAlgorithm algorithm, bool presort,
               std::span<std::int64_t> rows, std::span<bool> tied, std::span<std::int64_t> n_comparisons, int threads) {
    const PreparedNet prepared(net);
    std::ranges::fill(n_comparisons, 0);
    parallel_for(n_comparisons.size(), threads, queries_a_block, [&](std::size_t first, std::size_t last) {
        Block block(prepared, documents, first, last, rows);
        const auto counts = n_comparisons.subspan(first, last - first);
        if (presort) block.presort();
        if (algorithm == SortAlgorithm::merge) {
            block.merge(counts, [](std::size_t, Row, Row, Verdict) {});
        } else {
            block.heap(counts);
        }
        block.mark_ties(tied);
        block.unload();
    });
}

void sort_noting_mistakes(const Comparator &net, const Documents &documents, std::span<const float> labels,
                          std::span<const std::int64_t> mistake_offsets, std::span<std::int64_t> rows,
                          std::span<std::int64_t> n_comparisons, std::span<std::int64_t> n_mistakes,
                          std::span<std::int64_t> mistakes, int threads) {
    const PreparedNet prepared(net);
    std::ranges::fill(n_comparisons, 0);
    std::ranges::fill(n_mistakes, 0);
    parallel_for(n_comparisons.size(), threads, queries_a_block, [&](std::size_t first, std::size_t last) {
        Block block(prepared, documents, first, last, rows);
        const auto note = [&](std::size_t query, Row left, Row right, Verdict verdict) {
            const std::int64_t left_row = block.caller_row(left), right_row = block.caller_row(right);
            const float of_left = labels[static_cast<std::size_t>(left_row)];
            const float of_right = labels[static_cast<std::size_t>(right_row)];
            const bool wrong = (of_left > of_right && verdict != Verdict::left_wins) ||
                               (of_left < of_right && verdict != Verdict::right_wins);
            if (!wrong) return;
            const auto pair = static_cast<std::size_t>(mistake_offsets[first + query] + n_mistakes[first + query]++);
            mistakes[2 * pair] = of_left > of_right ? left_row : right_row;
            mistakes[2 * pair + 1] = of_left > of_right ? right_row : left_row;
        };
        block.merge(n_comparisons.subspan(first, last - first), note);
        block.unload();
    });
}

void count_wins(const Comparator &net, const Documents &documents, std::span<std::int64_t> wins, int threads) {
    const PreparedNet prepared(net);
    std::ranges::fill(wins, 0);
    parallel_for(documents.offsets.size() - 1, threads, 1, [&](std::size_t query, std::size_t) {
        const auto start = static_cast<std::size_t>(documents.offsets[query]);
        const auto n_docs = static_cast<std::size_t>(documents.offsets[query + 1]) - start;
        Bench bench(prepared, documents.features.data() + start * prepared.n_features, n_docs);
        std::vector<Comparison> comparisons(n_docs);
        for (std::size_t left = 0; left < n_docs; ++left) {
            comparisons.clear();
            for (std::size_t right = left + 1; right < n_docs; ++right) {
                comparisons.push_back({static_cast<Row>(left), static_cast<Row>(right)});
            }
            for (std::size_t k = 0; const Verdict verdict : bench.judge(comparisons)) {
                ++wins[start + (verdict == Verdict::right_wins ? comparisons[k].right : left)];
                ++k;
            }
        }
    });
}

} // namespace rankwright
