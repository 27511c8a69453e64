"""What each pair of a query weighs because of a metric: the twin of the core's pair weights.

Documents are numbered by the rank of their scores. Matrices have a row and a column for each of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.kernels.naive.common.counter_random import stream_of
from rankwright.kernels.naive.objectives.batches import BatchQuery
from rankwright.kernels.naive.objectives.deltas import SWAP_DELTAS
from rankwright.kernels.records import PairSettings


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
