"""Our forests as targets want them: their splits, the base score as a tree, and trees as nested JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.exchange.subject import KIND_WORDS, ForestSubject, NotExportableError, Subject
from rankwright.exchange.target import Limit, in_features
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.readings import OTHER, Reading, is_category

LARGEST = np.finfo(np.float32).max
TREES = "\x00trees"  # stands in a document where its list of trees goes

T = TypeVar("T")


def inner_nodes(forest: Forest) -> BoolArray:
    """Which nodes split."""
    return forest.feature >= 0


def category_nodes(forest: Forest) -> IntArray:
    """The nodes that split categories."""
    return np.flatnonzero(inner_nodes(forest) & np.isnan(forest.threshold))


def with_base_tree(subject: ForestSubject) -> Forest:
    """The forest with the base score as a tree of one leaf, where there is a base score."""
    if subject.base_score == 0 and subject.forest.n_trees:
        return subject.forest
    forest = subject.forest
    n_nodes = len(forest.feature)
    one: dict[str, Any] = {
        "feature": np.int32(-1), "threshold": np.float32(np.nan), "left": np.int32(-1), "right": np.int32(-1),
        "missing_left": np.False_, "value": np.float32(subject.base_score), "gain": 0.0, "count": 0,
    }  # fmt: skip
    if forest.curvature is not None:
        one["curvature"] = np.float32(0)
    parts: dict[str, Any] = {
        name: np.append(getattr(forest, name), value).astype(getattr(forest, name).dtype) for name, value in one.items()
    }
    words = np.vstack([forest.categories, np.zeros((1, forest.categories.shape[1]), np.uint32)])
    return replace(forest, **parts, categories=words, offsets=np.append(forest.offsets, n_nodes + 1))


def strictly_below(forest: Forest) -> Forest:
    """The forest for a target where values below the threshold go left: no longer one that we score.

    A split that all values pass, whose threshold is +∞, becomes one that none passes, with its sides swapped.
    """
    everything = inner_nodes(forest) & np.isposinf(forest.threshold)
    with np.errstate(over="ignore", under="ignore"):
        raised = np.nextafter(forest.threshold, np.float32(np.inf))  # a value is at most ours where it is below this
    return replace(
        forest,
        threshold=np.where(everything, np.float32(-np.inf), raised),
        left=np.where(everything, forest.right, forest.left),
        right=np.where(everything, forest.left, forest.right),
        missing_left=forest.missing_left ^ everything,
    )


def finite(forest: Forest, bound: float = float(LARGEST)) -> tuple[Float64Array, list[Limit]]:
    """Thresholds of a format that has no infinite numbers, and which documents that leaves out.

    `bound` is the largest number that the target compares with.
    """
    infinite = inner_nodes(forest) & np.isinf(forest.threshold)
    thresholds = np.where(infinite, np.copysign(bound, forest.threshold.astype(np.float64)), forest.threshold)
    if not infinite.any():
        return thresholds, []
    text = "infinite values of features that a split compares with infinity: the format has no infinite numbers"
    least = bound if bound <= float(LARGEST) else np.inf  # of values that the threshold cannot tell apart
    rows = in_features(forest.feature[infinite].tolist(), lambda values: np.abs(values) >= least)
    return thresholds, [Limit(text, rows)]


def forest_for(
    subject: Subject, target: str, *, zeros: str | None = None, categories: str | None = None
) -> ForestSubject:
    """The subject, which must be a forest that the target can hold.

    `zeros` and `categories` name what to take instead, where the target cannot count zeros as missing, or where it has
    no splits of categories.
    """
    if not isinstance(subject, ForestSubject):
        told = f"{target} holds trees, and this is {KIND_WORDS[subject.kind]}: onnx, c and solr hold sums and nets"
        raise NotExportableError(told)
    forest = subject.forest
    if zeros is not None and forest.readings is not None:
        used = np.unique(forest.feature[inner_nodes(forest)])
        counted = used[forest.readings[used] == Reading.ZERO_IS_MISSING.value]
        if len(counted):
            told = f"{target} cannot count zeros as missing, as feature {subject.names[counted[0]]} needs: take {zeros}"
            raise NotExportableError(told)
    nodes = category_nodes(forest)
    if categories is not None and len(nodes):
        feature = subject.names[forest.feature[nodes[0]]]
        raise NotExportableError(f"{target} has no splits of categories, as feature {feature} needs: take {categories}")
    return subject


def category_sides(forest: Forest, node: int) -> tuple[Float32Array, Float32Array, bool]:
    """The categories that go left and right at a node, and whether all others go left; a missing value goes by
    `missing_left`."""
    feature = int(forest.feature[node])
    known = forest.categories_of(feature)
    bits = np.unpackbits(forest.categories[node].astype("<u4").view(np.uint8), bitorder="little")[: len(known)] > 0
    others = bool(forest.missing_left[node])
    if forest.readings is not None and is_category(forest.readings[feature]):
        others = bool(bits[0])  # the first stands for others
        known, bits = known[1:], bits[1:]
    elif len(known) and known[0] == OTHER and len(known) == 1:
        known, bits = known[:0], bits[:0]
    return known[bits], known[~bits], others


def whole_categories(subject: ForestSubject, target: str) -> list[Limit]:
    """What a target that cuts values to whole categories cannot tell apart; raises where categories are not whole."""
    forest = subject.forest
    features = np.unique(forest.feature[category_nodes(forest)]).tolist()
    plain = [feature for feature in features if forest.readings is None or not is_category(forest.readings[feature])]
    for feature in plain:
        if _no_whole_category(forest.categories_of(feature)).any():
            raise NotExportableError(
                f"{target} has whole categories of 0 and more, and feature {subject.names[feature]} has others: "
                f"take onnx or c"
            )
    text = "categories that are no whole numbers of 0 or more, which the target cuts to whole ones"
    return [Limit(text, in_features(plain, _no_whole_category))] if plain else []


def _no_whole_category(values: Float32Array) -> Any:
    return (values < 0) | (values != np.floor(values)) | (values >= 2**24)


def cut_otherwise(features: IntArray) -> list[Limit]:
    """What LightGBM and XGBoost read differently of these features: values between -1 and 0 are category 0 to the
    former, and none to the latter."""
    rows = in_features(features, lambda values: (values > -1) & (values < 0))
    return [Limit("categories between -1 and 0", rows)] if len(features) else []


def nested_tree(forest: Forest, tree: int, leaf: Callable[[int], T], split: Callable[[int, T, T], T]) -> T:
    """A tree as one value: `leaf` makes that of a leaf, `split` that of a node from those of its two sides."""
    start, stop = int(forest.offsets[tree]), int(forest.offsets[tree + 1])
    made: dict[int, T] = {}
    for node in range(stop - 1, start - 1, -1):  # children come after their parents
        if forest.feature[node] < 0:
            made[node] = leaf(node)
        else:
            made[node] = split(node, made.pop(int(forest.left[node])), made.pop(int(forest.right[node])))
    return made[start]


def java_number(value: float) -> str:
    """A float32 number as Java reads it, with the digits that give it back."""
    text = f"{float(value):.9g}"
    return {"inf": "Infinity", "-inf": "-Infinity"}.get(text, text)


def json_of(document: Any, trees: Iterable[Any], *, compact: bool = False) -> bytes:
    """The JSON of a document in which `TREES` stands for the list of trees.

    Trees are written one by one: all of them as Python's objects take many times their text.
    """
    separators = (",", ":") if compact else (", ", ": ")

    def written(value: Any) -> bytes:
        return json.dumps(value, separators=separators).encode()

    before, after = written(document).split(written(TREES))
    parts = [before, b"["]
    for number, tree in enumerate(trees):
        parts += [separators[0].encode(), written(tree)] if number else [written(tree)]
    return b"".join([*parts, b"]", after])
