"""One regression tree, as arrays with an entry per node."""

from __future__ import annotations

from dataclasses import dataclass

from rankwright.arrays import Float32Array
from rankwright.kernels.records import TreeNodes


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tree(TreeNodes):
    """The nodes of a tree, which splits at raw values as well as at codes.

    A document whose `feature` is at most `threshold` goes left; for a categorical feature, `threshold` is NaN.
    """

    threshold: Float32Array

    @property
    def n_leaves(self) -> int:
        """How many leaves the tree has."""
        return (len(self.feature) + 1) // 2
