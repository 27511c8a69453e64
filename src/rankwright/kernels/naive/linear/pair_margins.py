"""Twin of the sums over pairs whose scores are not far enough apart: here every pair is looked at."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, IntArray

MARGIN = 1.0


def pair_margins(
    scores: Float64Array,
    values: Float64Array,
    offsets: IntArray,
    levels: NDArray[np.int32],
    document_weights: Float64Array,
    query_factors: Float64Array,
    level_weights: Float64Array,
    weight_below: Float64Array,
    sum_below: Float64Array,
    weight_above: Float64Array,
    sum_above: Float64Array,
    threads: int,
) -> None:
    """Fill in, for each document, the weight of its active partners that are worse and better, and sums of `values`.

    A pair of documents of different levels is active where the better one's score is less than 1 above the other's. Its
    weight is that of the query times those of both documents times that of both levels; empty weights are all 1.
    """
    for q, (first, last) in enumerate(pairwise(offsets.tolist())):
        own = slice(first, last)
        weight = document_weights[own] if len(document_weights) else np.ones(last - first)
        level = levels[own]
        better = level[:, None] > level  # row above column
        active = better & (scores[own][:, None] - scores[own] < MARGIN)
        pairs = query_factors[q] * np.outer(weight, weight) * active
        if level_weights.size:
            pairs *= level_weights[level[:, None], level]
        weight_below[own], weight_above[own] = pairs.sum(axis=1), pairs.sum(axis=0)
        sum_below[own], sum_above[own] = pairs @ values[own], pairs.T @ values[own]
