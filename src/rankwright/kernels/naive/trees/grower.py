"""Twins of the kernels that grow trees.

Gradients and curvatures are whole numbers here, rounded at random once per tree, so that sums do not depend on their
order; leaf values are taken from the true ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, CodeArray, Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common.counter_random import stream_of
from rankwright.kernels.naive.trees.split import NO_SPLIT, Split, SplitRules, best_split

CURVATURE_BITS = 11
GRADIENT_LIMIT = 2**13 - 1
CURVATURE_LIMIT = 2**CURVATURE_BITS - 1
SMALLEST_RELATIVE_GAIN = 2.0**-40  # a gain smaller than this part of the leaf's score may be nothing but rounding
ROWS_SUMMED_TOGETHER = 4096

Int32Array = NDArray[np.int32]
Uint32Array = NDArray[np.uint32]


def quantise_lambdas(
    gradient: Float32Array,
    curvature: Float32Array,
    gradient_scale: float,
    curvature_scale: float,
    seed: int,
    quantised: Int32Array,
    threads: int,  # noqa: ARG001
) -> None:
    """Fill `quantised` with gradient · 2¹¹ + curvature, both scaled and rounded up or down at random."""
    random = stream_of(seed, np.arange(len(gradient)))
    high, low = random >> np.uint64(32), random & np.uint64(0xFFFF_FFFF)
    whole_gradient = np.floor(gradient.astype(np.float64) * gradient_scale + high * 2.0**-32)
    whole_curvature = np.floor(curvature.astype(np.float64) * curvature_scale + low * 2.0**-32)
    quantised[:] = np.clip(whole_gradient, -GRADIENT_LIMIT, GRADIENT_LIMIT) * 2**CURVATURE_BITS
    quantised += np.clip(whole_curvature, 0, CURVATURE_LIMIT).astype(np.int32)


@dataclass(eq=False)
class _Leaf:
    node: int
    begin: int
    rows: IntArray
    sums: IntArray  # gradient, curvature, count
    bounds: tuple[float, float]
    depth: int
    split: Split = NO_SPLIT
    gain: float = 0.0


def grow_tree(
    codes: CodeArray,
    n_bins: IntArray,
    categorical: BoolArray,
    monotone: NDArray[np.int8],
    asked: BoolArray,
    quantised: Int32Array,
    gradient: Float32Array,
    curvature: Float32Array,
    all_rows: bool,
    max_leaves: int,
    max_depth: int,
    min_docs: int,
    min_curvature: float,
    l2: float,
    min_gain: float,
    newton: bool,
    category_smoothing: float,
    max_split_categories: int,
    gradient_scale: float,
    curvature_scale: float,
    learning_rate: float,
    rows: Uint32Array,
    spare_rows: Uint32Array,  # noqa: ARG001
    sides: NDArray[np.uint8],  # noqa: ARG001
    histograms: NDArray[np.uint64],  # noqa: ARG001
    feature: Int32Array,
    bin: Int32Array,
    left: Int32Array,
    right: Int32Array,
    missing_left: BoolArray,
    gain: Float64Array,
    value: Float32Array,
    begin: IntArray,
    count: IntArray,
    categories: Uint32Array,
    threads: int,  # noqa: ARG001
) -> int:
    """Fill a tree by node, the root first, and return its number of nodes.

    Feature -1 marks a leaf. A node's documents are `rows[begin]` to `rows[begin + count]`: `rows` is given as the
    tree's rows (unless they are all rows) and comes back in the order of leaves. Bit c of a node's `categories` says
    that category c goes left.
    """
    by_row = codes.swapaxes(0, 1).reshape(codes.shape[1], codes.shape[0] * codes.shape[2])
    rules = SplitRules(
        min_docs=min_docs,
        min_curvature=min_curvature * curvature_scale,
        l2=l2 * curvature_scale,
        newton=newton,
        constrained=bool(np.any(monotone)),
        category_smoothing=category_smoothing,
        max_split_categories=max_split_categories,
    )
    gain_unit = (curvature_scale if newton else 1.0) / (gradient_scale * gradient_scale)
    whole = np.stack([quantised >> CURVATURE_BITS, quantised & CURVATURE_LIMIT, np.ones_like(quantised)], axis=1)
    if all_rows:
        rows[:] = np.arange(len(rows))
    leaves: list[_Leaf] = []
    n_nodes = 0

    def plant(leaf_rows: IntArray, start: int, bounds: tuple[float, float], depth: int) -> _Leaf:
        nonlocal n_nodes
        sums = whole[leaf_rows].sum(axis=0, dtype=np.int64)
        leaf = _Leaf(n_nodes, start, leaf_rows, sums, bounds, depth)
        for array, empty in ((feature, -1), (bin, -1), (left, -1), (right, -1), (missing_left, False), (gain, 0.0)):
            array[n_nodes] = empty
        value[n_nodes], begin[n_nodes], count[n_nodes], categories[n_nodes] = 0.0, start, sums[2], 0
        n_nodes += 1
        if depth < max_depth and sums[2] >= 2 * min_docs:
            found = best_split(by_row[leaf_rows], whole[leaf_rows], n_bins, categorical, monotone, asked, rules, bounds)
            before = float(rules.score(sums, bounds))
            if found.feature >= 0 and found.score - before > max(min_gain / gain_unit, before * SMALLEST_RELATIVE_GAIN):
                leaf.split, leaf.gain = found, found.score - before
        return leaf

    leaves.append(plant(rows.astype(np.int64), 0, (-np.inf, np.inf), 0))
    while len(leaves) < max_leaves and (best := max(leaves, key=lambda leaf: leaf.gain)).gain > 0:
        split, node = best.split, best.node
        goes_left = split.goes_left[by_row[best.rows, split.feature]]
        low, high = _bounds_of_children(best, int(monotone[split.feature]), rules)
        feature[node], bin[node], missing_left[node] = split.feature, split.bin, split.goes_left[-1]
        left[node], right[node], gain[node] = n_nodes, n_nodes + 1, best.gain * gain_unit
        if categorical[split.feature]:
            for code in np.flatnonzero(split.goes_left[:-1]):
                categories[node, code // 32] |= np.uint32(1 << (code % 32))
        first = plant(best.rows[goes_left], best.begin, low, best.depth + 1)
        second = plant(best.rows[~goes_left], best.begin + len(first.rows), high, best.depth + 1)
        leaves[leaves.index(best)] = first
        leaves.append(second)

    unit = curvature_scale / gradient_scale
    for leaf in leaves:
        rows[leaf.begin : leaf.begin + len(leaf.rows)] = leaf.rows
        below = _sum_in_pieces(curvature[leaf.rows]) + l2
        step = -_sum_in_pieces(gradient[leaf.rows]) / below if below > 0 else 0.0
        value[leaf.node] = learning_rate * min(max(step, leaf.bounds[0] * unit), leaf.bounds[1] * unit)
    return n_nodes


def _bounds_of_children(
    leaf: _Leaf, direction: int, rules: SplitRules
) -> tuple[tuple[float, float], tuple[float, float]]:
    low, high = leaf.bounds
    if direction == 0:
        return leaf.bounds, leaf.bounds
    left = leaf.split.left
    middle = 0.5 * float(rules.value(left, leaf.bounds) + rules.value(leaf.sums - left, leaf.bounds))
    return ((low, middle), (middle, high)) if direction > 0 else ((middle, high), (low, middle))


def _sum_in_pieces(values: Float32Array) -> float:
    """The sum in float64, of pieces of some thousand values first, each and all from the first to the last."""
    total = 0.0
    for first in range(0, len(values), ROWS_SUMMED_TOGETHER):
        piece = values[first : first + ROWS_SUMMED_TOGETHER].astype(np.float64)
        total += float(np.add.accumulate(piece)[-1])
    return total


def add_leaf_values(
    feature: Int32Array,
    begin: IntArray,
    count: IntArray,
    value: Float32Array,
    rows: Uint32Array,
    scores: Float64Array,
    threads: int,  # noqa: ARG001
) -> None:
    """Add each leaf's value to the scores of its rows."""
    for node in _leaves(feature):
        scores[rows[begin[node] : begin[node] + count[node]]] += np.float64(value[node])


def score_tree(
    codes: CodeArray,
    n_bins: IntArray,
    feature: Int32Array,
    bin: Int32Array,
    left: Int32Array,
    right: Int32Array,
    missing_left: BoolArray,
    value: Float32Array,
    categories: Uint32Array,
    scores: Float64Array,
    threads: int,  # noqa: ARG001
) -> None:
    """Add the value of the leaf that each document's codes lead to, from the root on, to its score."""
    by_row = codes.swapaxes(0, 1).reshape(codes.shape[1], codes.shape[0] * codes.shape[2])
    for row, own in enumerate(by_row.astype(np.int64)):
        node = 0
        while feature[node] >= 0:
            code = own[feature[node]]
            if code == n_bins[feature[node]]:
                goes_left = missing_left[node]
            elif bin[node] < 0:
                goes_left = (categories[node, code // 32] >> np.uint32(code % 32)) & 1
            else:
                goes_left = code <= bin[node]
            node = left[node] if goes_left else right[node]
        scores[row] += np.float64(value[node])


def _leaves(feature: Int32Array) -> Iterator[int]:
    yield from (int(node) for node in np.flatnonzero(feature < 0))
