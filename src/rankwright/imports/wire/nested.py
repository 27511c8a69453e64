"""Trees whose nodes hold their children, as a list of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankwright.arrays import IntArray


def flattened(
    root: Any, children: Callable[[Any], tuple[Any, Any]], *, is_leaf: Callable[[Any], bool]
) -> tuple[list[Any], IntArray, IntArray]:
    """The nodes, the root first, and the numbers of each node's two children; -1 where it is a leaf."""
    nodes, left, right = [root], [-1], [-1]
    place = 0
    while place < len(nodes):
        node = nodes[place]
        if not is_leaf(node):
            left[place], right[place] = len(nodes), len(nodes) + 1
            nodes.extend(children(node))
            left += [-1, -1]
            right += [-1, -1]
        place += 1
    return nodes, np.array(left, np.int64), np.array(right, np.int64)
