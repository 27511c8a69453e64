"""Twins of the boosters' kernels: weights of pairs of different labels, and the stumps that order them best.

`codes` has a row per feature; a feature's missing values have the code `n_bins[feature]`. A stump gives a document 1 if
its code is above `bin`, else 0; if the feature is missing, it gives `missing_above`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.kernels.naive.common import slices
from rankwright.kernels.naive.metrics import rank_rows
from rankwright.kernels.records import LabelPairs

Slope = Callable[[float], float]  # from a pair's score difference, better less worse, to its weight
Pair = tuple[int, int, int, float]  # query, better row, worse row, weight


def _each(pairs: LabelPairs, scores: Float64Array, slope: Slope) -> Iterator[Pair]:
    for query, own in enumerate(slices(pairs.offsets)):
        for better, worse in product(pairs.order[own].tolist(), repeat=2):
            if pairs.labels[better] > pairs.labels[worse]:
                weight = pairs.query_weights[query] * pairs.weights[better] * pairs.weights[worse]
                yield query, better, worse, weight * slope(float(scores[better] - scores[worse]))


def pair_potentials(
    scores: Float64Array, pairs: LabelPairs, potentials: Float64Array, totals: Float64Array, threads: int
) -> None:
    """Fill each query's total weight of pairs, and each row's weight as the better document less that as the worse."""
    _fill_potentials(_each(pairs, scores, lambda difference: math.exp(-difference)), potentials, totals)


def _fill_potentials(found: Iterator[Pair], potentials: Float64Array, totals: Float64Array) -> None:
    potentials[:], totals[:] = 0.0, 0.0
    for query, better, worse, weight in found:
        potentials[better] += weight
        potentials[worse] -= weight
        totals[query] += weight


def potential_stumps(
    codes: NDArray[np.uint8],
    n_bins: IntArray,
    potentials: Float64Array,
    sums: Float64Array,
    bin: IntArray,
    missing_above: BoolArray,
    threads: int,
) -> None:
    """Fill, for each feature, the stump whose rows above have the largest absolute sum of potentials, and that sum."""
    sums[:], bin[:], missing_above[:] = 0.0, 0, False
    for feature, (own, n) in enumerate(zip(codes, n_bins.tolist(), strict=True)):
        for place, side in product(reversed(range(n)), (False, True)):
            above = np.where(own == n, side, own > place)
            total = float(potentials[above].sum())
            if abs(total) > abs(sums[feature]):
                sums[feature], bin[feature], missing_above[feature] = total, place, side


def fidelity_potentials(
    scores: Float64Array, pairs: LabelPairs, potentials: Float64Array, totals: Float64Array, threads: int
) -> None:
    """Fill the same as `pair_potentials` does, with weights that are the slope of the fidelity loss."""
    _fill_potentials(_each(pairs, scores, _fidelity_slope), potentials, totals)


def fidelity_agreement(
    scores: Float64Array,
    pairs: LabelPairs,
    above: NDArray[np.uint8],
    agree: Float64Array,
    disagree: Float64Array,
    threads: int,
) -> None:
    """Fill, for each query and stump, the weight of the pairs it orders rightly and of those it orders wrongly.

    Bit s of `above` says whether stump s puts the row above.
    """
    agree[:], disagree[:] = 0.0, 0.0
    sides = above[:, None] >> np.arange(agree.shape[1]) & 1
    for query, better, worse, weight in _each(pairs, scores, _fidelity_slope):
        agree[query] += weight * (sides[better] > sides[worse])
        disagree[query] += weight * (sides[better] < sides[worse])


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
    threads: int,
) -> None:
    """Fill, for each move, the scores plus the move times the column, and each query's rows ranked by them.

    Rows of the m-th move are numbered from m · documents on; equal scores are in row order.
    """
    n_docs = len(scores)
    for number, move in enumerate(moves.tolist()):
        own = slice(number * n_docs, (number + 1) * n_docs)
        moved[own] = scores + move * column
        rank_rows(moved[own], offsets, rows[own], threads)
        rows[own] += own.start


def pair_unit_sums(inputs: Float64Array, offsets: IntArray, sums: Float64Array, threads: int) -> None:
    """Fill, for each document and unit, the mean of tanh(own input - input of each document of the query)."""
    for own in slices(offsets):
        sums[own] = np.tanh(inputs[own][:, None] - inputs[own]).sum(axis=1) / (own.stop - own.start)


def pair_unit_gradient(
    inputs: Float64Array, offsets: IntArray, of_sums: Float64Array, gradient: Float64Array, threads: int
) -> None:
    """Fill the derivatives of a loss by the inputs, given its derivatives by what `pair_unit_sums` fills."""
    for own in slices(offsets):
        steepness = 1 - np.tanh(inputs[own][:, None] - inputs[own]) ** 2
        gradient[own] = ((of_sums[own][:, None] - of_sums[own]) * steepness).sum(axis=1) / (own.stop - own.start)
