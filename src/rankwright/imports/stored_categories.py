"""Categories that other tools keep beside their trees, whose splits know only codes: places in these lists.

Where the categories are numbers, splits are translated to them, so that the forest takes the values themselves, in
whatever form documents come. Texts stay beside the forest, as those of our own rankers do: columns with names are
found in them, and rows without names hold codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwright.data.categories import MOST_CATEGORIES
from rankwright.errors import InputError
from rankwright.imports import assembly
from rankwright.imports.assembly import CategorySplit, ForeignForest, TreeTable
from rankwright.trees.forests.readings import Reading

Stored = Mapping[int, Sequence[Any]]  # by feature, in the order of their codes


def forest_with_categories(
    source: str,
    trees: Sequence[TreeTable],
    n_features: int,
    readings: Mapping[int, Reading],
    stored: Stored,
    *,
    names: Sequence[str],
    made_up: str,
    **more: Any,
) -> ForeignForest:
    """The forest of trees that split codes of `stored` categories; all else is as `foreign_forest` has it."""
    if any(not 0 <= feature < min(n_features, len(names)) for feature in stored):
        raise InputError("there are categories of a feature that has no name")
    texts = {names[feature]: tuple(own) for feature, own in stored.items() if _are_texts(own, names[feature])}
    numbers = {
        feature: _as_values(own, names[feature]) for feature, own in stored.items() if names[feature] not in texts
    }
    for tree in trees:
        _check_splits(tree, stored, names)
    return assembly.foreign_forest(
        source,
        [_translated(tree, numbers) for tree in trees],
        n_features,
        {feature: reading for feature, reading in readings.items() if feature not in numbers},
        names=names,
        made_up=None if texts else made_up,  # columns with texts are found by name, whatever it is
        categories=texts or None,
        **more,
    )


def _are_texts(categories: Sequence[Any], name: str) -> bool:
    """Whether the categories of a feature are texts; they may be numbers, and nothing else."""
    if all(isinstance(category, str) for category in categories):
        if len(set(categories)) < len(categories) or len(categories) > MOST_CATEGORIES:
            raise InputError(f"the categories of {name!r} must be different, and {MOST_CATEGORIES:,} at most")
        return True
    if not all(isinstance(category, int | float) for category in categories):
        kinds = ", ".join(sorted({type(category).__name__ for category in categories}))
        raise InputError(f"the categories of {name!r} are neither all texts nor all numbers ({kinds}): train with such")
    return False


def _check_splits(tree: TreeTable, stored: Stored, names: Sequence[str]) -> None:
    for feature in stored:
        if not set(np.flatnonzero(tree.feature == feature).tolist()) <= tree.categories.keys():
            raise InputError(f"{names[feature]!r} has categories, and a split compares it as a number")
    for node, split in tree.categories.items():
        known = stored.get(int(tree.feature[node]))
        if known is not None and not all(0 <= code < len(known) for code in (*split.left, *split.right)):
            raise InputError(f"a split names a category of {names[tree.feature[node]]!r} that is not there")


def _as_values(categories: Sequence[Any], name: str) -> list[float]:
    with np.errstate(over="ignore"):
        values = np.array([float(category) for category in categories]).astype(np.float32) + np.float32(0)  # -0 is 0
    if len(np.unique(values)) < len(values) or not np.isfinite(values).all():
        wanted = f"the categories of {name!r} must be different, finite numbers in single precision: train with texts"
        raise InputError(wanted)
    return [float(value) for value in values]


def _translated(tree: TreeTable, numbers: Mapping[int, list[float]]) -> TreeTable:
    """The tree with splits by the categories that are numbers, instead of by their codes."""
    of_nodes = {node: numbers.get(int(tree.feature[node])) for node in tree.categories}
    splits = {
        node: split if (values := of_nodes[node]) is None else _by_values(split, values)
        for node, split in tree.categories.items()
    }
    return replace(tree, categories=splits)


def _by_values(split: CategorySplit, values: list[float]) -> CategorySplit:
    """The split with all categories listed: one that is not among them counts as missing from now on."""
    left, right = ([values[int(code)] for code in side] for side in (split.left, split.right))
    listed = {*left, *right}
    others = [value for value in values if value not in listed]
    return CategorySplit(
        left=[*left, *others] if split.others_left else left,
        right=right if split.others_left else [*right, *others],
        others_left=split.others_left,
    )
