"""Twin of the sums over pairs whose scores are not far enough apart: here every pair is looked at."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.kernels.records import MarginPairs, PairSums

MARGIN = 1.0


def pair_margins(pairs: MarginPairs, scores: Float64Array, values: Float64Array, sums: PairSums, threads: int) -> None:
    """Sum over each document's active partners: those in pairs whose better score is less than 1 above the other."""
    for q, (first, last) in enumerate(pairwise(pairs.offsets.tolist())):
        own = slice(first, last)
        weight = pairs.document_weights[own] if len(pairs.document_weights) else np.ones(last - first)
        level = pairs.levels[own]
        better = level[:, None] > level  # row above column
        active = better & (scores[own][:, None] - scores[own] < MARGIN)
        counted = pairs.query_factors[q] * np.outer(weight, weight) * active
        if pairs.level_weights.size:
            counted *= pairs.level_weights[level[:, None], level]
        sums.weight_below[own], sums.weight_above[own] = counted.sum(axis=1), counted.sum(axis=0)
        sums.sum_below[own], sums.sum_above[own] = counted @ values[own], counted.T @ values[own]
