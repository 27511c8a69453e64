"""Twins of the kernels of linear models: products, margins, cutting planes of MAP, smooth gains, draws, perceptrons."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common import or_ones, slices, stream_of, unit_interval
from rankwright.kernels.records import DrawnPairs, DrawnRows, DrawSettings, LevelledRows, MarginPairs, PairSums


def linear_scores(features: Float32Array, weights: Float64Array, out: Float64Array, threads: int) -> None:
    """Fill in the scalar product of each row and the weights."""
    for row, values in enumerate(features):  # one at a time: how a matrix product rounds may depend on its rows
        out[row] = values.astype(np.float64) @ weights


def sum_rows(features: Float32Array, factors: Float64Array, out: Float64Array, threads: int) -> None:
    """Fill in the sum of all rows, each times its factor."""
    out[:] = factors @ features.astype(np.float64)


def gram_matrix(features: Float32Array, factors: Float64Array, out: Float64Array, threads: int) -> None:
    """Fill in the sum over rows of factor · row · rowᵀ."""
    matrix = features.astype(np.float64)
    out[:] = matrix.T @ (factors[:, None] * matrix)


MARGIN = 1.0


def pair_margins(pairs: MarginPairs, scores: Float64Array, values: Float64Array, sums: PairSums, threads: int) -> None:
    """Sum over each document's active partners: those in pairs whose better score is less than 1 above the other."""
    weights = or_ones(pairs.document_weights, len(scores))
    for q, own in enumerate(slices(pairs.offsets)):
        weight, level = weights[own], pairs.levels[own]
        better = level[:, None] > level  # row above column
        active = better & (scores[own][:, None] - scores[own] < MARGIN)
        counted = pairs.query_factors[q] * np.outer(weight, weight) * active
        if pairs.level_weights.size:
            counted *= pairs.level_weights[level[:, None], level]
        sums.weight_below[own], sums.weight_above[own] = counted.sum(axis=1), counted.sum(axis=0)
        sums.sum_below[own], sums.sum_above[own] = counted @ values[own], counted.T @ values[own]


def map_violations(
    scores: Float64Array,
    offsets: IntArray,
    relevant: NDArray[np.uint8],
    coefficients: Float64Array,
    loss: Float64Array,
    threads: int,
) -> None:
    """Fill in, for the ranking ŷ of each query with the largest 1 - AP(ŷ) + w·Ψ(ŷ), what it costs and Ψ(y) - Ψ(ŷ).

    Documents of either kind stay in the order of their scores; each irrelevant one goes above some of the relevant
    ones, chosen for it alone, because what it adds does not depend on where the others go.
    """
    coefficients[:], loss[:] = 0.0, 0.0
    for q, rows in enumerate(slices(offsets)):
        own, is_good = scores[rows], relevant[rows] != 0
        ranked, count = np.argsort(-own, kind="stable"), np.zeros(len(own))
        good, bad = ranked[is_good[ranked]], ranked[~is_good[ranked]]
        if len(good) == 0 or len(bad) == 0:
            continue
        per_pair = 2.0 / (len(good) * len(bad))
        rank = np.arange(1.0, len(good) + 1)
        for j, row in enumerate(bad.tolist()):
            lost = (rank / (rank + j) - rank / (rank + j + 1)) / len(good)
            gains = np.cumsum((lost - per_pair * (own[good] - own[row]))[::-1])  # of being above the last 1, 2, …
            n_below = int(gains.argmax()) + 1 if gains.max() > 0 else 0
            count[row] = -n_below
            count[good[len(good) - n_below :]] += 1
        coefficients[rows] = per_pair * count
        loss[q] = 1.0 - (rank / (rank + count[good])).mean()


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
    value[:] = 0.0
    for q, rows in enumerate(slices(offsets)):
        own, gain, forces = scores[rows], gains[rows], np.zeros(rows.stop - rows.start)
        for holder, discount in zip(np.argsort(-own, kind="stable"), discounts, strict=False):
            gap = own - own[holder]
            share = np.exp(-(gap**2) / sigma)
            share /= share.sum()
            mean = float(share @ gain)
            change = discount * share * (gain - mean) * (-2.0 * gap / sigma)
            forces += change
            forces[holder] -= change.sum()
            value[q] += query_factors[q] * discount * mean
        gradient[rows] = query_factors[q] * forces


def combined_draws(
    documents: DrawnRows,
    pairs: DrawnPairs,
    settings: DrawSettings,
    first: int,
    last: int,
    weights: Float64Array,
    threads: int,
) -> None:
    """Take draws number `first` to `last` and move the weights after each.

    A step is multiplied by the document's weight, for a pair also by its partner's other weight, and never goes past
    the point of no error.
    """
    features, labels = documents.features, documents.labels
    weight_of = or_ones(documents.weights, len(features))
    partner_weight_of = or_ones(documents.partner_weights, len(features))
    n_pairs = int(pairs.pairs_before[-1])
    for number in range(first, last):
        draw = stream_of(settings.key, number)
        chance, choice = (float(unit_interval(stream_of(draw, which))[0]) for which in (0, 1))
        if n_pairs == 0 or chance < settings.regression_share:
            row = int(choice * len(features))
            x, target, weight = features[row].astype(np.float64), float(labels[row]), weight_of[row]
        else:
            one, other = _pair(pairs, int(choice * n_pairs))
            x = features[one].astype(np.float64) - features[other]
            target, weight = float(labels[one]) - float(labels[other]), weight_of[one] * partner_weight_of[other]
        rate = 1.0 / (settings.stiffness + settings.l2 * number)
        score = float(x @ weights)
        error = (target > 0) - 1.0 / (1.0 + np.exp(-score)) if settings.logistic else target - score
        square = float(x @ x)
        step = min(rate * weight, 1.0 / square) if square > 0 else 0.0
        weights *= 1.0 - rate * settings.l2
        weights += step * error * x


def _pair(pairs: DrawnPairs, number: int) -> tuple[int, int]:
    place = int(np.searchsorted(pairs.pairs_before, number, side="right")) - 1
    partner = pairs.query_first[place] + number - pairs.pairs_before[place]
    if partner >= pairs.same_first[place]:
        partner += pairs.same_last[place] - pairs.same_first[place]
    return int(pairs.by_label[place]), int(pairs.by_label[partner])


def _move_thresholds(score: float, level: int, step: float, thresholds: Float64Array) -> float:
    """Move the thresholds on the wrong side of the score; the sum of the moves is what moves the weights."""
    side = np.where(level > np.arange(len(thresholds)), 1.0, -1.0)
    moves = np.where((score - thresholds) * side <= 0, side * step, 0.0)
    thresholds -= moves
    return float(moves.sum())


def _steps(documents: LevelledRows, order: IntArray) -> Iterator[tuple[int, Float64Array, float]]:
    weights = or_ones(documents.weights, len(documents.features))
    for row in order.tolist():
        yield row, documents.features[row].astype(np.float64), float(weights[row])


def prank_pass(
    documents: LevelledRows,
    order: IntArray,
    share: float,
    key: int,
    weights: Float64Array,
    thresholds: Float64Array,
    threads: int,
) -> None:
    """Take each of several perceptrons (rows of `weights`) through the documents it draws with probability `share`."""
    for member in range(len(weights)):
        stream = stream_of(key, member)[0]
        for row, values, step in _steps(documents, order):
            if share < 1 and unit_interval(stream_of(stream, row))[0] >= share:
                continue
            move = _move_thresholds(values @ weights[member], documents.levels[row], step, thresholds[member])
            weights[member] += move * values


def quadratic_prank_pass(
    documents: LevelledRows,
    order: IntArray,
    gamma: float,
    constant: Float64Array,
    weights: Float64Array,
    matrix: Float64Array,
    thresholds: Float64Array,
    threads: int,
) -> None:
    """Take a perceptron in the space of the kernel (1 + γ x·z)² through the documents."""
    for row, values, step in _steps(documents, order):
        score = constant[0] + 2 * gamma * (values @ weights) + gamma**2 * (values @ matrix @ values)
        move = _move_thresholds(score, documents.levels[row], step, thresholds)
        constant += move
        weights += move * values
        matrix += move * np.outer(values, values)


def quadratic_scores(
    features: Float32Array,
    gamma: float,
    constant: float,
    weights: Float64Array,
    matrix: Float64Array,
    out: Float64Array,
    threads: int,
) -> None:
    """Fill in constant + 2γ weights·x + γ² xᵀ matrix x."""
    for row, single in enumerate(features):
        values = single.astype(np.float64)
        out[row] = constant + 2 * gamma * (values @ weights) + gamma**2 * (values @ matrix @ values)


def _kernel(rows: Float64Array, other: Float64Array, kernel: str, gamma: float) -> Float64Array:
    if kernel == "rbf":
        return np.asarray(np.exp(-gamma * ((rows - other) ** 2).sum(axis=1)))
    return np.asarray((1 + gamma * (rows @ other)) ** (2 if kernel == "quadratic" else 3))


def kernel_prank_pass(
    documents: LevelledRows,
    order: IntArray,
    kernel: str,
    gamma: float,
    support: IntArray,
    coefficients: Float64Array,
    n_support: IntArray,
    thresholds: Float64Array,
    threads: int,
) -> None:
    """Take a kernel perceptron through the documents; those it learns from become its support.

    If all places are taken, a new document replaces the one with the smallest coefficient, the first among equals.
    """
    for row, values, step in _steps(documents, order):
        count = int(n_support[0])
        held = _kernel(documents.features[support[:count]].astype(np.float64), values, kernel, gamma)
        move = _move_thresholds(float(coefficients[:count] @ held), documents.levels[row], step, thresholds)
        if move == 0:
            continue
        places = np.flatnonzero(support[:count] == row)
        if len(places):
            coefficients[places[0]] += move
            continue
        place = count if count < len(support) else int(np.abs(coefficients).argmin())
        n_support[0] = max(count, place + 1)
        support[place], coefficients[place] = row, move


def kernel_scores(
    features: Float32Array,
    support: Float32Array,
    coefficients: Float64Array,
    kernel: str,
    gamma: float,
    out: Float64Array,
    threads: int,
) -> None:
    """Fill in the sum over supporting rows of coefficient · kernel(support, x)."""
    supporting = support.astype(np.float64)
    for row, values in enumerate(features):
        out[row] = coefficients @ _kernel(supporting, values.astype(np.float64), kernel, gamma)
