"""Forests as named arrays and back: what checkpoints and model files hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.errors import InputError
from rankwright.trees.forests.forest import DTYPE_OF, PER_NODE, Forest

N_FEATURES = "n_features"
_ARRAYS = tuple(field.name for field in fields(Forest) if field.name != N_FEATURES)


def forest_to_arrays(forest: Forest) -> dict[str, NDArray[Any]]:
    """Every part of the forest under its name."""
    return {name: getattr(forest, name) for name in _ARRAYS} | {N_FEATURES: np.array([forest.n_features], np.int64)}


def forest_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Forest:
    """The forest that `forest_to_arrays` took apart.

    A file may come from anyone, and scoring uses its numbers as places in memory: all of them are checked.
    """
    missing = [name for name in (*_ARRAYS, N_FEATURES) if name not in arrays]
    if missing:
        raise InputError(f"a forest needs the arrays {', '.join(missing)}, which are not there")
    forest = Forest(**{name: arrays[name] for name in _ARRAYS}, n_features=int(arrays[N_FEATURES][0]))
    if not (_nodes_fit(forest) and _children_fit(forest) and _categories_fit(forest)):
        raise InputError("the arrays are not those of a forest: their numbers do not fit together")
    return forest


def _nodes_fit(forest: Forest) -> bool:
    n_nodes = len(forest.feature)
    return (
        all(getattr(forest, name).dtype == dtype for name, dtype in DTYPE_OF.items())
        and all(len(getattr(forest, name)) == n_nodes for name in PER_NODE)
        and all(getattr(forest, name).ndim == (2 if name == "categories" else 1) for name in PER_NODE)
        and forest.offsets.dtype == np.int64
        and len(forest.offsets) >= 1
        and forest.offsets[0] == 0
        and forest.offsets[-1] == n_nodes
        and bool((np.diff(forest.offsets) > 0).all())
        and bool((forest.feature < forest.n_features).all())
    )


def _children_fit(forest: Forest) -> bool:
    """Whether the children of a node come after it in its own tree, so that every walk ends in a leaf."""
    inner = np.flatnonzero(forest.feature >= 0)
    tree_of_node = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))
    ends = forest.offsets[1:][tree_of_node[inner]]
    return all(bool(((child[inner] > inner) & (child[inner] < ends)).all()) for child in (forest.left, forest.right))


def _categories_fit(forest: Forest) -> bool:
    offsets = forest.category_offsets
    n_bits = 32 * forest.categories.shape[1]
    return (
        forest.category_values.dtype == np.float32
        and offsets.dtype == np.int64
        and len(offsets) == forest.n_features + 1
        and offsets[0] == 0
        and offsets[-1] == len(forest.category_values)
        and bool((np.diff(offsets) >= 0).all())
        and int(np.diff(offsets).max(initial=0)) <= n_bits
    )
