"""One regression tree, as arrays with an entry per node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The nodes of a tree, the root first. Feature -1 marks a leaf, which says `value`.

    A document whose `feature` is at most `threshold` (its code at most `bin`) goes to node `left`, another to `right`;
    one that lacks it goes left where `missing_left` says so. Of a categorical feature, `bin` is -1, `threshold` NaN,
    and category code c goes left where bit c of the node's `categories` is set.
    """

    feature: NDArray[np.int32]
    bin: NDArray[np.int32]
    threshold: Float32Array
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: BoolArray
    value: Float32Array
    gain: Float64Array  # what a node's split took off the cost
    count: IntArray  # how many of the rows it was grown on reach a node
    categories: NDArray[np.uint32]  # (nodes, words)

    @property
    def n_leaves(self) -> int:
        """How many leaves the tree has."""
        return (len(self.feature) + 1) // 2
