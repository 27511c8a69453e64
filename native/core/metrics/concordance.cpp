#include "core/metrics/concordance.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace rankwright {

namespace {

using Labels = std::span<float>;

// Pairs of different labels among labels in descending order.
std::int64_t pairs_of_sorted(std::span<const float> sorted) {
    std::int64_t n_pairs = 0;
    for (std::size_t first = 0, last; first < sorted.size(); first = last) {
        for (last = first + 1; last < sorted.size() && sorted[last] == sorted[first];) ++last;
        n_pairs += static_cast<std::int64_t>(last - first) * static_cast<std::int64_t>(sorted.size() - last);
    }
    return n_pairs;
}

// Sorts labels downwards and returns how many pairs stood the wrong way round, the lower label first.
std::int64_t sort_and_count(Labels labels, Labels scratch) {
    std::int64_t n_wrong = 0;
    for (std::size_t width = 1; width < labels.size(); width *= 2) {
        for (std::size_t start = 0; start < labels.size(); start += 2 * width) {
            const std::size_t middle = std::min(start + width, labels.size());
            const std::size_t stop = std::min(start + 2 * width, labels.size());
            std::size_t left = start, right = middle;
            for (std::size_t place = start; place < stop; ++place) {
                const bool from_right = right < stop && (left == middle || labels[left] < labels[right]);
                // It passes all labels that are left in the left half; each of them is lower.
                if (from_right) n_wrong += static_cast<std::int64_t>(middle - left);
                scratch[place] = from_right ? labels[right++] : labels[left++];
            }
        }
        std::copy(scratch.begin(), scratch.end(), labels.begin());
    }
    return n_wrong;
}

} // namespace

void wrong_pairs(std::span<const float> labels, const RankedLists &lists, std::span<double> wrong,
                 std::span<double> n_pairs, int threads) {
    for_lists(lists, threads, [&](std::size_t query, const RankedList &list) {
        const std::size_t n = list.rows.size();
        std::vector<float> sequence(n), scratch(n);
        std::transform(list.rows.begin(), list.rows.end(), sequence.begin(), [&](auto row) { return labels[row]; });
        std::int64_t n_halves = 0;
        const auto settle = [&](std::size_t first, std::size_t last, std::int64_t halves_a_pair) {
            const auto run = std::span(sequence).subspan(first, last - first);
            std::sort(run.begin(), run.end(), std::greater<>());
            n_halves += halves_a_pair * pairs_of_sorted(run);
        };
        for (std::size_t rank = 0, end; rank < list.n_ranked; rank = end) {
            end = list.run_end(rank);
            if (end > rank + 1) settle(rank, end, 1);
        }
        settle(list.n_ranked, n, 2);
        n_halves += 2 * sort_and_count(sequence, scratch);
        wrong[query] = static_cast<double>(n_halves) / 2.0;
        n_pairs[query] = static_cast<double>(pairs_of_sorted(sequence));
    });
}

} // namespace rankwright
