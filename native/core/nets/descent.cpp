#include "core/nets/descent.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "core/common/simd.hpp"
#include "core/common/team.hpp"
#include "core/nets/net_pass.hpp"
#include "core/objectives/batches.hpp"
#include "core/objectives/query_pairs.hpp"
#include "core/ranking/ordering.hpp"

namespace rankwright {

namespace {

// Derivatives are summed in this many parts of a batch, then over the parts in order, whatever the number of threads.
constexpr std::size_t most_parts = 8;

// The data that all parts of a step read. The step's queries are walk.queries[first] to walk.queries[last].
struct Step {
    const NetFeatures &features;
    const LabelledQueries &pairs;
    const Walk &walk;
    NetMatrices matrices;
    std::size_t first = 0, last = 0;
    std::uint64_t key = 0;

    void begin(std::size_t number) {
        first = number * walk.batch_queries;
        last = std::min(first + walk.batch_queries, walk.queries.size());
        key = static_cast<std::uint64_t>(walk.keys[number]);
        matrices.refresh(true);
    }
};

// Takes one query after another through the net and back.
class Worker {
  public:
    explicit Worker(const Step &step)
        : step_(step), pass_(step.matrices), pairs_(step.pairs.data, step.pairs.settings, !step.walk.cost.empty()) {}

    // Runs the queries of one of the step's `n_parts` parts; false where a score is not finite.
    bool run(std::size_t part, std::size_t n_parts) {
        pass_.clear_sums();
        const std::size_t n = step_.last - step_.first;
        for (std::size_t k = part * n / n_parts; k < (part + 1) * n / n_parts; ++k) {
            if (!run_query(step_.first + k)) return false;
        }
        return true;
    }

    std::span<const float> sums() const { return pass_.sums(); }

  private:
    bool run_query(std::size_t k) {
        const auto start = static_cast<std::size_t>(step_.walk.starts[k]);
        n_docs_ = static_cast<std::size_t>(step_.walk.starts[k + 1]) - start;
        rows_.resize(n_docs_);
        std::iota(rows_.begin(), rows_.end(),
                  step_.pairs.data.groups.offsets[static_cast<std::size_t>(step_.walk.queries[k])]);
        const auto scores = step_.walk.scores.subspan(start, n_docs_);
        pass_.forward(step_.features, rows_, step_.key, scores);
        if (!std::ranges::all_of(scores, [](double score) { return std::isfinite(score); })) return false;
        find_forces(k, scores);
        pass_.backward(forces_);
        return true;
    }

    // Forces on the query's documents, divided by the number of the step's queries.
    void find_forces(std::size_t k, std::span<const double> scores) {
        const Batch whole{step_.walk.scores, step_.walk.queries, step_.walk.starts, step_.key};
        BatchQuery query = query_of(whole, step_.pairs.data.groups, k);
        query.start = 0; // ranks below count from the query's first row
        if (step_.pairs.settings.reads_ranks()) {
            const std::int64_t offsets[] = {0, static_cast<std::int64_t>(n_docs_)};
            ranked_.resize(n_docs_);
            rank_rows(scores, offsets, ranked_, 1);
        }
        pairs_.add_pairs_of_labels(query, step_.pairs.by_label, ranked_);
        forces_.resize(n_docs_);
        curvature_.resize(n_docs_);
        pairs_.unload(forces_, curvature_);
        for (float &force : forces_) force /= static_cast<float>(step_.last - step_.first);
        if (!step_.walk.cost.empty()) step_.walk.cost[k] = pairs_.cost();
    }

    const Step &step_;
    NetPass pass_;
    QueryPairs<float> pairs_;
    std::size_t n_docs_ = 0;
    std::vector<std::int64_t> rows_, ranked_;
    std::vector<float> forces_, curvature_;
};

constexpr double mean_decay = 0.9, square_decay = 0.999, smallest_divisor = 1e-8; // Adam's usual ones

struct PlainStep {
    [[gnu::always_inline]] static void run(const Descent *descent, const float *gradient, float *weights,
                                           std::size_t n) {
        const auto rate = static_cast<float>(descent->learning_rate);
        const auto shrink = static_cast<float>(descent->pull) + static_cast<float>(descent->weight_decay);
        for (std::size_t i = 0; i < n; ++i) weights[i] -= rate * (gradient[i] + shrink * weights[i]);
    }
};

struct AdamStep {
    [[gnu::always_inline]] static void run(const Descent *descent, const float *gradient, float *weights,
                                           std::size_t n) {
        const auto rate = static_cast<float>(descent->learning_rate), pull = static_cast<float>(descent->pull);
        const auto decay = static_cast<float>(descent->weight_decay);
        const auto b1 = static_cast<float>(mean_decay), b2 = static_cast<float>(square_decay);
        // Both means begin at zero; the factors make up for it.
        const auto steps = static_cast<double>(descent->n_steps + 1);
        const auto step_size = static_cast<float>(descent->learning_rate / (1.0 - std::pow(mean_decay, steps)));
        const auto root = static_cast<float>(std::sqrt(1.0 - std::pow(square_decay, steps)));
        float *mean = descent->mean.data(), *square = descent->square.data();
        for (std::size_t i = 0; i < n; ++i) {
            const float slope = gradient[i] + pull * weights[i];
            mean[i] = b1 * mean[i] + (1.0F - b1) * slope;
            square[i] = b2 * square[i] + (1.0F - b2) * slope * slope;
            const float divisor = std::sqrt(square[i]) / root + static_cast<float>(smallest_divisor);
            weights[i] -= rate * decay * weights[i] + step_size * mean[i] / divisor;
        }
    }
};

} // namespace

void follow_gradient(const Descent &descent, std::span<const float> gradient, std::span<float> weights) {
    const Simd simd = simd_level();
    if (descent.optimizer == Optimizer::sgd) {
        run_for<PlainStep>(simd, &descent, gradient.data(), weights.data(), weights.size());
    } else {
        run_for<AdamStep>(simd, &descent, gradient.data(), weights.data(), weights.size());
    }
}

std::int64_t descend_net(const PlainNet &net, const NetFeatures &features, const LabelledQueries &pairs,
                         const Descent &descent, const Walk &walk, int threads) {
    Step step{features, pairs, walk, NetMatrices(net)};
    std::vector<std::unique_ptr<Worker>> workers;
    for (std::size_t part = 0; part < std::min(most_parts, walk.batch_queries); ++part) {
        workers.push_back(std::make_unique<Worker>(step));
    }
    std::vector<float> gradient(net.weights.size());
    Descent next = descent;
    Team team(std::min(threads, static_cast<int>(workers.size())));
    for (std::size_t number = 0; number < walk.keys.size(); ++number, ++next.n_steps) {
        step.begin(number);
        const std::size_t n_parts = std::min(workers.size(), step.last - step.first);
        std::atomic<std::size_t> next_part{0};
        std::atomic<bool> is_finite{true};
        team.run([&](int) {
            for (std::size_t part; (part = next_part.fetch_add(1)) < n_parts;) {
                if (!workers[part]->run(part, n_parts)) is_finite = false;
            }
        });
        if (!is_finite) return static_cast<std::int64_t>(number);
        std::ranges::fill(gradient, 0.0F);
        for (std::size_t part = 0; part < n_parts; ++part) step.matrices.add_sums(workers[part]->sums(), gradient);
        follow_gradient(next, gradient, net.weights);
    }
    return static_cast<std::int64_t>(walk.keys.size());
}

} // namespace rankwright
