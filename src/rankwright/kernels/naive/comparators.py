"""Twins of the comparator kernels: which of two documents ranks higher (SortNet, section 2).

Every hidden neuron has a dual that sees the two documents the other way round. `sizes` is the number of features, then
of neurons in each hidden layer, duals not counted; `weights` holds, layer after layer, the weights for neurons, those
for duals, and the biases. In the first layer "for neurons" means for the left document, and "for duals" for the right
one, with one row per feature. Missing features (NaN) count as 0. Sums run in eight lanes, as they do in the kernels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common import slices, tanh_of
from rankwright.kernels.records import ComparedPairs

LANES = 8
Activations = list[tuple[Float32Array, Float32Array]]  # neurons and duals of each layer, for each pair


class _Layer(NamedTuple):
    """Weights for neurons and for duals, and biases; a row per neuron, but a row per feature in the first layer."""

    neurons: Any
    duals: Any
    biases: Any


def _layers(sizes: IntArray, weights: Any) -> list[_Layer]:
    """The layers whose weights lie one after another in `weights`, as views."""
    n_features, *hidden = sizes.tolist()
    shapes = [(n_features, hidden[0]), *((n, below) for below, n in pairwise([*hidden, 1]))]
    layers, at = [], 0
    for depth, (rows, columns) in enumerate(shapes):
        n, n_biases = rows * columns, columns if depth == 0 else rows
        parts = np.split(weights[at : at + 2 * n + n_biases], [n, 2 * n])
        layers.append(_Layer(parts[0].reshape(rows, columns), parts[1].reshape(rows, columns), parts[2]))
        at += 2 * n + n_biases
    return layers


def _halves(first: _Layer, features: Float32Array) -> tuple[Float32Array, Float32Array]:
    """What each document adds to the first layer as the left one, with the biases, and as the right one."""
    left = np.zeros((len(features), len(first.biases)), np.float32)
    right = np.zeros_like(left)
    for column, of_left, of_right in zip(np.nan_to_num(features).T, first.neurons, first.duals, strict=True):
        left += column[:, None] * of_left
        right += column[:, None] * of_right
    return left + first.biases, right


def _lane_sums(terms: Float32Array) -> Float32Array:
    """Sums over the last axis, in the kernels' order."""
    padding = -terms.shape[-1] % LANES
    padded = np.pad(terms, [(0, 0)] * (terms.ndim - 1) + [(0, padding)])
    lanes = np.zeros((*terms.shape[:-1], LANES), np.float32)
    for start in range(0, padded.shape[-1], LANES):
        lanes += padded[..., start : start + LANES]
    four = lanes[..., :4] + lanes[..., 4:]
    return np.asarray((four[..., 0] + four[..., 2]) + (four[..., 1] + four[..., 3]), np.float32)


def _forward(
    layers: list[_Layer], halves: tuple[Float32Array, Float32Array], left: IntArray, right: IntArray
) -> Activations:
    """Neurons and duals of each layer for pairs of rows; the last layer's are the outputs' inputs."""
    as_left, as_right = halves
    neurons, duals = tanh_of(as_left[left] + as_right[right]), tanh_of(as_left[right] + as_right[left])
    activations = [(neurons, duals)]
    for depth, layer in enumerate(layers[1:], start=2):
        a, b = layer.neurons[None], layer.duals[None]
        below, dual_below = neurons[:, None], duals[:, None]
        neurons = _lane_sums(a * below + b * dual_below) + layer.biases
        duals = _lane_sums(a * dual_below + b * below) + layer.biases
        if depth < len(layers):
            neurons, duals = tanh_of(neurons), tanh_of(duals)
        activations.append((neurons, duals))
    return activations


def compare_pairs(
    features: Float32Array,
    sizes: IntArray,
    weights: Float32Array,
    left: IntArray,
    right: IntArray,
    out: Float32Array,
    threads: int,
) -> None:
    """Fill, for each pair of rows, the inputs of the outputs N≻ and N≺, before their sigmoids."""
    layers = _layers(sizes, weights)
    *_, outputs = _forward(layers, _halves(layers[0], features), left, right)
    out[:] = np.hstack(outputs)


def comparator_gradient(
    sizes: IntArray,
    weights: Float32Array,
    pairs: ComparedPairs,
    queries: IntArray,
    logistic: bool,
    cost: Float64Array,
    gradient: Float64Array,
    threads: int,
) -> None:
    """Fill the cost of the pairs of some queries and, unless it is empty, its derivatives by the weights.

    The target is 1 for the output that says the better document ranks higher, and 0 for its dual (Eq. 3).
    """
    chosen = np.concatenate([np.arange(*pairs.pair_offsets[query : query + 2]) for query in [*queries]] or [queries])
    left, right, weight = pairs.better[chosen], pairs.worse[chosen], pairs.weight[chosen].astype(np.float64)
    layers = _layers(sizes, weights)
    activations = _forward(layers, _halves(layers[0], pairs.features), left, right)
    wins, loses = (outputs[:, 0].astype(np.float64) for outputs in activations[-1])
    p, q = 1 / (1 + np.exp(-wins)), 1 / (1 + np.exp(-loses))
    if logistic:
        cost[0] = (weight * (np.logaddexp(0, -wins) + np.logaddexp(0, loses))).sum()
        own, dual = (weight * (p - 1))[:, None], (weight * q)[:, None]
    else:
        cost[0] = (weight * ((1 - p) ** 2 + q**2)).sum()
        own, dual = (-2 * weight * (1 - p) ** 2 * p)[:, None], (2 * weight * q**2 * (1 - q))[:, None]
    if len(gradient) == 0:
        return
    totals = _layers(sizes, gradient)
    for layer, total, (x, y) in zip(layers[:0:-1], totals[:0:-1], activations[-2::-1], strict=True):
        total.neurons[:] = own.T @ x + dual.T @ y
        total.duals[:] = own.T @ y + dual.T @ x
        total.biases[:] = (own + dual).sum(axis=0)
        own, dual = (
            (own @ layer.neurons + dual @ layer.duals) * (1 - x.astype(np.float64) ** 2),
            (own @ layer.duals + dual @ layer.neurons) * (1 - y.astype(np.float64) ** 2),
        )
    x, y = np.nan_to_num(pairs.features[left]), np.nan_to_num(pairs.features[right])
    totals[0].neurons[:] = x.T @ own + y.T @ dual  # a neuron has x on its left, its dual y
    totals[0].duals[:] = y.T @ own + x.T @ dual
    totals[0].biases[:] = (own + dual).sum(axis=0)


class _Judge:
    """A net's verdict on pairs of rows: 1 if the left one is preferred, -1 if the right one is, 0 for neither."""

    def __init__(self, features: Float32Array, sizes: IntArray, weights: Float32Array) -> None:
        self.layers = _layers(sizes, weights)
        self.halves = _halves(self.layers[0], features)

    def margins(self, left: IntArray, right: IntArray) -> Float32Array:
        """By how much the net prefers the left row to the right one."""
        *_, (wins, loses) = _forward(self.layers, self.halves, left, right)
        return np.asarray(wins[:, 0] - loses[:, 0], np.float32)

    def __call__(self, left: Any, right: Any) -> IntArray:
        """Which row of each pair the net prefers."""
        return np.sign(np.nan_to_num(self.margins(np.asarray(left), np.asarray(right)))).astype(np.int64)


def _merge_sorted(rows: list[int], judge: _Judge) -> tuple[list[int], list[tuple[int, int, int]]]:
    """The rows of one query by merge sort from the bottom up, and every comparison with its verdict."""
    run, comparisons = 1, []
    while run < len(rows):
        merged: list[int] = []
        for start in range(0, len(rows), 2 * run):
            left, right = rows[start : start + run], rows[start + run : start + 2 * run]
            while left and right:
                verdict = int(judge([left[0]], [right[0]])[0])
                comparisons.append((left[0], right[0], verdict))
                takes_right = verdict < 0 or (verdict == 0 and right[0] < left[0])
                merged.append(right.pop(0) if takes_right else left.pop(0))
            merged += left + right
        rows, run = merged, 2 * run
    return rows, comparisons


def _heap_sorted(rows: list[int], judge: _Judge) -> tuple[list[int], int]:
    """The rows of one query by heap sort, whose root is the document to rank last, and the number of comparisons."""
    count = 0

    def goes_before(left: int, right: int) -> bool:
        """Whether `left` ranks above `right`: it is preferred, or neither is and it is the earlier row."""
        nonlocal count
        count += 1
        verdict = int(judge([left], [right])[0])
        return verdict > 0 or (verdict == 0 and left < right)

    def sink(at: int, end: int) -> None:
        while (child := 2 * at + 1) < end:
            if child + 1 < end and goes_before(rows[child], rows[child + 1]):
                child += 1
            if not goes_before(rows[at], rows[child]):
                return
            rows[at], rows[child] = rows[child], rows[at]
            at = child

    for at in range(len(rows) // 2 - 1, -1, -1):
        sink(at, len(rows))
    for end in range(len(rows) - 1, 0, -1):
        rows[0], rows[end] = rows[end], rows[0]
        sink(0, end)
    return rows, count


def sort_rows(
    features: Float32Array,
    offsets: IntArray,
    sizes: IntArray,
    weights: Float32Array,
    by_heap: bool,
    presort: bool,
    rows: IntArray,
    tied: BoolArray,
    n_comparisons: IntArray,
    threads: int,
) -> None:
    """Sort each query's part of `rows`, best first; `presort` first orders them by how they compare with all zeros.

    `tied` marks places whose document equals the one above it and has a larger row.
    """
    judge = _Judge(np.concatenate([features, np.zeros((1, features.shape[1]), np.float32)]), sizes, weights)
    tied[:] = False
    for query, own in enumerate(slices(offsets)):
        order = rows[own]
        if presort:
            order = np.sort(order)
            margin = np.nan_to_num(judge.margins(order, np.full(len(order), len(features))))
            order = order[np.argsort(-margin, kind="stable")]
        if by_heap:
            rows[own], n_comparisons[query] = _heap_sorted(order.tolist(), judge)
        else:
            rows[own], comparisons = _merge_sorted(order.tolist(), judge)
            n_comparisons[query] = len(comparisons)
        above, below = rows[own][:-1], rows[own][1:]
        tied[own][1:] = (judge(above, below) == 0) & (above < below)


def sort_noting_mistakes(
    features: Float32Array,
    offsets: IntArray,
    sizes: IntArray,
    weights: Float32Array,
    labels: Float32Array,
    mistake_offsets: IntArray,
    rows: IntArray,
    n_comparisons: IntArray,
    n_mistakes: IntArray,
    mistakes: IntArray,
    threads: int,
) -> None:
    """Sort each query's part of `rows` and fill the pairs (better, worse) that the net compared against their labels.

    The order in which a query's pairs are noted is left open.
    """
    judge = _Judge(features, sizes, weights)
    for query, own in enumerate(slices(offsets)):
        rows[own], comparisons = _merge_sorted(rows[own].tolist(), judge)
        wrong = [(left, right) for left, right, verdict in comparisons if labels[left] > labels[right] and verdict <= 0]
        wrong += [
            (right, left) for left, right, verdict in comparisons if labels[left] < labels[right] and verdict >= 0
        ]
        first = int(mistake_offsets[query])
        mistakes[first : first + len(wrong)] = np.array(wrong, np.int64).reshape(-1, 2)
        n_comparisons[query], n_mistakes[query] = len(comparisons), len(wrong)


def count_wins(
    features: Float32Array, offsets: IntArray, sizes: IntArray, weights: Float32Array, wins: IntArray, threads: int
) -> None:
    """Fill, for each document, how many of its query it is preferred to; it also wins against equals in later rows."""
    judge = _Judge(features, sizes, weights)
    wins[:] = 0
    for own in slices(offsets):
        left, right = own.start + np.array(np.triu_indices(own.stop - own.start, k=1))
        wins += np.bincount(np.where(judge(left, right) >= 0, left, right), minlength=len(wins))
