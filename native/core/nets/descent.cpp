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

// The data that all steps read.
struct DescentInputs {
    const NetFeatures &features;
    const LabelledQueries &pairs;
    const Walk &walk;
    const NetMatrices &matrices;
};

// A step's queries are walk.queries[first] to walk.queries[last].
struct Step {
    std::size_t first, last;
    std::uint64_t key;

    Step(const Walk &walk, std::size_t number)
        : first(number * walk.batch_queries), last(std::min(first + walk.batch_queries, walk.queries.size())),
          key(static_cast<std::uint64_t>(walk.keys[number])) {}
    std::size_t n_queries() const { return last - first; }
};

// Takes one query after another through the net and back.
class Worker {
  public:
    explicit Worker(const DescentInputs &inputs)
        : inputs_(inputs), walk_(inputs.walk), pass_(inputs.matrices),
          pairs_(inputs.pairs.data, inputs.pairs.settings, !walk_.cost.empty()) {}

    // Runs the queries of one of the step's `n_parts` parts; false where a score is not finite.
    bool run(const Step &step, std::size_t part, std::size_t n_parts) {
        sums_.assign(inputs_.matrices.n_sums(), 0.0F);
        const std::size_t n = step.n_queries();
        for (std::size_t k = part * n / n_parts; k < (part + 1) * n / n_parts; ++k) {
            if (!run_query(step, step.first + k)) return false;
        }
        return true;
    }

    // Of the derivatives, over the queries of the last run.
    std::span<const float> sums() const { return sums_; }

  private:
    bool run_query(const Step &step, std::size_t k) {
        const auto start = static_cast<std::size_t>(walk_.starts[k]);
        n_docs_ = static_cast<std::size_t>(walk_.starts[k + 1]) - start;
        rows_.resize(n_docs_);
        std::iota(rows_.begin(), rows_.end(),
                  inputs_.pairs.data.groups.offsets[static_cast<std::size_t>(walk_.queries[k])]);
        const std::size_t n_members = inputs_.matrices.net().n_members;
        scores_.resize(n_docs_ * n_members);
        WayBack way_back = pass_.forward(inputs_.features, rows_, step.key, scores_);
        mean_scores(scores_, n_members, walk_.scores.subspan(start, n_docs_));
        if (!std::ranges::all_of(scores_, [](double score) { return std::isfinite(score); })) return false;
        forces_.resize(scores_.size());
        double cost = 0.0;
        for (std::size_t member = 0; member < n_members; ++member) cost += find_forces(step, k, member);
        if (!walk_.cost.empty()) walk_.cost[k] = cost / static_cast<double>(n_members);
        way_back.add_derivatives(forces_, sums_);
        return true;
    }

    // The cost of a member's scores of the query, and forces on them, divided by the number of the step's queries and
    // of members: the cost of a query is the mean of its members'.
    double find_forces(const Step &step, std::size_t k, std::size_t member) {
        const std::size_t n_members = inputs_.matrices.net().n_members;
        own_scores_.resize(n_docs_);
        for (std::size_t doc = 0; doc < n_docs_; ++doc) own_scores_[doc] = scores_[doc * n_members + member];
        const std::int64_t offsets[] = {0, static_cast<std::int64_t>(n_docs_)};
        const Batch one{own_scores_, walk_.queries.subspan(k, 1), offsets, step.key};
        if (inputs_.pairs.settings.reads_ranks()) {
            ranked_.resize(n_docs_);
            rank_rows(own_scores_, offsets, ranked_, 1);
        }
        const BatchQuery query = query_of(one, inputs_.pairs.data.groups, 0);
        const auto found = pairs_.pairs_of_labels(query, inputs_.pairs.by_label, ranked_);
        gradient_.resize(n_docs_);
        curvature_.resize(n_docs_);
        found.write(gradient_, curvature_);
        const auto share = static_cast<float>(step.n_queries() * n_members);
        for (std::size_t doc = 0; doc < n_docs_; ++doc) forces_[doc * n_members + member] = gradient_[doc] / share;
        return found.cost();
    }

    const DescentInputs &inputs_;
    const Walk &walk_;
    NetPass pass_;
    QueryPairs<float> pairs_;
    std::size_t n_docs_ = 0;
    std::vector<std::int64_t> rows_, ranked_;
    std::vector<double> scores_, own_scores_; // [document, member], and those of one member
    std::vector<float> forces_, gradient_, curvature_;
    Numbers sums_;
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
    NetMatrices matrices(net, features.pieces, NetMatrices::Ways::both);
    const DescentInputs inputs{features, pairs, walk, matrices};
    std::vector<std::unique_ptr<Worker>> workers(std::min(most_parts, walk.batch_queries));
    for (std::unique_ptr<Worker> &worker : workers) worker = std::make_unique<Worker>(inputs);
    std::vector<float> gradient(net.weights.size());
    Numbers all(matrices.n_sums());
    Descent next = descent;
    Team team(std::min(threads, static_cast<int>(workers.size())));
    for (std::size_t number = 0; number < walk.keys.size(); ++number, ++next.n_steps) {
        const Step step(walk, number);
        const std::size_t n_parts = std::min(workers.size(), step.n_queries());
        std::atomic<std::size_t> next_part{0};
        std::atomic<bool> is_finite{true};
        team.run([&](int) {
            for (std::size_t part; (part = next_part.fetch_add(1)) < n_parts;) {
                if (!workers[part]->run(step, part, n_parts)) is_finite = false;
            }
        });
        if (!is_finite) return static_cast<std::int64_t>(number);
        std::ranges::fill(all, 0.0F);
        for (std::size_t part = 0; part < n_parts; ++part) add_numbers(workers[part]->sums(), all);
        matrices.write_gradient(all, gradient);
        follow_gradient(next, gradient, net.weights);
        matrices.refresh();
    }
    return static_cast<std::int64_t>(walk.keys.size());
}

} // namespace rankwright
