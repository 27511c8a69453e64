"""Twins of the passes of rank perceptrons (Crammer and Singer 2002) over documents, one after another.

Threshold r lies between levels r and r + 1.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common.counter_random import stream_of, unit_interval
from rankwright.kernels.records import LevelledRows


def _move_thresholds(score: float, level: int, step: float, thresholds: Float64Array) -> float:
    """Move the thresholds on the wrong side of the score; the sum of the moves is what moves the weights."""
    side = np.where(level > np.arange(len(thresholds)), 1.0, -1.0)
    moves = np.where((score - thresholds) * side <= 0, side * step, 0.0)
    thresholds -= moves
    return float(moves.sum())


def _steps(documents: LevelledRows, order: IntArray) -> Iterator[tuple[int, Float64Array, float]]:
    for row in order.tolist():
        step = float(documents.weights[row]) if len(documents.weights) else 1.0
        yield row, documents.features[row].astype(np.float64), step


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
