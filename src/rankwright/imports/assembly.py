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
from rankwright.data.categories import Categories
from rankwright.data.feature_names import made_up_names
from rankwright.errors import InputError, require_input
from rankwright.trees.forests.arrays import forest_from_arrays, forest_to_arrays
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.readings import CATEGORY_CODES, OTHER, Reading, is_category

MOST_CATEGORY_WORDS = 2**25  # of 32 categories, over all nodes: 128 MB
MOST_NODES = 2**31 - 1
MOST_FOREIGN_FEATURES = 2**20  # that a file may state: readers of data make room for all of them
MOST_HARMLESS = 1e15  # the largest number that is kept of those that scores do not depend on


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ForeignForest:
    """A forest of another tool.

    `knows_width` is False where the file does not tell how many features there are: `forest` has as many as its splits
    use. `categories` are those of features that hold texts. `notes` say what is good to know about the scores.
    """

    source: str
    forest: Forest
    base_score: float = 0.0
    feature_names: tuple[str, ...] = ()
    knows_width: bool = True
    categories: Categories | None = None
    notes: Sequence[str] = ()


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
        require_input(n_nodes != 0, "a tree has no nodes")
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
    first = np.array(left, np.int64)
    return columns_of(rows) | {"left": first, "right": np.where(first < 0, -1, first + 1)}


def columns_of(rows: Sequence[ListedNode]) -> dict[str, Any]:
    """The nodes as arrays, without their children, by the names that `TreeTable` has for them."""
    numbers = ("feature", "threshold", "missing_left", "value", "gain", "count", "curvature")
    columns: dict[str, Any] = {name: np.array([getattr(row, name) for row in rows]) for name in numbers}
    columns["categories"] = {number: row.categories for number, row in enumerate(rows) if row.categories is not None}
    return columns


def narrow(values: IntArray) -> NDArray[Any]:
    """Numbers in 32 bits where they fit: a large model has many of them at once."""
    fits = len(values) > 0 and values.min() >= -(2**31) and values.max() < 2**31
    return values.astype(np.int32) if fits else values


def foreign_forest(
    source: str,
    trees: Sequence[TreeTable],
    n_features: int | None,
    readings: Mapping[int, Reading] | None = None,
    *,
    names: Sequence[str] = (),
    made_up: str | None = None,
    **more: Any,
) -> ForeignForest:
    """The forest that was read from a `source`; `n_features` is None where it does not tell.

    Of `names` there are none where the tool made them up, which are this text and the feature's number from 0, or
    where our exports did.
    """
    used = max((int(tree.feature.max()) for tree in trees), default=-1) + 1
    width = checked_width(max(used, 1) if n_features is None else n_features)
    no_names = [[f"{made_up}{number}" for number in range(width)], list(made_up_names(width))]
    return ForeignForest(
        source=source,
        forest=assembled(trees, width, readings),
        feature_names=tuple(names) if len(names) == width and list(names) not in no_names else (),
        knows_width=n_features is not None,
        **more,
    )


def checked_width(n_features: int) -> int:
    """The number of features that a file states, after a check that it is a sensible one."""
    if not 1 <= n_features <= MOST_FOREIGN_FEATURES:
        raise InputError(f"the number of features must lie between 1 and {MOST_FOREIGN_FEATURES}, got {n_features}")
    return n_features


def assembled(trees: Sequence[TreeTable], n_features: int, readings: Mapping[int, Reading] | None = None) -> Forest:
    """The forest of the trees; `readings` tells how values of a feature are read where that is not as they are."""

    def joined(name: str, dtype: Any) -> NDArray[Any]:
        return _joined([getattr(tree, name) for tree in trees], dtype)

    def optional(name: str) -> Float64Array:
        """Numbers that no score depends on: 0 where a tree has none, and where they are out of range."""
        told = ((getattr(tree, name), len(tree.feature)) for tree in trees)
        found = _joined([np.zeros(size) if part is None else part for part, size in told], np.float64)
        found[~(np.abs(found) < MOST_HARMLESS)] = 0  # NaN among them
        return found[order]

    sizes = np.array([len(tree.feature) for tree in trees], np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if starts[-1] > MOST_NODES:
        raise InputError(f"{starts[-1]} nodes are more than a forest can have")
    most = max((int(tree.feature.max()) for tree in trees), default=-1)
    require_input(most < n_features, f"a node splits feature {most}, counted from 0, and there are {n_features}")
    feature = joined("feature", np.int32)
    # Numbers of nodes are 32 bits wide, and long arrays few: a forest takes more memory here than its file.
    shift = np.repeat(starts[:-1].astype(np.int32), sizes)
    left, right = joined("left", np.int32) + shift, joined("right", np.int32) + shift
    del shift
    inner = feature >= 0
    order, offsets = _parents_first(starts, inner, left, right)
    number = np.full(len(feature), -1, np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    splits = {int(number[start + node]): split for start, tree in zip(starts.tolist(), trees, strict=False)
              for node, split in tree.categories.items() if number[start + node] >= 0}  # fmt: skip
    inner = inner[order]
    threshold = np.where(inner, joined("threshold", np.float32)[order], np.float32(np.nan))
    if np.isnan(threshold[inner]).sum() != sum(bool(np.isnan(threshold[node])) for node in splits):
        raise InputError("a threshold is not a number")
    threshold[list(splits)] = np.nan
    codes = np.zeros(n_features, np.uint8)
    for own, reading in (readings or {}).items():
        codes[own] = reading.value
    if np.isin(codes[feature[order][inner & ~np.isnan(threshold)]], CATEGORY_CODES).any():
        raise InputError("a feature is split both as a number and by categories")
    values, value_offsets, words = _categories(feature[order], splits, codes, len(order))
    curvature = None
    if all(tree.curvature is not None and tree.curvature.any() for tree in trees if len(tree.feature) > 1):
        curvature = np.maximum(optional("curvature"), 0).astype(np.float32)
    with np.errstate(over="ignore"):
        value = np.where(inner, np.float32(0), joined("value", np.float64)[order].astype(np.float32))
    forest = Forest(
        feature=np.where(inner, feature[order], -1).astype(np.int32),
        threshold=threshold,
        left=np.where(inner, number[np.where(inner, left[order], 0)], -1).astype(np.int32),
        right=np.where(inner, number[np.where(inner, right[order], 0)], -1).astype(np.int32),
        missing_left=joined("missing_left", np.bool_)[order] & inner,
        value=value,
        gain=optional("gain"),
        count=np.maximum(optional("count"), 0).astype(np.int64),
        offsets=offsets,
        n_features=n_features,
        categories=words,
        category_values=values,
        category_offsets=value_offsets,
        readings=codes if readings else None,
        curvature=curvature,
    )
    return forest_from_arrays(forest_to_arrays(forest))  # checked as a file's would be


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype), *parts], dtype=dtype, casting="unsafe")


def _parents_first(
    starts: IntArray, inner: BoolArray, left: NDArray[np.int32], right: NDArray[np.int32]
) -> tuple[IntArray, IntArray]:
    """The nodes that roots lead to, tree by tree and parents first, and where each tree begins among them."""
    tree_of = np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
    level, levels, n_found = starts[:-1].astype(np.int32), [], 0
    while len(level):
        n_found += len(level)
        require_input(n_found <= len(inner), "a node of a tree is reached in two ways")
        levels.append(level)
        parents = level[inner[level]]
        level = np.concatenate([left[parents], right[parents]])
    found = _joined(levels, np.int32)
    del levels
    reached = np.zeros(len(inner), np.bool_)
    reached[found] = True
    require_input(reached.sum() == len(found), "a node of a tree is reached in two ways")
    order = found[np.argsort(tree_of[found], kind="stable")]
    counts = np.bincount(tree_of[order], minlength=len(starts) - 1)
    return order, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


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
