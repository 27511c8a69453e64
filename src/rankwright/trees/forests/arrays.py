"""Forests as named arrays and back: what checkpoints and model files hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.container.checks import MOST_FEATURES, check_between, read_array
from rankwright.errors import InputError
from rankwright.trees.forests.compiled import MAX_EDGES
from rankwright.trees.forests.forest import CURVATURE, DTYPE_OF, PER_NODE, Forest
from rankwright.trees.forests.readings import CATEGORY_CODES, OTHER, Reading
from rankwright.trees.params import MAX_LEAVES

N_FEATURES = "n_features"
SPLITS_MAY_LACK_NUMBERS = ("threshold",)  # NaN marks a split by categories, and infinity one by what is missing
READINGS = "readings"  # in files of forests that other tools made
_ARRAYS = tuple(field.name for field in fields(Forest) if field.name not in (N_FEATURES, READINGS, CURVATURE))


def forest_to_arrays(forest: Forest) -> dict[str, NDArray[Any]]:
    """Every part of the forest under its name."""
    arrays = {name: getattr(forest, name) for name in _ARRAYS} | {N_FEATURES: np.array([forest.n_features], np.int64)}
    may_have = {READINGS: forest.readings, CURVATURE: forest.curvature}
    return arrays | {name: values for name, values in may_have.items() if values is not None}


def forest_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Forest:
    """The forest that `forest_to_arrays` took apart.

    A file may come from anyone, and scoring uses its numbers as places in memory: all of them are checked.
    """
    missing = [name for name in (*_ARRAYS, N_FEATURES) if name not in arrays]
    if missing:
        raise InputError(f"a forest needs the arrays {', '.join(missing)}, which are not there")
    n_features = read_array(arrays, N_FEATURES, np.int64, (1,))
    check_between(N_FEATURES, n_features, 0, MOST_FEATURES)
    readings = _readings(arrays, int(n_features[0]))
    forest = Forest(
        **{name: arrays[name] for name in _ARRAYS},
        n_features=int(n_features[0]),
        readings=readings,
        curvature=arrays.get(CURVATURE),  # files of early releases have none
    )
    _check_nodes(arrays, forest)
    _check_categories(arrays, forest)
    _check_shape(forest)
    return forest


def _readings(arrays: Mapping[str, NDArray[Any]], n_features: int) -> NDArray[Any] | None:
    if READINGS not in arrays:
        return None
    found = read_array(arrays, READINGS, np.uint8, (n_features,))
    check_between(READINGS, found, 0, max(reading.value for reading in Reading))
    return found


def _check_nodes(arrays: Mapping[str, NDArray[Any]], forest: Forest) -> None:
    n_nodes = len(arrays["feature"]) if arrays["feature"].ndim else 0
    for name in PER_NODE:
        shape = (n_nodes, None) if name == "categories" else (n_nodes,)
        read_array(arrays, name, DTYPE_OF[name], shape, finite=name not in SPLITS_MAY_LACK_NUMBERS)
    _check_offsets(arrays, "offsets", None, n_nodes, least=1)
    check_between("feature", forest.feature, -1, forest.n_features - 1)
    check_between("count", forest.count, 0, np.inf)
    if forest.curvature is not None:
        check_between(CURVATURE, read_array(arrays, CURVATURE, DTYPE_OF[CURVATURE], (n_nodes,)), 0, np.inf)


def _check_offsets(
    arrays: Mapping[str, NDArray[Any]], name: str, n_parts: int | None, n_all: int, *, least: int
) -> None:
    """Raise unless the array says where each part begins, the next after the last, each with `least` or more."""
    found = read_array(arrays, name, np.int64, (None if n_parts is None else n_parts + 1,))
    if len(found) == 0 or found[0] != 0 or found[-1] != n_all or (found[1:] < found[:-1] + least).any():
        raise InputError(f"the array {name!r} must rise from 0 to {n_all}, by {least} or more at a time")


def _check_categories(arrays: Mapping[str, NDArray[Any]], forest: Forest) -> None:
    values = read_array(arrays, "category_values", np.float32, (None,), finite=False)
    _check_offsets(arrays, "category_offsets", forest.n_features, len(values), least=0)
    n_categories = np.diff(forest.category_offsets)
    check_between("category_offsets", n_categories, 0, MAX_EDGES - 1)
    n_words = -(-int(n_categories.max(initial=0)) // 32)
    read_array(arrays, "categories", DTYPE_OF["categories"], (None, n_words))
    rises = np.ones(len(values), np.bool_)
    rises[1:] = values[1:] > values[:-1]
    rises[forest.category_offsets[:-1][n_categories > 0]] = True  # a feature's first
    if np.isnan(values).any() or not rises.all():
        raise InputError("the categories of a feature must be in ascending order")
    by_category = (forest.feature >= 0) & np.isnan(forest.threshold)
    if (n_categories[forest.feature[by_category]] == 0).any():
        raise InputError("a node splits the categories of a feature that has none")
    if forest.readings is not None:
        cut = np.isin(forest.readings, CATEGORY_CODES) & (n_categories > 0)
        if (values[forest.category_offsets[:-1][cut]] != OTHER).any():
            raise InputError(f"the first category of a feature that is cut to categories must be {OTHER}")


def _check_shape(forest: Forest) -> None:
    """Raise unless each tree is one: every node but the root is the child of one earlier node of its tree.

    So every walk ends in a leaf, no node is reached in two ways, and none is unreachable.
    """
    inner = np.flatnonzero(forest.feature >= 0)
    ends = np.repeat(forest.offsets[1:], np.diff(forest.offsets))[inner]
    children = np.concatenate([forest.left[inner], forest.right[inner]])
    if (children <= np.tile(inner, 2)).any() or (children >= np.tile(ends, 2)).any():
        raise InputError("the children of a node must come after it, in its own tree")
    n_parents = np.bincount(children, minlength=len(forest.feature))
    is_root = np.zeros(len(forest.feature), np.bool_)
    is_root[forest.root] = True
    if (n_parents != ~is_root).any():
        raise InputError("every node of a tree but its root must be the child of one other node")
    most = int(forest.n_leaves_of_trees().max(initial=0))
    if most > MAX_LEAVES:
        raise InputError(f"a tree may have {MAX_LEAVES} leaves at most, got {most}")
