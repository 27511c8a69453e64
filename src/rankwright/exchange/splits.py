"""Splits of our forests as targets want them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.exchange.subject import ForestSubject, NotExportableError
from rankwright.exchange.target import ExportOptions, Limit, in_features
from rankwright.imports.thresholds import above
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.readings import OTHER, Reading, is_category

LARGEST = np.finfo(np.float32).max


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
    with np.errstate(over="ignore"):
        raised = above(forest.threshold)
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
    found = in_features(forest.feature[infinite].tolist(), lambda values: np.abs(values) >= min(bound, float("inf")))
    largest = in_features(forest.feature[infinite].tolist(), lambda values: np.isinf(values))
    text = "infinite values of features that a split compares with infinity: the format has no infinite numbers"
    return thresholds, [Limit(text, found if bound <= float(LARGEST) else largest)]


def refuse_readings(subject: ForestSubject, target: str, nearest: str) -> None:
    """Raise where values are read by a rule that the target does not have."""
    readings = subject.forest.readings
    if readings is None:
        return
    used = np.unique(subject.forest.feature[inner_nodes(subject.forest)])
    for feature in used.tolist():
        if readings[feature] == Reading.ZERO_IS_MISSING.value:
            raise NotExportableError(
                f"{target} cannot count zeros as missing, as feature {subject.names[feature]} needs: take {nearest}"
            )


def refuse_categories(subject: ForestSubject, target: str, nearest: str) -> None:
    """Raise where a split is of categories."""
    nodes = category_nodes(subject.forest)
    if len(nodes):
        raise NotExportableError(
            f"{target} has no splits of categories, as feature {subject.names[subject.forest.feature[nodes[0]]]} "
            f"needs: take {nearest}"
        )


def refuse_missing_left(subject: ForestSubject, target: str, options: ExportOptions, nearest: str) -> None:
    """Raise where a missing value goes left, for a target that sends it right always."""
    lefts = inner_nodes(subject.forest) & subject.forest.missing_left
    if options.missing == "kept" and lefts.any():
        feature = subject.names[subject.forest.feature[np.flatnonzero(lefts)[0]]]
        raise NotExportableError(
            f"{target} sends missing values right, and splits of feature {feature} send them left: take {nearest}, or "
            f"say --missing never where documents never lack a value"
        )


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
    nodes = category_nodes(subject.forest)
    features = np.unique(subject.forest.feature[nodes]).tolist()
    readings = subject.forest.readings
    plain = []
    for feature in features:
        known = subject.forest.categories_of(feature)
        if readings is None or not is_category(readings[feature]):
            plain.append(feature)
            if len(known) and (known.min() < 0 or (known != np.floor(known)).any() or known.max() >= 2**24):
                raise NotExportableError(
                    f"{target} has whole categories of 0 and more, and feature {subject.names[feature]} has others: "
                    f"take onnx or c"
                )
    if not plain:
        return []
    return [Limit(
        "categories that are no whole numbers of 0 or more, which the target cuts to whole ones",
        in_features(plain, lambda values: (values < 0) | (values != np.floor(values)) | (values >= 2**24)),
    )]  # fmt: skip
