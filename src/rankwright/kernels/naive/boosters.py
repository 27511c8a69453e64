"""Twins of the boosters' kernels: weights of pairs of different labels, and the stumps that order them best.

Query q owns `order[offsets[q]]` to `order[offsets[q + 1]]`: its judged rows, by ascending label. A pair counts its
query's weight times the weights of its two documents. `codes` has a row a feature; a feature's missing values have the
code `n_bins[feature]`. A stump says of a document 1 where its code is above `bin`, else 0; where the feature is
missing, `missing_above`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray

Slope = Callable[[float], float]  # of a pair's weight in the better document's score less the worse one's
Pair = tuple[int, int, int, float]  # query, better row, worse row, weight


def _pairs(
    scores: Float64Array,
    labels: Float32Array,
    weights: Float64Array,
    query_weights: Float64Array,
    offsets: IntArray,
    order: IntArray,
    slope: Slope,
) -> Iterator[Pair]:
    for query in range(len(offsets) - 1):
        rows = order[offsets[query] : offsets[query + 1]].tolist()
        for better in rows:
            for worse in rows:
                if labels[better] > labels[worse]:
                    weight = query_weights[query] * weights[better] * weights[worse]
                    yield query, better, worse, weight * slope(float(scores[better] - scores[worse]))


def pair_potentials(
    scores: Float64Array,
    labels: Float32Array,
    weights: Float64Array,
    query_weights: Float64Array,
    offsets: IntArray,
    order: IntArray,
    potentials: Float64Array,
    totals: Float64Array,
    threads: int,  # noqa: ARG001
) -> None:
    """Fill, for each row, the weight of its pairs as the better document less as the worse, and each query's total."""
    potentials[:], totals[:] = 0.0, 0.0
    found = _pairs(scores, labels, weights, query_weights, offsets, order, lambda difference: math.exp(-difference))
    for query, better, worse, weight in found:
        potentials[better] += weight
        potentials[worse] -= weight
        totals[query] += weight


def _stumps(codes: NDArray[np.uint8], n_bins: int) -> Iterator[tuple[int, bool, BoolArray]]:
    """Each stump of a feature: its bin, where it puts missing values, and which rows it puts above."""
    missing = codes == n_bins
    for bin in reversed(range(n_bins)):
        for missing_above in (False, True):
            yield bin, missing_above, np.where(missing, missing_above, codes > bin)


def potential_stumps(
    codes: NDArray[np.uint8],
    n_bins: IntArray,
    potentials: Float64Array,
    sums: Float64Array,
    bin: IntArray,
    missing_above: BoolArray,
    threads: int,  # noqa: ARG001
) -> None:
    """Fill, for each feature, the stump whose sum of potentials above is largest in size, and that sum."""
    sums[:], bin[:], missing_above[:] = 0.0, 0, False
    for feature in range(len(n_bins)):
        for place, side, above in _stumps(codes[feature], int(n_bins[feature])):
            total = float(potentials[above].sum())
            if abs(total) > abs(sums[feature]):
                sums[feature], bin[feature], missing_above[feature] = total, place, side


def fidelity_stumps(
    codes: NDArray[np.uint8],
    n_bins: IntArray,
    scores: Float64Array,
    labels: Float32Array,
    weights: Float64Array,
    query_weights: Float64Array,
    offsets: IntArray,
    order: IntArray,
    smoothing: float,
    agree: Float64Array,
    disagree: Float64Array,
    bin: IntArray,
    missing_above: BoolArray,
    threads: int,  # noqa: ARG001
) -> None:
    """Fill, for each feature, the stump for which √agree and √disagree are furthest apart, and these two."""
    agree[:], disagree[:], bin[:], missing_above[:] = smoothing, smoothing, 0, False
    found = list(_pairs(scores, labels, weights, query_weights, offsets, order, _fidelity_slope))
    better = np.array([pair[1] for pair in found], np.int64)
    worse = np.array([pair[2] for pair in found], np.int64)
    weight = np.array([pair[3] for pair in found])
    for feature in range(len(n_bins)):
        furthest = 0.0
        # The compiled kernel looks at bins upwards, and at missing values above last.
        for place, side, above in sorted(_stumps(codes[feature], int(n_bins[feature])), key=lambda stump: stump[1::-1]):
            right = float(weight[above[better] & ~above[worse]].sum()) + smoothing
            wrong = float(weight[above[worse] & ~above[better]].sum()) + smoothing
            apart = abs(math.sqrt(right) - math.sqrt(wrong))
            if apart > furthest:
                furthest = apart
                agree[feature], disagree[feature], bin[feature], missing_above[feature] = right, wrong, place, side


def _fidelity_slope(difference: float) -> float:
    """√P (1 - P), where P is the logistic function of the difference."""
    p = 1 / (1 + math.exp(-difference))
    return math.sqrt(p) * (1 - p)


def rank_moves(
    scores: Float64Array,
    column: Float64Array,
    moves: Float64Array,
    offsets: IntArray,
    moved: Float64Array,
    rows: IntArray,
    threads: int,  # noqa: ARG001
) -> None:
    """Fill, for each move, the scores plus so much of the column, and the rows of each query in their order.

    The rows of the m-th move count from m · documents on; equal scores stand in row order.
    """
    n_docs = len(scores)
    for number, move in enumerate(moves.tolist()):
        stretch = slice(number * n_docs, (number + 1) * n_docs)
        moved[stretch] = scores + move * column
        for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
            order = np.argsort(-moved[stretch][start:stop], kind="stable")
            rows[number * n_docs + start : number * n_docs + stop] = number * n_docs + start + order
