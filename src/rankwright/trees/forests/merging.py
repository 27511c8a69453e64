"""Many forests as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, IntArray, as_vector
from rankwright.errors import InputError
from rankwright.trees.forests.forest import CURVATURE, PER_NODE, Forest
from rankwright.trees.forests.readings import OTHER, is_category


def merge_forests(forests: Sequence[Forest], weights: ArrayLike | None = None) -> Forest:
    """The forest whose scores are the weighted sum of the given ones' scores; without weights, their mean."""
    if not forests:
        raise InputError("give at least one forest to merge")
    n_features = forests[0].n_features
    if any(forest.n_features != n_features for forest in forests):
        raise InputError(f"forests must have the same features, got {[forest.n_features for forest in forests]}")
    if len({None if forest.readings is None else forest.readings.tobytes() for forest in forests}) > 1:
        raise InputError("forests that read the values of a feature in different ways cannot be merged into one")
    factors = np.full(len(forests), 1 / len(forests)) if weights is None else weights
    factors = as_vector(factors, name="weights", dtype=np.float64, length=len(forests))
    values, offsets = _all_categories(forests)
    parts = [
        _with_categories(forest.scaled(float(factor)), values, offsets)
        for forest, factor in zip(forests, factors, strict=True)
    ]
    told = all(part.curvature is not None for part in parts)
    names = (*PER_NODE, CURVATURE) if told else PER_NODE
    by_node: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    n_nodes = np.array([len(part.feature) for part in parts])
    before = np.concatenate([[0], np.cumsum(n_nodes)])
    shift = np.repeat(before[:-1], n_nodes).astype(np.int32)
    for name in ("left", "right"):
        by_node[name] = np.where(by_node["feature"] < 0, np.int32(-1), by_node[name] + shift)
    tree_offsets = [part.offsets[:-1] + start for part, start in zip(parts, before[:-1], strict=True)]
    by_node.setdefault(CURVATURE, None)
    return replace(parts[0], **by_node, offsets=np.concatenate([*tree_offsets, before[-1:]]))


def _all_categories(forests: Sequence[Forest]) -> tuple[Float32Array, IntArray]:
    """The categories of every feature that any of the forests knows."""
    if not any(len(forest.category_values) for forest in forests):
        return forests[0].category_values, forests[0].category_offsets
    known = [
        np.unique(np.concatenate([forest.categories_of(feature) for forest in forests]))
        for feature in range(forests[0].n_features)
    ]
    return (
        np.concatenate([*known, np.empty(0, np.float32)]),
        np.concatenate([[0], np.cumsum([len(own) for own in known], dtype=np.int64)]),
    )


def _with_categories(forest: Forest, values: Float32Array, offsets: IntArray) -> Forest:
    """`forest` with more categories known; in its splits the new ones go where unknown ones went."""
    if np.array_equal(values, forest.category_values) and np.array_equal(offsets, forest.category_offsets):
        return forest
    n_words = -(-int(np.diff(offsets).max(initial=0)) // 32)
    goes_left = np.repeat(forest.missing_left[:, None], 32 * n_words, axis=1)
    old_bits = np.unpackbits(forest.categories.view(np.uint8), axis=1, bitorder="little")
    for node in np.flatnonzero((forest.feature >= 0) & np.isnan(forest.threshold)):
        feature = int(forest.feature[node])
        own = values[offsets[feature] : offsets[feature + 1]]
        places = np.searchsorted(own, forest.categories_of(feature))
        if forest.readings is not None and is_category(forest.readings[feature]):
            goes_left[node] = old_bits[node, np.searchsorted(forest.categories_of(feature), OTHER)]
        goes_left[node, places] = old_bits[node, : len(places)]
        goes_left[node, len(own) :] = False
    goes_left[forest.feature < 0] = False
    goes_left[~np.isnan(forest.threshold)] = False
    packed = np.packbits(goes_left, axis=1, bitorder="little")
    return replace(
        forest,
        categories=np.ascontiguousarray(packed).view(np.uint32).reshape(len(goes_left), n_words),
        category_values=values,
        category_offsets=offsets,
    )
