"""What features add to the scores of a forest: `native/core/explanations/tree_plan.hpp` explains how it is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array, thread_count
from rankwright.errors import InputError, UnknownNameError
from rankwright.kernels.records import SplitShares
from rankwright.memory import require_memory
from rankwright.trees.forests.compiled import levels_of, number_leaves

if TYPE_CHECKING:
    from rankwright.trees.forests.forest import Forest

Cover = Literal["documents", "curvature"]
COVERS: tuple[Cover, ...] = ("documents", "curvature")
UNTOLD_SHARE = 0.5  # of documents that go left at a node that none reached


def known_covers(forest: Forest) -> tuple[Cover, ...]:
    """What the forest tells of how many documents reach its nodes."""
    has_splits = bool((forest.feature >= 0).any())
    known: list[Cover] = ["documents"] if forest.count.any() or not has_splits else []
    return (*known, "curvature") if forest.curvature is not None or not has_splits else tuple(known)


def cover_of(forest: Forest, cover: str) -> Float64Array:
    """How many training documents reached each node, or their curvature."""
    if cover not in COVERS:
        raise UnknownNameError("cover", cover, COVERS)
    known = known_covers(forest)
    if cover not in known:
        what = {"documents": "how many documents reached its nodes", "curvature": "the curvature in its nodes"}[cover]
        instead = f"it tells {known[0]}: cover={known[0]!r}" if known else "explain it against a background sample"
        raise InputError(f"the model does not tell {what}, which the cover {cover!r} needs; {instead}")
    if cover == "documents" or forest.curvature is None:
        return _with_sums(forest, forest.count.astype(np.float64))
    return _with_sums(forest, forest.curvature.astype(np.float64))


def _with_sums(forest: Forest, cover: Float64Array) -> Float64Array:
    """The cover, in which inner nodes without a value, as in CatBoost's files, get the sum of their children."""
    untold = (forest.feature >= 0) & (cover == 0)
    for level in reversed(levels_of(forest)) if untold.any() else ():
        nodes = level[untold[level]]
        cover[nodes] = cover[forest.left[nodes]] + cover[forest.right[nodes]]
    return cover


@dataclass(frozen=True, slots=True, eq=False)
class ExplainedForest:
    """A forest with the shares of documents that its splits send left."""

    forest: Forest
    pieces: tuple[SplitShares, ...]  # one for each of `forest.compiled`
    base: float  # the forest's mean score under these shares

    @classmethod
    def of(cls, forest: Forest, cover: str | None) -> ExplainedForest:
        """The forest with shares by that cover; None where a background sample tells them."""
        covers = np.ones(len(forest.feature)) if cover is None else cover_of(forest, cover)
        share = _shares(forest, covers)
        pieces, done = [], 0
        for piece in forest.compiled:
            part, first = forest.part(done, done + piece.trees.n_trees), int(forest.offsets[done])
            pieces.append(_split_shares(part, share[first : first + len(part.feature)]))
            done += piece.trees.n_trees
        return cls(forest, tuple(pieces), _mean_score(forest, share))

    def contributions(self, features: Float32Array, *, threads: int | None = None) -> Float64Array:
        """What each feature adds to each document's score, next to the base."""
        matrix = self.forest.checked(features)
        return self._summed(kernels.tree_contributions, (matrix,), matrix.shape, threads)

    def against(self, features: Float32Array, background: Float32Array, *, threads: int | None = None) -> Float64Array:
        """The same, next to the mean score of the background documents."""
        matrix, others = self.forest.checked(features), self.forest.checked(background)
        if len(others) == 0:
            raise InputError("the background sample must have a document or more")
        return self._summed(kernels.background_contributions, (matrix, others), matrix.shape, threads) + 0.0  # no -0

    def interactions(self, features: Float32Array, *, threads: int | None = None) -> Float64Array:
        """What pairs of features add by acting together: (documents, features, features), rows sum to contributions."""
        matrix = self.forest.checked(features)
        n_docs, n_features = matrix.shape
        what = f"what pairs of {n_features:,} features add to {n_docs:,} scores"
        require_memory(2 * 8 * n_docs * n_features**2, what)
        found = self._summed(kernels.tree_interactions, (matrix,), (n_docs, n_features**2), threads) + 0.0  # no -0
        return found.reshape(n_docs, n_features, n_features)

    def _summed(
        self, kernel: Callable[..., None], given: tuple[Float32Array, ...], shape: tuple[int, ...], threads: int | None
    ) -> Float64Array:
        """What a kernel finds for each piece of the forest, added up."""
        total = np.zeros(shape)
        for piece, shares in zip(self.forest.compiled, self.pieces, strict=True):
            out = np.empty(shape)
            kernel(*given, piece.columns, piece.tables, piece.trees, shares, out, thread_count(threads))
            total = out if len(self.pieces) == 1 else total + out
        return total


def _shares(forest: Forest, cover: Float64Array) -> Float64Array:
    """The share of documents that each node sends left."""
    share = np.full(len(forest.feature), UNTOLD_SHARE)
    inner = np.flatnonzero(forest.feature >= 0)
    left, both = cover[forest.left[inner]], cover[forest.left[inner]] + cover[forest.right[inner]]
    share[inner[both > 0]] = left[both > 0] / both[both > 0]
    return share


def _mean_score(forest: Forest, share: Float64Array) -> float:
    """The score of a document that takes every side by its share: what is left where no feature is known."""
    mean = forest.value.astype(np.float64)
    for level in reversed(levels_of(forest)):
        nodes = level[forest.feature[level] >= 0]
        left, right = mean[forest.left[nodes]], mean[forest.right[nodes]]
        mean[nodes] = right + share[nodes] * (left - right)
    return float(np.sum(mean[forest.root]))


def _split_shares(part: Forest, share: Float64Array) -> SplitShares:
    """The inner nodes of some trees in the order in which they are compiled."""
    tree, depth, _, first = number_leaves(part)
    inner = np.flatnonzero(part.feature >= 0)
    inner = inner[np.lexsort((first[inner], depth[inner], tree[inner]))]
    number = np.empty(len(part.feature), np.int64)
    starts = np.concatenate([[0], np.cumsum(part.n_leaves_of_trees() - 1)])
    number[inner] = np.arange(len(inner)) - starts[tree[inner]]
    leaves = np.flatnonzero(part.feature < 0)
    number[leaves] = -1 - first[leaves]
    return SplitShares(
        feature=part.feature[inner],
        share=share[inner],
        left=number[part.left[inner]].astype(np.int32),
        right=number[part.right[inner]].astype(np.int32),
    )
