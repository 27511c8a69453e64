"""Trees as named arrays and back: what checkpoints and model files hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.trees.grower import Tree

NODES_OF_TREE = "nodes_of_tree"
_FIELDS = tuple(field.name for field in fields(Tree))


def pack_trees(trees: Sequence[Tree]) -> dict[str, NDArray[Any]]:
    """The nodes of all trees, one tree after another, and how many each has."""
    arrays = {NODES_OF_TREE: np.array([len(tree.feature) for tree in trees], np.int64)}
    if trees:
        arrays |= {name: np.concatenate([getattr(tree, name) for tree in trees]) for name in _FIELDS}
    return arrays


def unpack_trees(arrays: Mapping[str, NDArray[Any]]) -> list[Tree]:
    """The trees that `pack_trees` packed."""
    stops = np.cumsum(arrays[NODES_OF_TREE])
    starts = stops - arrays[NODES_OF_TREE]
    return [
        Tree(**{name: arrays[name][start:stop] for name in _FIELDS}) for start, stop in zip(starts, stops, strict=True)
    ]
