"""The same scores from fewer nodes: without unreachable branches, needless splits, and more than one tree of a shape.

The children of a node come after it, so one pass forwards meets parents first and one backwards meets children first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.trees.forests.compiled import number_leaves
from rankwright.trees.forests.forest import Forest


def simplified(forest: Forest) -> Forest:
    """The forest without unreachable branches, splits between equal leaves, and trees that always give 0.

    Every score keeps every bit.
    """
    stand_in, is_leaf, value = _stand_ins(forest, _reachable(forest))
    kept = _kept(forest, stand_in, is_leaf, value)
    number = np.cumsum(kept) - 1
    parts: dict[str, Any] = {name: values[kept] for name, values in forest.by_node.items()}
    ends = is_leaf[kept]
    parts |= {
        "feature": np.where(ends, np.int32(-1), parts["feature"]),
        "threshold": np.where(ends, np.float32(np.nan), parts["threshold"]),
        "missing_left": parts["missing_left"] & ~ends,
        "value": value[kept],
        "gain": np.where(ends, 0.0, parts["gain"]),
        "categories": np.where(ends[:, None], np.uint32(0), parts["categories"]),
    }
    for name in ("left", "right"):
        children = number[stand_in[np.where(ends, 0, parts[name])]] if len(ends) else parts[name]
        parts[name] = np.where(ends, -1, children).astype(np.int32)
    sizes = np.add.reduceat(kept.astype(np.int64), forest.offsets[:-1]) if forest.n_trees else np.empty(0, np.int64)
    return replace(forest, **parts, offsets=np.concatenate([[0], np.cumsum(sizes[sizes > 0], dtype=np.int64)]))


def merge_equal_shapes(forest: Forest) -> Forest:
    """The forest in which trees that differ in their leaves' values alone are one, the values added up.

    Sums are rounded to float32, so scores may differ in their last digits: by less than 1e-6 if leaf values are below 1
    or so.
    """
    in_order = _depth_first(forest)
    places: dict[bytes, int] = {}
    place_of_tree = [places.setdefault(shape, len(places)) for shape in _shapes(in_order)]
    if len(places) == forest.n_trees:
        return forest
    firsts = np.unique(place_of_tree, return_index=True)[1]
    starts, stops = in_order.offsets[:-1], in_order.offsets[1:]
    value = in_order.value.astype(np.float64)
    gain, count = in_order.gain.copy(), in_order.count.copy()
    curvature = None if in_order.curvature is None else in_order.curvature.copy()
    for tree, place in enumerate(place_of_tree):
        first = firsts[place]
        if first != tree:
            mine, theirs = slice(starts[first], stops[first]), slice(starts[tree], stops[tree])
            value[mine] += value[theirs]
            gain[mine] += gain[theirs]
            count[mine] = np.maximum(count[mine], count[theirs])
            if curvature is not None:
                curvature[mine] += curvature[theirs]
    summed = replace(in_order, value=value.astype(np.float32), gain=gain, count=count, curvature=curvature)
    return summed.take_trees(firsts)


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The values of a number that can still occur: above `low`, up to `high`, and whether missing ones can."""

    low: float | None = None  # None: no limit, for above -∞ would leave out -∞ itself
    high: float = inf
    missing: bool = True

    def split(self, threshold: float, missing_left: bool) -> tuple[_Numbers, _Numbers]:
        """Those that go left and those that go right."""
        low = threshold if self.low is None else max(self.low, threshold)
        return (
            _Numbers(self.low, min(self.high, threshold), self.missing and missing_left),
            _Numbers(low, self.high, self.missing and not missing_left),
        )

    def __bool__(self) -> bool:
        return self.missing or self.low is None or self.low < self.high


@dataclass(frozen=True, slots=True)
class _Categories:
    """The categories that can still occur, a bit each, and whether values without one can."""

    known: int
    others: bool = True

    def split(self, goes_left: int, missing_left: bool) -> tuple[_Categories, _Categories]:
        """Those that go left and those that go right."""
        return (
            _Categories(self.known & goes_left, self.others and missing_left),
            _Categories(self.known & ~goes_left, self.others and not missing_left),
        )

    def __bool__(self) -> bool:
        return self.known != 0 or self.others


_Region: TypeAlias = dict[tuple[int, bool], Any]  # by feature, and whether as categories; all values where absent


def _reachable(forest: Forest) -> BoolArray:
    """Which nodes some document can reach: every feature still has a value to get there with."""
    reachable = np.zeros(len(forest.feature), np.bool_)
    reachable[forest.offsets[:-1]] = True
    regions: dict[int, _Region] = {root: {} for root in forest.offsets[:-1].tolist()}
    n_categories = np.diff(forest.category_offsets).tolist()
    features, thresholds = forest.feature.tolist(), forest.threshold.tolist()
    children = list(zip(forest.left.tolist(), forest.right.tolist(), strict=True))
    missing_left = forest.missing_left.tolist()
    for node, feature in enumerate(features):
        region = regions.pop(node, None)
        if region is None or feature < 0:
            continue
        is_category = thresholds[node] != thresholds[node]  # NaN
        cut: Any = thresholds[node]
        every: Any = _Numbers()
        if is_category:
            cut = int.from_bytes(forest.categories[node].astype("<u4").tobytes(), "little")
            every = _Categories((1 << n_categories[feature]) - 1)
        key = (feature, is_category)
        for child, values in zip(children[node], region.get(key, every).split(cut, missing_left[node]), strict=True):
            if values:
                reachable[child] = True
                regions[child] = region | {key: values}
    return reachable


def _stand_ins(forest: Forest, reachable: BoolArray) -> tuple[IntArray, BoolArray, Float32Array]:
    """For each node: the node that replaces it, whether it is a leaf now, and its value then."""
    stand_in = list(range(len(forest.feature)))
    is_leaf = (forest.feature < 0).tolist()
    value = forest.value.copy()
    bits = value.view(np.uint32)
    left, right, can_reach = forest.left.tolist(), forest.right.tolist(), reachable.tolist()
    for node in np.flatnonzero((forest.feature >= 0) & reachable)[::-1].tolist():
        first, second = left[node], right[node]
        if not (can_reach[first] and can_reach[second]):
            stand_in[node] = stand_in[first if can_reach[first] else second]
            continue
        first, second = stand_in[first], stand_in[second]
        if is_leaf[first] and is_leaf[second] and bits[first] == bits[second]:
            is_leaf[node], value[node] = True, value[first]
    return np.array(stand_in, np.int64), np.array(is_leaf, np.bool_), value


def _kept(forest: Forest, stand_in: IntArray, is_leaf: BoolArray, value: Float32Array) -> BoolArray:
    """Which nodes remain: none of trees that always give 0."""
    roots = stand_in[forest.offsets[:-1]]
    kept = np.zeros(len(stand_in), np.bool_)
    level = roots[~(is_leaf[roots] & (value[roots] == 0))]
    while len(level):
        kept[level] = True
        parents = level[~is_leaf[level]]
        level = stand_in[np.concatenate([forest.left[parents], forest.right[parents]])]
    return kept


def _depth_first(forest: Forest) -> Forest:
    """The forest with the nodes of each tree in depth-first order, the left child first: one order for one shape."""
    tree, depth, _, first_leaf = number_leaves(forest)
    order = np.lexsort((depth, first_leaf, tree))
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    parts: dict[str, Any] = {name: values[order] for name, values in forest.by_node.items()}
    for name in ("left", "right"):
        inner = parts["feature"] >= 0
        parts[name] = np.where(inner, number[np.where(inner, parts[name], 0)], -1).astype(np.int32)
    return replace(forest, **parts)


def _shapes(forest: Forest) -> list[bytes]:
    """What tells the shapes of depth-first trees apart: every node's split. A leaf's values do not count."""
    inner = forest.feature >= 0
    thresholds: Float64Array = np.where(inner, forest.threshold.astype(np.float64), 0.0) + 0.0  # -0 is 0
    thresholds[np.isnan(thresholds)] = np.nan  # one NaN
    columns: list[NDArray[Any]] = [
        forest.feature.astype(np.int64)[:, None],
        thresholds.view(np.int64)[:, None],
        (forest.missing_left & inner).astype(np.int64)[:, None],
        np.where(inner[:, None], forest.categories, 0).astype(np.int64),
    ]
    rows = np.ascontiguousarray(np.concatenate(columns, axis=1))
    return [
        rows[start:stop].tobytes()
        for start, stop in zip(forest.offsets[:-1].tolist(), forest.offsets[1:].tolist(), strict=True)
    ]
