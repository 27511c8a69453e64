#include "core/objectives/pair_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/common/simd.hpp"

namespace rankwright {

namespace {

// Lanes hold sums of Real; every so many pairs they are emptied into a double, so that huge queries keep their digits.
constexpr std::size_t pairs_per_flush = 64 * lanes;

// Where scores are equal the gap is 0; LightGBM's constant keeps the quotient finite.
constexpr double smallest_gap = 0.01;

template <typename Real, std::size_t bytes> struct LaneSums {
    using V = Pack<Real, bytes>;
    static constexpr std::size_t packs = lanes * sizeof(Real) / bytes;
    V at[packs] = {};

    [[gnu::always_inline]] double total() const {
        alignas(64) Real sums[lanes];
        for (std::size_t pack = 0; pack < packs; ++pack) store<V>(sums + pack * (lanes / packs), at[pack]);
        for (std::size_t half = lanes / 2; half > 0; half /= 2) {
            for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
        }
        return sums[0];
    }
};

template <typename Real, std::size_t bytes> struct AllSums {
    LaneSums<Real, bytes> force, curvature, size, cost;

    template <bool with_cost, typename V>
    [[gnu::always_inline]] void add(std::size_t pack, const PairForce<V> &pair, V weight) {
        force.at[pack] += pair.force;
        curvature.at[pack] += pair.curvature;
        size.at[pack] += absolute(pair.force);
        if constexpr (with_cost) cost.at[pack] += weight * pair.cost;
    }

    template <bool with_cost> [[gnu::always_inline]] void flush(PairSums &sums) const {
        sums.force += force.total();
        sums.curvature += curvature.total();
        sums.size += size.total();
        if constexpr (with_cost) sums.cost += cost.total();
    }
};

template <typename Real, typename V> [[gnu::always_inline]] inline V over_gap(V weight, V gap) {
    return weight / (Real(smallest_gap) + absolute(gap));
}

template <typename Real, typename V> [[gnu::always_inline]] inline V soft_target(Real certainty, V label_difference) {
    const V z = certainty * label_difference;
    const V e = exp_minus(absolute(z));
    const V large = Real(1) / (Real(1) + e);
    return z < Real(0) ? e * large : large;
}

// The weights and targets of the pairs of document i with the documents from j on.
template <typename Real, typename V>
[[gnu::always_inline]] inline void weigh(const RankedQuery<Real> &query, const PairRule<Real> &rule, std::size_t i,
                                         std::size_t j, V gap, V &weight, V &target) {
    const V label = load<V>(query.label + j);
    const auto i_better = label < query.label[i];
    const auto j_better = label > query.label[i];
    if (query.pair_weight != nullptr) {
        weight = load<V>(query.pair_weight + j);
    } else if (rule.constant_delta) {
        weight = V{} + Real(1);
    } else {
        weight = absolute(query.worth[i] - load<V>(query.worth + j)) * query.scale[i] *
                 absolute(query.above[i] - load<V>(query.below + j));
    }
    target = where<V>(i_better, V{} + Real(1));
    if (rule.certainty != std::numeric_limits<Real>::infinity()) {
        target = soft_target(rule.certainty, query.label[i] - label);
    }
    auto paired = i_better | j_better;
    if (rule.pair_equal_labels) {
        const auto equal = label == query.label[i];
        target = equal ? V{} + Real(0.5) : target;
        paired |= equal;
    }
    if (query.weight != nullptr) weight *= query.weight[i] * load<V>(query.weight + j);
    if (rule.divide_by_gap) weight = over_gap<Real>(weight, gap);
    weight = where<V>(paired, weight);
}

// Forces can be computed in two ways: from each pair's gap, or from the odds of both documents.
template <typename Loss, bool with_cost_> struct FromGaps {
    static constexpr bool with_cost = with_cost_;
    template <typename Real, typename V>
    [[gnu::always_inline]] static PairForce<V> force(const RankedQuery<Real> &, Real shape, std::size_t, std::size_t,
                                                     V gap, V target) {
        return Loss{shape}.template operator()<with_cost>(gap, target);
    }
};

template <bool with_cost_> struct FromOdds {
    static constexpr bool with_cost = with_cost_;
    template <typename Real, typename V>
    [[gnu::always_inline]] static PairForce<V> force(const RankedQuery<Real> &query, Real shape, std::size_t i,
                                                     std::size_t j, V gap, V target) {
        const V e = query.odds_against[i] * load<V>(query.odds + j);
        return NearLogisticLoss<Real>{shape}.template operator()<with_cost>(e, gap, target);
    }
};

template <typename Real, std::size_t bytes, typename Way>
[[gnu::always_inline]] inline void add_row(const RankedQuery<Real> &query, const PairRule<Real> &rule, std::size_t i,
                                           std::size_t first, PairSums &sums) {
    using V = Pack<Real, bytes>;
    constexpr std::size_t width = bytes / sizeof(Real);
    for (std::size_t start = first; start < query.n; start += pairs_per_flush) {
        const std::size_t stop = std::min(query.n, start + pairs_per_flush);
        AllSums<Real, bytes> row;
        for (std::size_t block = start; block < stop; block += lanes) {
#pragma GCC unroll 8
            for (std::size_t pack = 0; pack < lanes / width; ++pack) {
                const std::size_t j = block + pack * width;
                const V gap = query.score[i] - load<V>(query.score + j);
                V weight, target;
                weigh(query, rule, i, j, gap, weight, target);
                auto pair = Way::force(query, rule.shape, i, j, gap, target);
                pair.force *= weight;
                pair.curvature *= weight;
                store<V>(query.gradient + j, load<V>(query.gradient + j) - pair.force);
                store<V>(query.curvature + j, load<V>(query.curvature + j) + pair.curvature);
                row.template add<Way::with_cost>(pack, pair, weight);
            }
        }
        row.template flush<Way::with_cost>(sums);
    }
}

template <typename Real, std::size_t bytes, typename Loss, bool with_cost>
[[gnu::always_inline]] inline void add_list(const PairList<Real> &pairs, const PairRule<Real> &rule, PairSums &sums) {
    using V = Pack<Real, bytes>;
    constexpr std::size_t width = bytes / sizeof(Real);
    const Loss loss{rule.shape};
    AllSums<Real, bytes> total;
    for (std::size_t block = 0; block < pairs.n; block += lanes) {
#pragma GCC unroll 8
        for (std::size_t pack = 0; pack < lanes / width; ++pack) {
            const std::size_t k = block + pack * width;
            const V gap = load<V>(pairs.gap + k);
            V weight = load<V>(pairs.weight + k);
            if (rule.divide_by_gap) weight = over_gap<Real>(weight, gap);
            auto pair = loss.template operator()<with_cost>(gap, load<V>(pairs.target + k));
            pair.force *= weight;
            pair.curvature *= weight;
            store<V>(pairs.force + k, pair.force);
            store<V>(pairs.curvature + k, pair.curvature);
            total.template add<with_cost>(pack, pair, weight);
        }
    }
    total.template flush<with_cost>(sums);
}

template <typename Real> struct Narrow {
    template <typename Way>
    static void row(const RankedQuery<Real> &query, const PairRule<Real> &rule, std::size_t i, std::size_t first,
                    PairSums &sums) {
        add_row<Real, 16, Way>(query, rule, i, first, sums);
    }
    template <typename Loss, bool with_cost>
    static void list(const PairList<Real> &pairs, const PairRule<Real> &rule, PairSums &sums) {
        add_list<Real, 16, Loss, with_cost>(pairs, rule, sums);
    }
};

#if defined(__x86_64__)
#define RANKWRIGHT_AVX2 __attribute__((target("avx2")))

template <typename Real> struct Wide {
    template <typename Way>
    RANKWRIGHT_AVX2 static void row(const RankedQuery<Real> &query, const PairRule<Real> &rule, std::size_t i,
                                    std::size_t first, PairSums &sums) {
        add_row<Real, 32, Way>(query, rule, i, first, sums);
    }
    template <typename Loss, bool with_cost>
    RANKWRIGHT_AVX2 static void list(const PairList<Real> &pairs, const PairRule<Real> &rule, PairSums &sums) {
        add_list<Real, 32, Loss, with_cost>(pairs, rule, sums);
    }
};

#define RANKWRIGHT_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

// For lists alone: rows begin anywhere, so that most of their packs would lie across two lines of the cache.
template <typename Real> struct Widest {
    template <typename Loss, bool with_cost>
    RANKWRIGHT_AVX512 static void list(const PairList<Real> &pairs, const PairRule<Real> &rule, PairSums &sums) {
        add_list<Real, 64, Loss, with_cost>(pairs, rule, sums);
    }
};
#else
template <typename Real> using Wide = Narrow<Real>;
template <typename Real> using Widest = Narrow<Real>;
#endif

template <typename Real, typename Loss, bool with_cost> PairLoops<Real> loops_of(VectorWidth width) {
    using Way = FromGaps<Loss, with_cost>;
    if (width == VectorWidth::avx512) {
        return {Wide<Real>::template row<Way>, Widest<Real>::template list<Loss, with_cost>};
    }
    if (width == VectorWidth::avx2) {
        return {Wide<Real>::template row<Way>, Wide<Real>::template list<Loss, with_cost>};
    }
    return {Narrow<Real>::template row<Way>, Narrow<Real>::template list<Loss, with_cost>};
}

template <typename Real, typename Loss> PairLoops<Real> loops_of(bool with_cost, VectorWidth width) {
    return with_cost ? loops_of<Real, Loss, true>(width) : loops_of<Real, Loss, false>(width);
}

} // namespace

VectorWidth widest_vectors() {
    switch (simd_level()) {
    case Simd::avx512:
        return VectorWidth::avx512;
    case Simd::avx2:
        return VectorWidth::avx2;
    case Simd::baseline:
        break;
    }
    return VectorWidth::sse;
}

template <typename Real> PairLoops<Real> pair_loops(PairLoss loss, bool with_cost, VectorWidth width) {
    switch (loss) {
    case PairLoss::hinge:
        return loops_of<Real, HingeLoss<Real>>(with_cost, width);
    case PairLoss::spring:
        return loops_of<Real, SpringLoss<Real>>(with_cost, width);
    case PairLoss::logistic:
        break;
    }
    return loops_of<Real, LogisticLoss<Real>>(with_cost, width);
}

RowLoop<float> near_logistic_row(bool with_cost, VectorWidth width) {
    if (width != VectorWidth::sse) {
        return with_cost ? Wide<float>::row<FromOdds<true>> : Wide<float>::row<FromOdds<false>>;
    }
    return with_cost ? Narrow<float>::row<FromOdds<true>> : Narrow<float>::row<FromOdds<false>>;
}

template PairLoops<float> pair_loops<float>(PairLoss loss, bool with_cost, VectorWidth width);
template PairLoops<double> pair_loops<double>(PairLoss loss, bool with_cost, VectorWidth width);

} // namespace rankwright
