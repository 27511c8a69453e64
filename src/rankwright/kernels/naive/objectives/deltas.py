"""By how much a metric changes when two documents swap ranks: the twin of the core's deltas.

Each function takes the worths of a query's documents in rank order, the discount of every rank, a rank `i` and ranks
`j` below it, and gives the change for each of them, up or down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rankwright.arrays import Float64Array, IntArray

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
