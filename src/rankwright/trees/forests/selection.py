"""A few trees of a forest, re-weighted to imitate a larger model.

What counts is what tells the documents of a query apart: scores less their mean over the query. The trees chosen are
those that, weighed anew, come closest to the model's scores in least squares; no label is looked at.

Trees are chosen one at a time, each the one that takes most off the error when all chosen so far are weighed anew
(orthogonal least squares). That is Cholesky's factorisation of the trees' products with the best tree as the pivot:
choosing k of T trees takes T · k² steps, and weights for any smaller k come out of the same factor.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests

EXACT_BITS = 53  # of a float64: sums of whole numbers below 2^53 are exact, in whatever order they are added
BATCH_CELLS = 2**22  # documents × trees whose products are taken at a time
RIDGE = 1e-4  # of a tree's mean square, added to each: weights of trees that are nearly alike stay small
NOTHING_LEFT = 2.5  # ridges: with its own and one for its twin, what is left of a tree that says nothing new is 2


@dataclass(frozen=True, slots=True, eq=False)
class TreeProducts:
    """The products of the trees' scores with each other (T × T), and with the scores to come close to (T)."""

    among: Float64Array
    with_target: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Trees in the order they were chosen, and what gives the weights of the first k of them."""

    forest: Forest
    trees: IntArray
    factor: Float64Array  # lower triangle L, row and column i for the i-th tree chosen: L · Lᵀ are their products
    steps: Float64Array  # L⁻¹ · their products with the target

    @property
    def n_trees(self) -> int:
        """How many trees were chosen."""
        return len(self.trees)

    def weights(self, n_trees: int) -> Float64Array:
        """The best weights of the first `n_trees` trees chosen: the solution of Lᵀ w = steps."""
        weights = self.steps[:n_trees].copy()
        for place in range(n_trees - 1, -1, -1):
            weights[place] /= self.factor[place, place]
            weights[:place] -= self.factor[place, :place] * weights[place]
        return weights

    def best(self, n_trees: int) -> Forest:
        """The forest of the first `n_trees` trees chosen, re-weighted, in the order they had."""
        chosen, weights = self.trees[:n_trees], self.weights(n_trees)
        order = np.argsort(chosen)
        parts = [self.forest.take_trees([tree]) for tree in chosen[order].tolist()]
        return merge_forests(parts, weights[order])


def select_trees(
    forest: Forest,
    features: Float32Array,
    groups: Groups,
    target: Float64Array,
    n_trees: int,
    *,
    threads: int | None = None,
) -> Selection:
    """Up to `n_trees` trees, chosen to imitate `target`, the scores of these documents.

    Fewer are chosen if more would add nothing.
    """
    products = tree_products(forest, features, groups, target, threads=threads)
    trees, factor, steps = _factorise(products, n_trees)
    return Selection(forest, trees, factor, steps)


def tree_products(
    forest: Forest, features: Float32Array, groups: Groups, target: Float64Array, *, threads: int | None = None
) -> TreeProducts:
    """The products of the trees' scores of these documents, less each query's mean.

    Scores are rounded to whole numbers, as fine as their products can be summed exactly: the same for any number of
    threads and for any library that multiplies the matrices.
    """
    among, with_target = np.zeros((forest.n_trees, forest.n_trees)), np.zeros(forest.n_trees)
    target = target - groups.means(target)
    bits = (EXACT_BITS - int(np.ceil(np.log2(max(groups.n_docs, 1))))) // 2
    of_trees = _scale(2 * float(np.abs(forest.value).max(initial=0.0)), bits)
    of_target = _scale(float(np.abs(target).max(initial=0.0)), bits)
    for queries in _batches(groups, max(1, BATCH_CELLS // max(forest.n_trees, 1))):
        rows = slice(int(groups.offsets[queries.start]), int(groups.offsets[queries.stop]))
        own = Groups.of_sizes(groups.sizes[queries])
        says = forest.value[forest.apply(features[rows], threads=threads)].astype(np.float64)
        whole = np.rint((says - own.means(says)) * of_trees)
        among += whole.T @ whole
        with_target += whole.T @ np.rint(target[rows] * of_target)
    return TreeProducts(among / of_trees**2, with_target / (of_trees * of_target))


def _scale(largest: float, bits: int) -> float:
    """The power of 2 that brings numbers up to `largest` below 2^bits."""
    return 1.0 if largest == 0 else 2.0 ** (bits - int(np.ceil(np.log2(largest))))


def _batches(groups: Groups, n_docs: int) -> list[slice]:
    """Queries next to each other that have about `n_docs` documents together."""
    cuts = [0]
    for query, stop in enumerate(groups.offsets[1:].tolist(), start=1):
        if stop - groups.offsets[cuts[-1]] >= n_docs:
            cuts.append(query)
    if cuts[-1] < groups.n_queries:
        cuts.append(groups.n_queries)
    return [slice(first, last) for first, last in pairwise(cuts)]


def _factorise(products: TreeProducts, n_trees: int) -> tuple[IntArray, Float64Array, Float64Array]:
    """The trees chosen, the factor of their products, and its solution for their products with the target."""
    square = np.diagonal(products.among).copy()  # of what the trees chosen so far leave of each tree
    ridge = RIDGE * float(square.mean()) if len(square) else 0.0
    square += ridge
    left = products.with_target.copy()  # products of what is left of each tree with what is left of the target
    n_most = min(n_trees, len(square))
    columns = np.zeros((len(square), n_most))
    trees, steps = np.empty(n_most, np.int64), np.empty(n_most)
    for place in range(n_most):
        worth = np.divide(left**2, square, out=np.zeros_like(left), where=square > NOTHING_LEFT * ridge)
        tree = int(np.argmax(worth))
        if worth[tree] == 0:
            return trees[:place], columns[trees[:place], :place], steps[:place]
        # einsum without a library of its own behind it: the same bits however many threads multiply matrices.
        column = products.among[tree] - np.einsum("ij,j->i", columns[:, :place], columns[tree, :place])
        column[tree] += ridge
        column /= np.sqrt(square[tree])
        columns[:, place], trees[place] = column, tree
        steps[place] = left[tree] / column[tree]
        left -= column * steps[place]
        square -= column**2
        square[tree] = 0.0  # chosen once
    return trees, columns[trees], steps
