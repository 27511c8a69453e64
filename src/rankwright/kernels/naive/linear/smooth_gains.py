"""Twin of DCG with a smooth assignment of documents to ranks (Chapelle and Wu 2010)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankwright.arrays import Float64Array, IntArray


def smooth_gains(
    scores: Float64Array,
    offsets: IntArray,
    gains: Float64Array,
    discounts: Float64Array,
    query_factors: Float64Array,
    sigma: float,
    gradient: Float64Array,
    value: Float64Array,
    threads: int,
) -> None:
    """Fill in each query's discounted mean gains and their derivatives.

    Every document has a share in rank j, in proportion to exp(-(its score - the score of the document at j)² / sigma).
    """
    for q, (first, last) in enumerate(pairwise(offsets.tolist())):
        own, gain = scores[first:last], gains[first:last]
        value[q], forces = 0.0, np.zeros(last - first)
        for holder, discount in zip(np.argsort(-own, kind="stable"), discounts, strict=False):
            gap = own - own[holder]
            share = np.exp(-(gap**2) / sigma)
            share /= share.sum()
            mean = float(share @ gain)
            change = discount * share * (gain - mean) * (-2.0 * gap / sigma)
            forces += change
            forces[holder] -= change.sum()
            value[q] += query_factors[q] * discount * mean
        gradient[first:last] = query_factors[q] * forces
