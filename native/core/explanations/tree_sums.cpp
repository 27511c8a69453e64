#include "core/explanations/tree_sums.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rankwright {

namespace {

template <std::size_t bytes> struct Lanes {
    static constexpr std::size_t n = bytes / sizeof(double);
    typedef double Numbers __attribute__((vector_size(bytes)));
    typedef std::int64_t Mask __attribute__((vector_size(bytes)));
    typedef std::int8_t Sides __attribute__((vector_size(bytes / sizeof(double))));
};

struct Working {
    double *differences, *weights, *leaves; // [node][point][lane], likewise, [leaf][lane]
    double *left, *passed;                  // masks: [node][lane]
};

// One tree for as many documents as a register has lanes, at n_points points.
template <std::size_t n_points, std::size_t bytes> struct AddTree {
    using L = Lanes<bytes>;
    using Numbers = typename L::Numbers;
    using Mask = typename L::Mask;

    template <typename V> [[gnu::always_inline]] static V get(const double *from) {
        V values;
        std::memcpy(&values, from, sizeof(V));
        return values;
    }
    template <typename V> [[gnu::always_inline]] static void put(double *to, V values) {
        std::memcpy(to, &values, sizeof(V));
    }

    // Which documents go left at each node, and which passed the splits above on its feature.
    [[gnu::always_inline]] static void find_sides(const TreePlan &plan, const std::int8_t *sides, std::size_t width,
                                                  const Working &at) {
        for (std::size_t number = 0; number < plan.nodes.size(); ++number) {
            typename L::Sides own;
            std::memcpy(&own, sides + number * width, sizeof(own));
            const Mask left = __builtin_convertvector(own, Mask);
            put(at.left + number * L::n, left);
            const NodePlace &place = plan.nodes[number].place;
            if (place.above < 0) continue;
            const Mask above = get<Mask>(at.left + place.above * L::n);
            Mask passed = place.above_on_left ? above : ~above;
            if (plan.nodes[place.above].place.above >= 0) passed &= get<Mask>(at.passed + place.above * L::n);
            put(at.passed + number * L::n, passed);
        }
    }

    [[gnu::always_inline]] static void sum_upwards(const TreePlan &plan, const Working &at) {
        for (std::size_t number = plan.nodes.size(); number-- > 0;) {
            const PlannedNode &node = plan.nodes[number];
            const Mask left = get<Mask>(at.left + number * L::n);
            const bool repeated = node.place.above >= 0;
            const Mask passed = repeated ? get<Mask>(at.passed + number * L::n) : Mask{};
            const auto child = [&](std::int32_t which) {
                return which >= 0 ? std::pair(at.weights + which * n_points * L::n, L::n)
                                  : std::pair(at.leaves + (-1 - which) * L::n, std::size_t{0});
            };
            const auto [of_left, left_stride] = child(node.left);
            const auto [of_right, right_stride] = child(node.right);
            double *differences = at.differences + number * n_points * L::n;
            double *values = at.weights + number * n_points * L::n;
#pragma GCC unroll 8
            for (std::size_t i = 0; i < n_points; ++i) {
                const Numbers right_value = get<Numbers>(of_right + i * right_stride);
                const Numbers difference = get<Numbers>(of_left + i * left_stride) - right_value;
                Numbers share = left ? Numbers{} + node.to_left.left[i] : Numbers{} + node.to_left.right[i];
                if (repeated) share = passed ? share : Numbers{} + node.to_left.otherwise;
                put(differences + i * L::n, difference);
                put(values + i * L::n, right_value + share * difference);
            }
        }
    }

    [[gnu::always_inline]] static void share_downwards(const TreePlan &plan, std::size_t width, const Working &at,
                                                       double *sums) {
        for (std::size_t number = 0; number < plan.nodes.size(); ++number) {
            const PlannedNode &node = plan.nodes[number];
            double *weights = at.weights + number * n_points * L::n;
            take_weights(plan, node, at, weights);
            const double *differences = at.differences + number * n_points * L::n;
            if (node.slot < 0) continue;
            const bool repeated = node.place.above >= 0;
            Numbers got = {};
#pragma GCC unroll 8
            for (std::size_t i = 0; i < n_points; ++i) {
                Numbers part = get<Numbers>(weights + i * L::n) * get<Numbers>(differences + i * L::n);
                if (repeated) part *= node.factor[i];
                got += part;
            }
            const Mask left = get<Mask>(at.left + number * L::n);
            got *= left ? Numbers{} + node.gain_left : Numbers{} + node.gain_right;
            if (repeated) got = get<Mask>(at.passed + number * L::n) ? got : Numbers{};
            double *sum = sums + static_cast<std::size_t>(node.slot) * width;
            put(sum, get<Numbers>(sum) + got);
        }
    }

    // The weights of a node: its share of its parent's.
    [[gnu::always_inline]] static void take_weights(const TreePlan &plan, const PlannedNode &node, const Working &at,
                                                    double *weights) {
        if (node.place.parent < 0) {
            for (std::size_t i = 0; i < n_points; ++i) put(weights + i * L::n, Numbers{} + plan.weights[i]);
            return;
        }
        const auto parent = static_cast<std::size_t>(node.place.parent);
        const double *of_parent = at.weights + parent * n_points * L::n;
        const Mask left = get<Mask>(at.left + parent * L::n);
        const bool repeated = plan.nodes[parent].place.above >= 0;
        const Mask passed = repeated ? get<Mask>(at.passed + parent * L::n) : Mask{};
#pragma GCC unroll 8
        for (std::size_t i = 0; i < n_points; ++i) {
            Numbers share = left ? Numbers{} + node.from_parent.left[i] : Numbers{} + node.from_parent.right[i];
            if (repeated) share = passed ? share : Numbers{} + node.from_parent.otherwise;
            put(weights + i * L::n, get<Numbers>(of_parent + i * L::n) * share);
        }
    }

    [[gnu::always_inline]] static void run(const TreePlan *plan, const std::int8_t *sides, std::size_t width,
                                           const Working *at, double *sums) {
        for (std::size_t leaf = 0; leaf < plan->leaf_values.size(); ++leaf) {
            put(at->leaves + leaf * L::n, Numbers{} + static_cast<double>(plan->leaf_values[leaf]));
        }
        for (std::size_t first = 0; first < width; first += L::n) {
            find_sides(*plan, sides + first, width, *at);
            sum_upwards(*plan, *at);
            share_downwards(*plan, width, *at, sums + first);
        }
    }
};

template <std::size_t n_points>
void add_with([[maybe_unused]] Simd simd, const TreePlan *plan, const std::int8_t *sides, std::size_t width,
              const Working *at, double *sums) {
#ifdef RANKWRIGHT_X86
    if (simd == Simd::avx512) return compiled_for::avx512<AddTree<n_points, 64>>(plan, sides, width, at, sums);
    if (simd == Simd::avx2) return compiled_for::avx2<AddTree<n_points, 32>>(plan, sides, width, at, sums);
#endif
    AddTree<n_points, 16>::run(plan, sides, width, at, sums);
}

constexpr decltype(&add_with<1>) add_at_points[] = {add_with<1>, add_with<2>, add_with<3>, add_with<4>,
                                                    add_with<5>, add_with<6>, add_with<7>, add_with<8>};
static_assert(std::size(add_at_points) == most_points);

double *room(std::vector<EightNumbers> &memory, std::size_t n) {
    if (memory.size() < n) memory.resize(n);
    return memory.data()->lanes;
}

} // namespace

void add_tree(const TreePlan &plan, const std::int8_t *sides, std::size_t width, TreeScratch8 &scratch, double *sums,
              Simd simd) {
    const std::size_t n_nodes = plan.nodes.size();
    if (n_nodes == 0) return;
    const Working at{room(scratch.differences, n_nodes * plan.n_points), room(scratch.weights, n_nodes * plan.n_points),
                     room(scratch.leaves, plan.leaf_values.size()), room(scratch.left, n_nodes),
                     room(scratch.passed, n_nodes)};
    add_at_points[plan.n_points - 1](simd, &plan, sides, width, &at, sums);
}

} // namespace rankwright
