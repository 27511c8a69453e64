"""The leaves of a forest fitted all together to given scores.

Boosting fits each tree to what the ones before it leave, and never looks back. Here the trees keep their splits and all
leaves move at once, in least squares to the scores less each query's mean: what tells documents of a query apart. It is
a linear problem with one column per leaf. Some steps of conjugate gradients from the present leaves solve it well
enough, and stopping early keeps leaves of few documents near where they were.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.trees.forests.forest import Forest

STEPS = 10
RIDGE = 1e-3  # of the documents of a leaf on average: how strongly every leaf is held at its value
BATCH_ROWS = 2**14


def refit_leaves(
    forest: Forest,
    features: Float32Array,
    groups: Groups,
    target: Float64Array,
    *,
    steps: int = STEPS,
    threads: int | None = None,
) -> Forest:
    """The forest with leaves that bring its scores of these documents nearer to `target`, up to a shift per query."""
    if len(features) == 0 or forest.n_trees == 0:
        return forest
    problem = _LeafProblem.of(forest, features, groups, threads)
    start = forest.value[problem.leaf_nodes].astype(np.float64)
    missed = target - problem.scores(start)
    moved = start + _solve(problem.normal, problem.by_leaf(missed), problem.n_docs, steps)
    value = forest.value.copy()
    value[problem.leaf_nodes] = moved
    return replace(forest, value=value)


@dataclass(frozen=True, slots=True, eq=False)
class _LeafProblem:
    """The least-squares problem: which documents each leaf adds its value to."""

    leaf_nodes: IntArray
    leaf_of: NDArray[np.int32]  # (trees, documents): the number of the leaf that a document reaches
    n_docs: Float64Array  # of each leaf
    groups: Groups

    @classmethod
    def of(cls, forest: Forest, features: Float32Array, groups: Groups, threads: int | None) -> _LeafProblem:
        leaf_nodes = np.flatnonzero(forest.feature < 0)
        number = np.zeros(len(forest.feature), np.int32)
        number[leaf_nodes] = np.arange(len(leaf_nodes))
        leaf_of = np.empty((forest.n_trees, len(features)), np.int32)
        for start in range(0, len(features), BATCH_ROWS):
            rows = slice(start, start + BATCH_ROWS)
            leaf_of[:, rows] = number[forest.apply(features[rows], threads=threads)].T
        n_docs = np.bincount(leaf_of.reshape(-1), minlength=len(leaf_nodes)).astype(np.float64)
        return cls(leaf_nodes, leaf_of, n_docs, groups)

    def scores(self, values: Float64Array) -> Float64Array:
        """The documents' scores if the leaves have `values`."""
        scores = np.zeros(self.leaf_of.shape[1])
        for leaves in self.leaf_of:
            scores += values[leaves]
        return scores

    def by_leaf(self, scores: Float64Array) -> Float64Array:
        """The scores, less each query's mean, summed over each leaf's documents."""
        less_mean = scores - self.groups.means(scores)
        sums = np.zeros(len(self.leaf_nodes))
        for leaves in self.leaf_of:
            sums += np.bincount(leaves, less_mean, minlength=len(sums))
        return sums

    def normal(self, values: Float64Array) -> Float64Array:
        """The normal equations' matrix times `values`."""
        return self.by_leaf(self.scores(values))


def _solve(
    matrix: Callable[[Float64Array], Float64Array], right: Float64Array, weights: Float64Array, n_steps: int
) -> Float64Array:
    """An approximate x with matrix · x + ridge · x = right, by conjugate gradients scaled by the leaves' documents.

    Sums are NumPy's own: the same bits however many threads multiply matrices.
    """
    ridge = RIDGE * float(weights.mean())
    found, left = np.zeros_like(right), right.copy()
    scaled = left / (weights + ridge)
    direction, size = scaled.copy(), float(np.sum(left * scaled))
    for _ in range(n_steps):
        if size <= 0:
            break
        bent = matrix(direction) + ridge * direction
        length = size / float(np.sum(direction * bent))
        found += length * direction
        left -= length * bent
        scaled = left / (weights + ridge)
        before, size = size, float(np.sum(left * scaled))
        direction = scaled + (size / before) * direction
    return found
