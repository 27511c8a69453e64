"""Trees as other tools list them, put together as one forest of ours.

Thresholds become ours: float32, and a value that is at most the threshold goes left. Features are float32, so that a
threshold in double precision, or one that values must be below, has an exact twin among the float32 numbers: the
largest of them that goes left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.errors import InputError
from rankwright.trees.forests.arrays import forest_from_arrays, forest_to_arrays
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.readings import CATEGORY_CODES, OTHER, Reading, is_category

MOST_CATEGORY_WORDS = 2**25  # of 32 categories, over all nodes: 128 MB
MOST_NODES = 2**31 - 1
MOST_HARMLESS = 1e15  # the largest number that is kept of those that scores do not depend on


@dataclass(frozen=True, slots=True, eq=False)
class CategorySplit:
    """Categories that go left and that go right; `others_left` says where those go that are not listed."""

    left: Sequence[float]
    right: Sequence[float]
    others_left: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TreeTable:
    """The nodes of one tree, in any order, the root first. A leaf has feature -1.

    Thresholds are as ours; that of a split of `categories` is not looked at. Nodes that the root does not lead to are
    left out.
    """

    feature: IntArray
    threshold: Float32Array
    left: IntArray
    right: IntArray
    missing_left: BoolArray
    value: Float64Array
    gain: Float64Array | None = None
    count: IntArray | None = None
    curvature: Float64Array | None = None
    categories: Mapping[int, CategorySplit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n_nodes = len(self.feature)
        if n_nodes == 0:
            raise InputError("a tree has no nodes")
        for name in ("threshold", "left", "right", "missing_left", "value", "gain", "count", "curvature"):
            values = getattr(self, name)
            if values is not None and values.shape != (n_nodes,):
                raise InputError(f"a tree has {n_nodes} nodes, and {len(values)} numbers that are their {name}")
        if self.feature.min() < -1:
            raise InputError(f"a node splits feature {self.feature.min()}")
        inner = self.feature >= 0
        for name in ("left", "right"):
            children = getattr(self, name)[inner]
            if len(children) and not (children.min() >= 0 and children.max() < n_nodes):
                raise InputError(f"a node of a tree of {n_nodes} nodes has the {name} child {children.max()}")

    def scaled(self, factor: float) -> TreeTable:
        """The tree whose values are `factor` times this one's."""
        return replace(self, value=self.value * factor)


def at_most(threshold: NDArray[np.floating]) -> Float32Array:
    """The largest float32 number that is at most each threshold."""
    wide = np.asarray(threshold, np.float64)
    with np.errstate(over="ignore", under="ignore"):
        near = wide.astype(np.float32)
        return np.where(near > wide, np.nextafter(near, np.float32(-np.inf)), near)


def below(threshold: NDArray[np.floating]) -> Float32Array:
    """The largest float32 number below each threshold; nothing is below -∞."""
    near = at_most(threshold)
    with np.errstate(over="ignore", under="ignore"):
        return np.where(near == threshold, np.nextafter(near, np.float32(-np.inf)), near)


def strict_table(
    *, feature: IntArray, threshold: Float64Array, left: IntArray, right: IntArray, missing_left: BoolArray, **more: Any
) -> TreeTable:
    """The tree of a tool that sends values below the threshold left, compared as float32.

    A split whose left side no value reaches, since its threshold is -∞, becomes one that all pass, with swapped sides.
    """
    inner = feature >= 0
    with np.errstate(over="ignore"):
        rounded = threshold.astype(np.float32)
    nothing = inner & np.isneginf(rounded)
    nothing[list(more["categories"])] = False
    return TreeTable(
        feature=feature,
        threshold=np.where(nothing, np.float32(np.inf), below(rounded)),
        left=np.where(nothing, right, left),
        right=np.where(nothing, left, right),
        missing_left=(missing_left ^ nothing) & inner,
        **more,
    )


@dataclass(slots=True)
class ListedNode:
    """A node as another tool lists it; a leaf has a value and no feature, and the threshold is the tool's own."""

    feature: int = -1
    threshold: float = 0.0
    missing_left: bool = False
    value: float = 0.0
    gain: float = 0.0
    count: float = 0.0
    curvature: float = 0.0
    categories: CategorySplit | None = None


def nested_columns(
    root: Any, children: Callable[[Any], Sequence[Any]], read: Callable[[Any], ListedNode]
) -> dict[str, Any]:
    """A tree whose nodes hold their children, as arrays by the names that `TreeTable` has for them.

    `children` gives the two children of a node, or nothing for a leaf; `read` reads a node.
    """
    nodes, rows, left = [root], [], []
    for node in nodes:
        below_it = children(node)
        left.append(len(nodes) if below_it else -1)
        nodes.extend(below_it)
        rows.append(read(node))
    columns = {
        name: np.array([getattr(row, name) for row in rows])
        for name in ("feature", "threshold", "missing_left", "value", "gain", "count", "curvature")
    }
    first = np.array(left, np.int64)
    categories = {number: row.categories for number, row in enumerate(rows) if row.categories is not None}
    return columns | {"left": first, "right": np.where(first < 0, -1, first + 1), "categories": categories}


def narrow(values: IntArray) -> NDArray[Any]:
    """Numbers in 32 bits where they fit: a large model has many of them at once."""
    fits = len(values) > 0 and values.min() >= -(2**31) and values.max() < 2**31
    return values.astype(np.int32) if fits else values


def leaf_tree(value: float) -> TreeTable:
    """A tree that gives every document the same value."""
    return TreeTable(
        feature=np.array([-1]),
        threshold=np.zeros(1, np.float32),
        left=np.array([-1]),
        right=np.array([-1]),
        missing_left=np.zeros(1, np.bool_),
        value=np.array([value], np.float64),
    )


def assembled(trees: Sequence[TreeTable], n_features: int, readings: Mapping[int, Reading] | None = None) -> Forest:
    """The forest of the trees; `readings` tells how values of a feature are read where that is not as they are."""
    sizes = np.array([len(tree.feature) for tree in trees], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if starts[-1] > MOST_NODES:
        raise InputError(f"{starts[-1]} nodes are more than a forest can have")
    most = max((int(tree.feature.max()) for tree in trees), default=-1)
    if most >= n_features:
        raise InputError(f"a node splits feature {most}, counted from 0, and there are {n_features}")
    feature = _joined([tree.feature for tree in trees], np.int32)
    # Numbers of nodes are 32 bits wide, and long arrays few: a forest takes more memory here than its file.
    shift = np.repeat(starts[:-1].astype(np.int32), sizes)
    left = _joined([tree.left for tree in trees], np.int32) + shift
    right = _joined([tree.right for tree in trees], np.int32) + shift
    del shift
    inner = feature >= 0
    order, offsets = _parents_first(starts, inner, left, right)
    number = np.full(len(feature), -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    splits = {int(number[start + node]): split for start, tree in zip(starts.tolist(), trees, strict=False)
              for node, split in tree.categories.items() if number[start + node] >= 0}  # fmt: skip
    inner = inner[order]
    threshold = np.where(inner, _joined([tree.threshold for tree in trees], np.float32)[order], np.float32(np.nan))
    if np.isnan(threshold[inner]).sum() != sum(bool(np.isnan(threshold[node])) for node in splits):
        raise InputError("a threshold is not a number")
    threshold[list(splits)] = np.nan
    rules = _reading_codes(n_features, readings)
    if rules is not None and np.isin(rules[feature[order][inner & ~np.isnan(threshold)]], CATEGORY_CODES).any():
        raise InputError("a feature is split both as a number and by categories")
    codes: NDArray[np.uint8] = np.zeros(n_features, np.uint8) if rules is None else rules
    values, value_offsets, words = _categories(feature[order], splits, codes, len(order))
    curvature = _curvature(trees, sizes)
    forest = Forest(
        feature=np.where(inner, feature[order], -1).astype(np.int32),
        threshold=threshold,
        left=np.where(inner, number[np.where(inner, left[order], 0)], -1).astype(np.int32),
        right=np.where(inner, number[np.where(inner, right[order], 0)], -1).astype(np.int32),
        missing_left=_joined([tree.missing_left for tree in trees], np.bool_)[order] & inner,
        value=np.where(inner, np.float32(0), _leaf_values(_joined([tree.value for tree in trees], np.float64)[order])),
        gain=_optional([tree.gain for tree in trees], sizes, np.float64)[order],
        count=_optional([tree.count for tree in trees], sizes, np.int64)[order],
        offsets=offsets,
        n_features=n_features,
        categories=words,
        category_values=values,
        category_offsets=value_offsets,
        readings=rules,
        curvature=None if curvature is None else curvature[order],
    )
    return forest_from_arrays(forest_to_arrays(forest))  # checked as a file's would be


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *parts], dtype=dtype, casting="unsafe")


def _optional(parts: Sequence[NDArray[Any] | None], sizes: IntArray, dtype: Any) -> NDArray[Any]:
    """The parts joined, with zeros where there is none and for numbers that are out of range: scores depend on none."""
    filled = [np.zeros(size, dtype) if part is None else part for part, size in zip(parts, sizes.tolist(), strict=True)]
    joined = _joined(filled, np.float64)
    joined[~((joined > -MOST_HARMLESS) & (joined < MOST_HARMLESS))] = 0  # NaN among them
    return np.maximum(joined, 0, out=joined).astype(dtype) if dtype is np.int64 else joined


def _curvature(trees: Sequence[TreeTable], sizes: IntArray) -> Float32Array | None:
    """The curvature in all nodes, where every tree with a split tells it."""
    if not all(tree.curvature is not None and tree.curvature.any() for tree in trees if len(tree.feature) > 1):
        return None
    told = _optional([tree.curvature for tree in trees], sizes, np.float64)
    return np.asarray(np.maximum(told, 0), np.float32)


def _leaf_values(values: Float64Array) -> Float32Array:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _parents_first(
    starts: IntArray, inner: BoolArray, left: NDArray[np.int32], right: NDArray[np.int32]
) -> tuple[IntArray, IntArray]:
    """The nodes that roots lead to, tree by tree and parents first, and where each tree begins among them."""
    tree_of = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    level, levels, n_found = starts[:-1].astype(np.int32), [], 0
    while len(level):
        n_found += len(level)
        if n_found > len(inner):
            raise InputError("a node of a tree is reached in two ways")
        levels.append(level)
        parents = level[inner[level]]
        level = np.concatenate([left[parents], right[parents]])
    found = _joined(levels, np.int32)
    del levels
    reached = np.zeros(len(inner), np.bool_)
    reached[found] = True
    if reached.sum() != len(found):
        raise InputError("a node of a tree is reached in two ways")
    order = found[np.argsort(tree_of[found], kind="stable")]
    counts = np.bincount(tree_of[order], minlength=len(starts) - 1)
    return order, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _reading_codes(n_features: int, readings: Mapping[int, Reading] | None) -> NDArray[np.uint8] | None:
    if not readings:
        return None
    codes = np.zeros(n_features, np.uint8)
    for feature, reading in readings.items():
        codes[feature] = reading.value
    return codes


def _categories(
    feature: IntArray, splits: Mapping[int, CategorySplit], codes: NDArray[np.uint8], n_nodes: int
) -> tuple[Float32Array, IntArray, NDArray[np.uint32]]:
    """The categories that splits know of each feature, where each feature's begin, and the nodes' bits."""
    known: dict[int, set[float]] = {}
    for node, split in splits.items():
        listed = known.setdefault(int(feature[node]), set())
        listed.update(split.left)
        listed.update(split.right)
        if is_category(codes[feature[node]]):
            listed.add(OTHER)
    values = {owner: np.array(sorted(listed), np.float32) for owner, listed in known.items()}
    for owner, own in values.items():
        if len(own) == 0:  # a split needs one to split; nothing has this value
            values[owner] = np.array([OTHER], np.float32)
    lengths = np.zeros(len(codes), np.int64)
    lengths[list(values)] = [len(own) for own in values.values()]
    n_words = -(-int(lengths.max(initial=0)) // 32)
    if n_words * n_nodes > MOST_CATEGORY_WORDS:
        raise InputError(f"{n_nodes} nodes and {lengths.max()} categories of a feature are more than can be kept")
    words = np.zeros((n_nodes, n_words), np.uint32)
    for node, split in splits.items():
        own = values[int(feature[node])]
        bits = np.zeros(32 * n_words, np.uint8)
        bits[: len(own)] = split.others_left
        bits[np.searchsorted(own, np.array(split.left, np.float32))] = 1
        bits[np.searchsorted(own, np.array(split.right, np.float32))] = 0
        words[node] = np.packbits(bits, bitorder="little").view("<u4")
    joined = _joined([values[owner] for owner in sorted(values)], np.float32)
    return joined, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64), words
