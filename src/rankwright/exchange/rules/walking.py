"""Walking trees document by document, as an engine does: slow, and plain to read.

A node is `None`-free: either a leaf with its value, or a split with a function from a column of values to which of them
go left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array


@dataclass(frozen=True, slots=True)
class TreeLeaf:
    """The end of a walk."""

    value: Any


@dataclass(frozen=True, slots=True)
class TreeSplit:
    """A parting of ways: `goes_left` tells, for a column of values, which of them go left."""

    feature: int
    goes_left: Callable[[Float32Array], BoolArray]
    left: Any
    right: Any


def leaf_values(root: TreeLeaf | TreeSplit, features: Float32Array, dtype: Any = np.float32) -> Any:
    """The value of the leaf that each document reaches."""
    values = np.empty(len(features), dtype)
    todo: list[tuple[TreeLeaf | TreeSplit, Any]] = [(root, np.arange(len(features)))]
    while todo:
        node, rows = todo.pop()
        if len(rows) == 0:
            continue
        if isinstance(node, TreeLeaf):
            values[rows] = node.value
            continue
        left = node.goes_left(features[rows, node.feature])
        todo += [(node.left, rows[left]), (node.right, rows[~left])]
    return values
