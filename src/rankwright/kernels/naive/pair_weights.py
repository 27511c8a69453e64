"""The queries of a batch, and what a pair of their documents weighs.

A pair has a loss, and a weight: what swapping the two changes in a metric, or the mean of that over several orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.kernels.naive.common import or_ones, slices, stream_of
from rankwright.kernels.records import Batch, Forces, PairSettings, WeighedGroups


class BatchQuery(NamedTuple):
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


def queries_of(batch: Batch, groups: WeighedGroups) -> Iterator[BatchQuery]:
    """The queries asked for, one after the other."""
    rows_of = slices(groups.offsets)
    weights = or_ones(groups.query_weights, len(rows_of)).astype(np.float64)
    document_weights = or_ones(groups.document_weights, int(groups.offsets[-1])).astype(np.float64)
    for place, (number, here) in enumerate(zip(batch.queries.tolist(), slices(batch.starts), strict=True)):
        rows, scores, stream = rows_of[number], batch.scores[here], stream_of(batch.key, number)[0]
        yield BatchQuery(number, place, here, rows, scores, weights[number], document_weights[rows], stream)


SwapDelta = Callable[[Float64Array, Float64Array, int, IntArray], Float64Array]


def discounted_gain(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
    """DCG, NDCG, precision and recall: a document counts its worth times the discount of its rank."""
    return (float(worth[i]) - worth[j]) * (float(discount[i]) - discount[j])


def average_precision(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
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


def reciprocal_rank(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
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


def expected_reciprocal_rank(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
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


def constant(worth: Float64Array, discount: Float64Array, i: int, j: IntArray) -> Float64Array:
    """No metric: every pair counts alike."""
    return np.ones(len(j))


SWAP_DELTAS: Mapping[str, SwapDelta] = {
    "constant": constant,
    "discounted-gain": discounted_gain,
    "average-precision": average_precision,
    "reciprocal-rank": reciprocal_rank,
    "expected-reciprocal-rank": expected_reciprocal_rank,
}


class PairForces(NamedTuple):
    """Derivative of the cost by s_a, second derivative by either score, and the cost itself."""

    force: Float64Array
    curvature: Float64Array
    cost: Float64Array


PairLoss = Callable[[Float64Array, Float64Array, float], PairForces]


def logistic(gap: Float64Array, target: Float64Array, sigma: float) -> PairForces:
    """RankNet's cross entropy: φ(x) = log(1 + e^-σx)."""
    z = sigma * gap
    up, down = 1.0 / (1.0 + np.exp(np.clip(-z, None, 700))), 1.0 / (1.0 + np.exp(np.clip(z, None, 700)))
    cost = target * np.logaddexp(0.0, -z) + (1.0 - target) * np.logaddexp(0.0, z)
    return PairForces(sigma * ((1.0 - target) * up - target * down), sigma**2 * up * down, cost)


def hinge(gap: Float64Array, target: Float64Array, margin: float) -> PairForces:
    """φ(x) = max(0, margin - x); where it slopes, the curvature counts 1, not the true 0."""
    up, down = target * (gap < margin), (1.0 - target) * (-gap < margin)
    return PairForces(down - up, down + up, up * (margin - gap) + down * (margin + gap))


def spring(gap: Float64Array, target: Float64Array, margin: float) -> PairForces:
    """Burges 2005, Eq. 4-9; on the straight part the curvature counts 1, its slope, not the true 0."""

    def push(x: Float64Array) -> Float64Array:
        return np.where(x < 0, 1.0, np.where(x <= margin, margin - x, 0.0))

    def height(x: Float64Array) -> Float64Array:
        return np.where(x < 0, -x, np.where(x <= margin, 0.5 * x**2 - margin * x, -0.5 * margin**2))

    other = 1.0 - target
    bend = target * (gap <= margin) + other * (-gap <= margin)
    cost = target * height(gap) + other * height(-gap)
    return PairForces(other * push(-gap) - target * push(gap), bend, cost)


PAIR_LOSSES: Mapping[str, PairLoss] = {"logistic": logistic, "hinge": hinge, "spring": spring}


def ranked_rows(scores: Float64Array, stream: np.uint64 | None) -> IntArray:
    """The rows by score, highest first; equal scores in random order, or in row order where no stream is given."""
    rows = np.arange(len(scores))
    tie_breaker = rows if stream is None else stream_of(stream, rows) >> np.uint64(32)
    return np.lexsort([rows, tie_breaker, -scores])


def are_swaps(settings: PairSettings) -> bool:
    """Whether weights are what swaps at the ranks of the scores change, and nothing else."""
    return not (settings.perturbations or settings.expected_ties or settings.constant_share)


def weight_matrices(
    query: BatchQuery, ranked: IntArray, worth: Float64Array, discount: Float64Array, settings: PairSettings
) -> tuple[Float64Array, Float64Array]:
    """The weights of all pairs without their constant share, and whether a pair counts at the ranks of the scores."""
    n = len(ranked)
    ranks, n_counted = np.arange(n), settings.truncation or n
    counted = np.minimum.outer(ranks, ranks) < n_counted
    if settings.perturbations:
        orders = list(_noisy_ranks(query, ranked, settings))
        swaps = np.mean([_swaps(rank_of, worth, discount, settings) for rank_of in orders], axis=0)
        return np.asarray(swaps, np.float64), counted.astype(np.float64)
    if settings.expected_ties:
        return _expected(query.scores[ranked], worth, discount, counted)
    return _swaps(ranks, worth, discount, settings), counted.astype(np.float64)


def _noisy_ranks(query: BatchQuery, ranked: IntArray, settings: PairSettings) -> Iterator[IntArray]:
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
        rows = ranked_rows(noisy, None) if settings.noise else ranked_rows(query.scores, stream)
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
