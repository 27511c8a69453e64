"""Twins of the kernels of objectives: forces on the documents of pairs, of lists, and of each document alone.

A pair has a loss, and a weight: what swapping the two changes in a metric, or the mean of that over several orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf, log2, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common import below, or_ones, slices, stream_of, unit_interval
from rankwright.kernels.records import Batch, Forces, LabelledQueries, PairSettings, WeighedGroups

SMALLEST_GAP = 0.01


class _BatchQuery(NamedTuple):
    """One query of a batch: where it lies in the batch and in the dataset, and its scores."""

    number: int
    place: int  # among the queries of the batch
    here: slice
    rows: slice
    scores: Float64Array
    weight: float
    document_weights: Float64Array
    stream: np.uint64

    def fill(self, forces: Forces, gradient: Float64Array, curvature: Float64Array, cost: float) -> None:
        """Write the query's forces, and its cost if costs are asked for."""
        forces.gradient[self.here], forces.curvature[self.here] = gradient, curvature
        forces.cost[self.place : self.place + 1] = cost


def _queries_of(batch: Batch, groups: WeighedGroups) -> Iterator[_BatchQuery]:
    """The queries asked for, one after the other."""
    rows_of = slices(groups.offsets)
    weights = or_ones(groups.query_weights, len(rows_of)).astype(np.float64)
    document_weights = or_ones(groups.document_weights, int(groups.offsets[-1])).astype(np.float64)
    for place, (number, here) in enumerate(zip(batch.queries.tolist(), slices(batch.starts), strict=True)):
        rows, scores, stream = rows_of[number], batch.scores[here], stream_of(batch.key, number)[0]
        yield _BatchQuery(number, place, here, rows, scores, weights[number], document_weights[rows], stream)


SwapDelta = Callable[[Float64Array, Float64Array, int, IntArray], Float64Array]


def _discounted_gain(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
    """DCG, NDCG, precision and recall: a document counts its worth times the discount of its rank."""
    return (float(worth[i]) - worth[j]) * (float(discount[i]) - discount[j])


def _average_precision(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
    """Average precision: the relevant documents so far times the discount, summed over the relevant ranks."""
    relevant = worth > 0
    so_far = np.cumsum(relevant)
    discounts_so_far = np.cumsum(relevant * discount)
    between = discounts_so_far[j] - float(discounts_so_far[i]) - relevant[j] * discount[j]
    if relevant[i]:  # it moves down, and every relevant rank in between has one document fewer above it
        change = so_far[j] * discount[j] - float(so_far[i] * discount[i]) - between
    else:  # the document at j moves up
        change = float((so_far[i] + 1) * discount[i]) - so_far[j] * discount[j] + between
    return change * (float(worth[i]) - worth[j])


def _reciprocal_rank(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
    """Reciprocal rank: the discount of the first relevant rank."""
    ranks = np.flatnonzero(worth > 0)
    if len(ranks) == 0 or i > ranks[0]:
        return np.zeros(len(j))
    first = float(discount[ranks[0]])
    if i < ranks[0]:  # the document from j becomes the first if it is relevant
        return np.where(worth[j] > 0, float(discount[i]) - first, 0.0)
    # The first goes down to j; the next relevant one becomes the first if it is above j.
    lower = np.minimum(j, ranks[1]) if len(ranks) > 1 else j
    return np.where(worth[j] > 0, 0.0, discount[lower] - first)


def _expected_reciprocal_rank(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
    """Expected reciprocal rank: worth is the chance to stop at a document that was reached."""
    own = float(worth[i])
    reach = np.concatenate([[1.0], np.cumprod(1.0 - worth)[:-1]])
    terms = reach * worth * discount
    terms_so_far = np.cumsum(terms)
    between = terms_so_far[j] - terms[j] - float(terms_so_far[i])
    ratio = (1.0 - worth[j]) / (1.0 - own)  # the chance to get past rank i after the swap, over that before
    at_i = float(reach[i] * discount[i]) * (worth[j] - own)
    at_j = reach[j] * discount[j] * (ratio * own - worth[j])
    return at_i + between * (ratio - 1.0) + at_j


def _constant(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
    """No metric: every pair counts alike."""
    return np.ones(len(j))


SWAP_DELTAS: Mapping[str, SwapDelta] = {
    "constant": _constant,
    "discounted-gain": _discounted_gain,
    "average-precision": _average_precision,
    "reciprocal-rank": _reciprocal_rank,
    "expected-reciprocal-rank": _expected_reciprocal_rank,
}


class _PairForces(NamedTuple):
    """Derivative of the cost by s_a, second derivative by either score, and the cost itself."""

    force: Float64Array
    curvature: Float64Array
    cost: Float64Array


PairLoss = Callable[[Float64Array, Float64Array, float], _PairForces]


def _logistic(gap: Float64Array, target: Float64Array, sigma: float) -> _PairForces:
    """RankNet's cross entropy: φ(x) = log(1 + e^-σx)."""
    z = sigma * gap
    up, down = 1.0 / (1.0 + np.exp(np.clip(-z, None, 700))), 1.0 / (1.0 + np.exp(np.clip(z, None, 700)))
    cost = target * np.logaddexp(0.0, -z) + (1.0 - target) * np.logaddexp(0.0, z)
    return _PairForces(sigma * ((1.0 - target) * up - target * down), sigma**2 * up * down, cost)


def _hinge(gap: Float64Array, target: Float64Array, margin: float) -> _PairForces:
    """φ(x) = max(0, margin - x); where it slopes, the curvature counts 1, not the true 0."""
    up, down = target * (gap < margin), (1.0 - target) * (-gap < margin)
    return _PairForces(down - up, down + up, up * (margin - gap) + down * (margin + gap))


def _spring(gap: Float64Array, target: Float64Array, margin: float) -> _PairForces:
    """Burges 2005, Eq. 4-9; on the straight part the curvature counts 1, its slope, not the true 0."""

    def push(x: Float64Array) -> Float64Array:
        return np.where(x < 0, 1.0, np.where(x <= margin, margin - x, 0.0))

    def height(x: Float64Array) -> Float64Array:
        return np.where(x < 0, -x, np.where(x <= margin, 0.5 * x**2 - margin * x, -0.5 * margin**2))

    other = 1.0 - target
    bend = target * (gap <= margin) + other * (-gap <= margin)
    cost = target * height(gap) + other * height(-gap)
    return _PairForces(other * push(-gap) - target * push(gap), bend, cost)


PAIR_LOSSES: Mapping[str, PairLoss] = {"logistic": _logistic, "hinge": _hinge, "spring": _spring}


def _ranked_rows(scores: Float64Array, stream: np.uint64 | None) -> IntArray:
    """The rows by score, highest first; equal scores in random order, or in row order where no stream is given."""
    rows = np.arange(len(scores))
    tie_breaker = rows if stream is None else stream_of(stream, rows) >> np.uint64(32)
    return np.lexsort([rows, tie_breaker, -scores])


def _are_swaps(settings: PairSettings) -> bool:
    """Whether weights are what swaps at the ranks of the scores change, and nothing else."""
    return not (settings.perturbations or settings.expected_ties or settings.constant_share)


def _weight_matrices(
    query: _BatchQuery, ranked: IntArray, worth: Float64Array, discount: Float64Array, settings: PairSettings
) -> tuple[Float64Array, NDArray[Any]]:
    """The weights of all pairs without their constant share, and whether a pair counts at the ranks of the scores."""
    ranks = np.arange(len(ranked))
    is_top = ranks < (settings.truncation or len(ranked))
    counted = is_top[:, None] | is_top
    if settings.perturbations:
        orders = list(_noisy_ranks(query, ranked, settings))
        swaps = np.mean([_swaps(rank_of, worth, discount, settings) for rank_of in orders], axis=0)
        return np.asarray(swaps, np.float64), counted
    if settings.expected_ties:
        return _expected(query.scores[ranked], worth, discount, counted)
    return _swaps(ranks, worth, discount, settings), counted


def _noisy_ranks(query: _BatchQuery, ranked: IntArray, settings: PairSettings) -> Iterator[IntArray]:
    """The rank of each document in one noisy order after the other."""
    n = len(ranked)
    rank_of_row = np.argsort(ranked)
    noise = np.zeros(n)
    for order in range(settings.perturbations):
        stream = stream_of(query.stream, ~np.uint64(order))[0]
        if order % 2 == 0:  # every other order has the noise of the one before turned round
            uniform = ((stream_of(stream, np.arange(n)) >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52
            noise = np.log(uniform / (1.0 - uniform))
        else:
            noise = -noise
        noisy = query.scores - query.scores.max(initial=-np.inf) + settings.noise * noise
        noisy = noisy.astype(np.float32).astype(np.float64)
        rows = _ranked_rows(noisy, None) if settings.noise else _ranked_rows(query.scores, stream)
        rank_of = np.empty(n, np.int64)
        rank_of[rank_of_row[rows]] = np.arange(n)
        yield rank_of


def _swaps(rank_of: IntArray, worth: Float64Array, discount: Float64Array, settings: PairSettings) -> Float64Array:
    """What swapping two documents changes in an order, where the upper one is within the truncation."""
    n = len(rank_of)
    at_rank = np.argsort(rank_of)
    weights = np.zeros((n, n))
    for upper in range(min(n, settings.truncation or n)):
        lower = np.arange(upper + 1, min(n, upper + 2) if settings.neighbours else n)
        change = np.abs(SWAP_DELTAS[settings.delta](worth[at_rank], discount, upper, lower))
        weights[at_rank[upper], at_rank[lower]] = weights[at_rank[lower], at_rank[upper]] = change
    return weights


def _expected(
    scores: Float64Array, worth: Float64Array, discount: Float64Array, counted: BoolArray
) -> tuple[Float64Array, Float64Array]:
    """The means over all pairs of ranks that two documents can have, given which have equal scores."""
    n = len(scores)
    weights, shares = np.zeros((n, n)), np.zeros((n, n))
    differences = np.abs(np.subtract.outer(discount, discount)) * counted
    for a in range(n):
        for b in range(n):
            ranks = np.ix_(scores == scores[a], scores == scores[b])
            possible = ~np.eye(n, dtype=bool)[ranks]
            if a != b:
                weights[a, b] = abs(worth[a] - worth[b]) * differences[ranks][possible].mean()
                shares[a, b] = counted[ranks][possible].mean()
    return weights, shares


class _Pairs(NamedTuple):
    """Pairs of ranks `a` and `b`, with target probabilities that `a` belongs above `b`, and weights."""

    a: IntArray
    b: IntArray
    target: Float64Array
    weight: Float64Array


def _targets(certainty: float, difference: Float64Array) -> Float64Array:
    steepness = np.minimum(certainty, 1e300) * np.abs(difference)
    wrong = np.exp(-np.minimum(steepness, 745.0)) if certainty < inf else np.zeros(len(difference))
    target = 1.0 / (1.0 + wrong)
    return np.where(difference == 0, 0.5, np.where(difference > 0, target, 1.0 - target))


def _pairs_of_ranks(labels: Float64Array, settings: PairSettings) -> Iterator[_Pairs]:
    """Every pair of judged documents of different labels, one upper rank after the other."""
    # Where weights are means over orders, those of pairs beyond the truncation are 0.
    n_rows = min(len(labels), settings.truncation or len(labels)) if _are_swaps(settings) else len(labels)
    for i in range(n_rows):
        lower = np.arange(i + 1, len(labels))
        difference = labels[i] - labels[lower]
        chosen = ~np.isnan(difference) if settings.pair_equal_labels else np.abs(difference) > 0
        lower, difference = lower[chosen], difference[chosen]
        if len(lower):
            target = _targets(settings.certainty, difference)
            yield _Pairs(np.full(len(lower), i), lower, target, np.ones(len(lower)))


def _sampled_pairs(
    sorted_rows: IntArray, labels: Float64Array, rank_of: IntArray, settings: PairSettings, stream: np.uint64
) -> Iterator[_Pairs]:
    """Partners drawn for each judged document; a pair's weight is one over the mean number of its draws."""
    n, draws = len(labels), settings.sampled
    sorted_rows = sorted_rows[~np.isnan(labels[sorted_rows])]
    by_label = labels[sorted_rows]
    at = np.arange(len(by_label))
    begin = at if settings.pair_equal_labels else np.searchsorted(-by_label, -by_label, side="left")
    end = at + 1 if settings.pair_equal_labels else np.searchsorted(-by_label, -by_label, side="right")
    n_partners = len(by_label) - (end - begin)
    if len(by_label) == 0 or n_partners[0] == 0:
        return
    for position, row in enumerate(sorted_rows.tolist()):
        random = stream_of(stream, n + row * draws + np.arange(draws))
        other = below(random, n_partners[position]).astype(np.int64)
        other = np.where(other < begin[position], other, other + (end - begin)[position])
        times = draws / n_partners[position] + draws / n_partners[other]
        target = _targets(settings.certainty, by_label[position] - by_label[other])
        yield _Pairs(np.full(draws, rank_of[row]), rank_of[sorted_rows[other]], target, 1.0 / times)


def _mixed(
    matrices: tuple[Float64Array, NDArray[Any]], pairs: list[_Pairs], weight: Float64Array, settings: PairSettings
) -> Float64Array:
    """Weights of which a share is the same for all pairs that count, such that both shares have the same sum."""
    changes, counted = matrices
    if settings.constant_share == 0:
        return changes
    sums = np.zeros(2)
    for some in pairs:
        own = some.weight * weight[some.a] * weight[some.b]
        sums += [(own * matrix[some.a, some.b]).sum() for matrix in matrices]
    constant = sums[0] / sums[1] if sums[1] > 0 else 0.0
    return (1.0 - settings.constant_share) * changes + settings.constant_share * constant * counted


def _sum_pairs(
    query: _BatchQuery,
    ranked: IntArray,
    worth: Float64Array,
    discount: Float64Array,
    settings: PairSettings,
    pairs: list[_Pairs],
    forces: Forces,
) -> None:
    """Fill the forces of the pairs of a query, and its cost."""
    scores, n = query.scores, len(query.scores)
    by_rank, weight_by_rank = scores[ranked], query.document_weights[ranked]
    worth_by_rank = worth[query.rows][ranked] if len(worth) else np.zeros(n)
    discount_of_rank = np.concatenate([discount, np.zeros(n)])[:n]
    matrices = _weight_matrices(query, ranked, worth_by_rank, discount_of_rank, settings)
    changes = _mixed(matrices, pairs, weight_by_rank, settings)
    gradient, curvature, cost, size = np.zeros(n), np.zeros(n), 0.0, 0.0
    for some in pairs:
        gap = by_rank[some.a] - by_rank[some.b]
        weight = some.weight * weight_by_rank[some.a] * weight_by_rank[some.b] * changes[some.a, some.b]
        if settings.gap_norm and scores.min() != scores.max():
            weight /= SMALLEST_GAP + np.abs(gap)
        pair = PAIR_LOSSES[settings.loss](gap, some.target, settings.shape)
        np.add.at(gradient, some.a, weight * pair.force)
        np.add.at(gradient, some.b, -weight * pair.force)
        np.add.at(curvature, some.a, weight * pair.curvature)
        np.add.at(curvature, some.b, weight * pair.curvature)
        size += 2.0 * float(np.abs(weight * pair.force).sum())
        cost += float((weight * pair.cost).sum())
    factor = query.weight * (log2(1.0 + size) / size if settings.query_norm and size > 0 else 1.0)
    whole = settings.truncation == 0 or n <= settings.truncation + 1
    of_row = np.argsort(ranked)
    query.fill(forces, factor * gradient[of_row], factor * curvature[of_row], query.weight * cost if whole else nan)


def label_pair_lambdas(batch: Batch, pairs: LabelledQueries, forces: Forces, threads: int) -> None:
    """Fill the forces of pairs of documents with different labels."""
    settings = pairs.settings
    for query in _queries_of(batch, pairs.groups):
        ranked = _ranked_rows(query.scores, query.stream if settings.shuffle_ties else None)
        labels = pairs.labels[query.rows].astype(np.float64)
        if settings.sampled and len(ranked) > 2 * settings.sampled + 1:
            sorted_rows = pairs.by_label[query.rows] - query.rows.start
            some = _sampled_pairs(sorted_rows, labels, np.argsort(ranked), settings, query.stream)
        else:
            some = _pairs_of_ranks(labels[ranked], settings)
        _sum_pairs(query, ranked, pairs.worth, pairs.discount, settings, list(some), forces)


def preference_lambdas(
    batch: Batch,
    groups: WeighedGroups,
    first_pair: IntArray,
    better: IntArray,
    worse: IntArray,
    probability: Float32Array,
    weight: Float32Array,
    worth: Float64Array,
    discount: Float64Array,
    settings: PairSettings,
    forces: Forces,
    threads: int,
) -> None:
    """Fill the forces of given pairs; those of query q are `first_pair[q]` to `first_pair[q + 1]`."""
    for query in _queries_of(batch, groups):
        ranked = _ranked_rows(query.scores, query.stream if settings.shuffle_ties else None)
        rank_of = np.argsort(ranked)
        given = slice(first_pair[query.number], first_pair[query.number + 1])
        a, b = rank_of[better[given] - query.rows.start], rank_of[worse[given] - query.rows.start]
        seen = (np.minimum(a, b) < (settings.truncation or len(ranked))) | (not _are_swaps(settings))
        target, own_weight = probability[given][seen].astype(np.float64), weight[given][seen].astype(np.float64)
        pairs = [_Pairs(a[seen], b[seen], target, own_weight)] if seen.any() else []
        _sum_pairs(query, ranked, worth, discount, settings, pairs, forces)


def point_lambdas(
    batch: Batch, groups: WeighedGroups, targets: Float32Array, loss: str, forces: Forces, threads: int
) -> None:
    """Fill the forces that pull each document's score to its target, by squared error or logistic loss; NaN: none."""
    for query in _queries_of(batch, groups):
        own, target = query.scores, targets[query.rows].astype(np.float64)
        weight = query.weight * query.document_weights * ~np.isnan(target)
        target = np.nan_to_num(target)
        if loss == "squared":
            force, bend, height = own - target, np.ones(len(own)), 0.5 * (own - target) ** 2
        else:  # one document is a pair with an opponent of score 0
            force, bend, height = _logistic(own, target, 1.0)
        query.fill(forces, weight * force, weight * bend, (weight * height).sum())


def softmax_lambdas(
    batch: Batch,
    groups: WeighedGroups,
    shares: Float64Array,
    exponential: bool,
    noise: bool,
    forces: Forces,
    threads: int,
) -> None:
    """Fill the derivatives of the cross entropy between `shares` and the softmax of the scores; NaN: takes no part.

    Shares are taken as they are, or exponentiated, or with a random number from 0 to 1 added; then they are multiplied
    by the document's weight and divided by their sum.
    """
    for query in _queries_of(batch, groups):
        gradient, curvature, cost = np.zeros(len(query.scores)), np.zeros(len(query.scores)), 0.0
        rows = np.flatnonzero(~np.isnan(shares[query.rows]))
        share = shares[query.rows][rows]
        if exponential:
            share = np.exp(share - share.max(initial=-inf))
        if noise:
            share += unit_interval(stream_of(query.stream, rows))
        share *= query.document_weights[rows]
        if share.sum() != 0.0:
            target = share / share.sum()
            own = query.scores[rows]
            log_probability = own - own.max() - np.log(np.exp(own - own.max()).sum())
            probability = np.exp(log_probability)
            gradient[rows] = query.weight * (probability - target)
            curvature[rows] = query.weight * probability * (1.0 - probability)
            cost = -query.weight * (target * log_probability).sum()
        query.fill(forces, gradient, curvature, cost)
