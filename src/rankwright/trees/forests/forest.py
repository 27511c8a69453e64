"""Forests: many trees as flat arrays, whose values add up to a document's score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray, as_features, as_vector, thread_count
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import InputError, UnknownNameError, require
from rankwright.kernels.records import SparseCodes, TreeNodes
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.binning import BinMapper
from rankwright.trees.forests.compiled import (
    CompiledForest,
    compile_for_codes,
    compile_forest,
    compile_to_score,
    number_leaves,
)
from rankwright.trees.forests.explaining import ExplainedForest
from rankwright.trees.forests.readings import as_read
from rankwright.trees.forests.sparse_scores import add_scores_of_sparse_codes, sparse_scores


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


@dataclass(frozen=True, eq=False)
class Forest:
    """The nodes of all trees, one tree after another: tree t owns nodes `offsets[t]` to `offsets[t + 1]`, root first.

    Feature -1 marks a leaf, which scores `value`. A document whose `feature` is at most `threshold` goes to node
    `left`, another to `right`; one that lacks it goes left where `missing_left` is set. A NaN threshold marks a
    categorical split: a document whose value is the k-th of the feature's categories goes left where bit k of the
    node's `categories` is set, and a value not among them counts as missing. Forests of other tools may read the values
    of a feature by a rule before they are compared (`readings`).
    """

    feature: NDArray[np.int32]
    threshold: Float32Array
    left: NDArray[np.int32]  # counted from the first node of the forest, as `right`
    right: NDArray[np.int32]
    missing_left: BoolArray
    value: Float32Array
    gain: Float64Array  # how much a node's split lowered the cost
    count: IntArray  # how many training documents reached a node
    offsets: IntArray
    n_features: int
    categories: NDArray[np.uint32]  # (nodes, words)
    category_values: Float32Array  # feature f has categories category_values[offsets[f]:offsets[f + 1]], ascending
    category_offsets: IntArray
    readings: NDArray[np.uint8] | None = None  # of each feature, a `Reading`; None where all are plain
    curvature: Float32Array | None = None  # of the training documents that reached a node; None where nobody told

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.offsets) - 1

    @property
    def root(self) -> IntArray:
        """The first node of each tree."""
        return self.offsets[:-1]

    @property
    def by_node(self) -> dict[str, NDArray[Any]]:
        """Every array that has an entry for each node."""
        told = PER_NODE if self.curvature is None else (*PER_NODE, CURVATURE)
        return {name: getattr(self, name) for name in told}

    @cached_property
    def compiled(self) -> list[CompiledForest]:
        """The forest laid out for kernels, made once."""
        return compile_forest(self)

    @cached_property
    def _scored(self) -> list[CompiledForest]:
        """The same in the form that is scored fastest."""
        return compile_to_score(self, self.compiled)

    @cached_property
    def _explained(self) -> dict[str | None, ExplainedForest]:
        return {}

    def explained(self, cover: str | None) -> ExplainedForest:
        """The forest with the shares of documents that its splits send left by a cover, made once for each."""
        if cover not in self._explained:
            self._explained[cover] = ExplainedForest.of(self, cover)
        return self._explained[cover]

    def categories_of(self, feature: int) -> Float32Array:
        """The values that the splits of a categorical feature know."""
        return self.category_values[self.category_offsets[feature] : self.category_offsets[feature + 1]]

    def predict(self, features: ArrayLike, *, threads: int | None = None) -> Float64Array:
        """The score of every document: the sum of its leaves' values, in float64, tree after tree."""
        if isinstance(features, SparseRows):
            return sparse_scores(self, features, threads)
        matrix = self.checked(features)
        scores = np.zeros(len(matrix))
        self._add_scores(matrix, scores, 0, self.n_trees, thread_count(threads))
        return scores

    def staged_predict(
        self, features: ArrayLike, *, every: int = 1, threads: int | None = None
    ) -> Iterator[tuple[int, Float64Array]]:
        """Numbers of trees, `every` apart and always the last, each with the scores that so many trees give."""
        require(every >= 1, f"every must be 1 or more, got {every}")
        matrix = self.checked(features)
        scores = np.zeros(len(matrix))
        if every > 1:
            for first in range(0, self.n_trees, every):
                last = min(first + every, self.n_trees)
                self._add_scores(matrix, scores, first, last, thread_count(threads))
                yield last, scores.copy()
            return
        at_a_time = max(1, STAGED_LEAVES // max(len(matrix), 1))  # features are looked up once for so many trees
        for first in range(0, self.n_trees, at_a_time):
            some = self.part(first, min(first + at_a_time, self.n_trees))
            leaves = np.ascontiguousarray(some.apply(matrix, threads=threads).T)
            for number, nodes in enumerate(leaves, first + 1):
                scores += some.value[nodes]
                yield number, scores.copy()

    def add_scores_of_codes(self, data: BinnedDataset, scores: Float64Array, *, threads: int | None = None) -> None:
        """Add every document's score to `scores`, from bin codes; the forest must have been grown on the same bins."""
        if self.n_features != data.n_features:
            raise InputError(f"the forest is of {self.n_features} features, the bins are of {data.n_features}")
        if self.readings is not None:
            raise InputError("the forest reads values by rules that bins do not keep: score raw values instead")
        if isinstance(data.codes, SparseCodes):
            add_scores_of_sparse_codes(self, data, scores, threads)
        else:
            trees, columns, missing = compile_for_codes(self, data.mapper)
            kernels.score_codes(data.codes, columns, missing, trees, scores, thread_count(threads))

    def apply(self, features: ArrayLike, *, threads: int | None = None) -> IntArray:
        """The node of the leaf that each document reaches in each tree."""
        matrix = self.checked(features)
        nodes = np.empty((len(matrix), self.n_trees), np.int64)
        done = 0
        for piece in self.compiled:
            leaves = np.empty((len(matrix), piece.trees.n_trees), np.uint16)
            kernels.find_leaves(matrix, piece.columns, piece.tables, piece.trees, leaves, thread_count(threads))
            numbers = piece.trees.leaf_offsets[:-1] + leaves
            nodes[:, done : done + piece.trees.n_trees] = self.offsets[done] + piece.trees.leaf_nodes[numbers]
            done += piece.trees.n_trees
        return nodes

    def checked(self, features: ArrayLike) -> Float32Array:
        """The features as the trees compare them."""
        matrix = as_features(features)
        if matrix.shape[1] != self.n_features:
            raise InputError(f"features must have {self.n_features} columns, as in training, got {matrix.shape[1]}")
        if self.readings is not None:
            return as_read(matrix, self.readings, self.category_values, self.category_offsets)
        return matrix

    def _add_scores(self, matrix: Float32Array, scores: Float64Array, first: int, last: int, threads: int) -> None:
        done = 0
        for piece in self._scored:
            begin, end = max(first - done, 0), min(last - done, piece.trees.n_trees)
            if begin < end:
                some = piece.trees if end - begin == piece.trees.n_trees else piece.trees.part(begin, end)
                score = kernels.score_by_bits if some.by_bits else kernels.score_forest
                score(matrix, piece.columns, piece.tables, some, scores, threads)
            done += piece.trees.n_trees

    def truncated(self, n_trees: int) -> Forest:
        """The first `n_trees` trees."""
        require(0 <= n_trees <= self.n_trees, f"n_trees must be 0 to {self.n_trees}, got {n_trees}")
        return self.part(0, n_trees)

    def part(self, first: int, last: int) -> Forest:
        """Trees `first` to `last`, the last one not among them."""
        return self.take_trees(np.arange(first, last))

    def take_trees(self, trees: ArrayLike) -> Forest:
        """The given trees alone, in the given order."""
        chosen = as_vector(trees, name="trees", dtype=np.int64)
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= self.n_trees):
            raise InputError(f"trees must lie between 0 and {self.n_trees - 1}, got {chosen.min()} to {chosen.max()}")
        sizes = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        moved = np.repeat(self.offsets[chosen] - offsets[:-1], sizes)  # by how much each node comes forward
        nodes = moved + np.arange(len(moved))
        kept: dict[str, Any] = {name: values[nodes] for name, values in self.by_node.items()}
        for name in ("left", "right"):
            kept[name] = np.where(kept["feature"] < 0, -1, kept[name] - moved).astype(np.int32)
        return replace(self, **kept, offsets=offsets)

    def scaled(self, factor: float) -> Forest:
        """The forest whose scores are `factor` times this one's."""
        return replace(self, value=(self.value.astype(np.float64) * factor).astype(np.float32))

    def importance(self, kind: str = "gain") -> Float64Array:
        """How much each feature matters: what its splits gained together, or how many there are (`count`)."""
        inner = self.feature >= 0
        weights = self._importance_of_nodes(kind)[inner]
        return np.bincount(self.feature[inner], weights=weights, minlength=self.n_features).astype(np.float64)

    def importance_of_trees(self, kind: str = "gain") -> Float64Array:
        """The same for each tree alone: (trees, features)."""
        inner = self.feature >= 0
        tree = np.repeat(np.arange(self.n_trees), np.diff(self.offsets))[inner]
        found = np.zeros((self.n_trees, self.n_features))
        np.add.at(found, (tree, self.feature[inner]), self._importance_of_nodes(kind)[inner])
        return found

    def _importance_of_nodes(self, kind: str) -> Float64Array:
        if kind not in IMPORTANCES:
            raise UnknownNameError("importance", kind, IMPORTANCES)
        weights: Float64Array = IMPORTANCES[kind](self)
        return weights

    def n_leaves_of_trees(self) -> IntArray:
        """How many leaves each tree has."""
        is_leaf = np.concatenate([[0], np.cumsum(self.feature < 0)])
        return np.asarray(np.diff(is_leaf[self.offsets]), np.int64)

    def depth_of_trees(self) -> IntArray:
        """How many splits lie between each tree's root and its deepest leaf."""
        tree, depth, _, _ = number_leaves(self)
        deepest = np.zeros(self.n_trees, np.int64)
        np.maximum.at(deepest, tree, depth)
        return deepest

    def equals(self, other: Forest) -> bool:
        """Whether every array of `other` is the same, bit for bit."""
        pairs = [(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)]
        return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)


PER_NODE = ("feature", "threshold", "left", "right", "missing_left", "value", "gain", "count", "categories")
CURVATURE = "curvature"
STAGED_LEAVES = 2**20  # documents times trees whose leaves are held at a time
IMPORTANCES: Mapping[str, Any] = {"gain": lambda forest: forest.gain, "count": lambda forest: np.ones(len(forest.gain))}


def forest_of(trees: Sequence[Tree], mapper: BinMapper) -> Forest:
    """The forest of trees that were grown on bins of `mapper`."""
    sizes = np.array([len(tree.feature) for tree in trees], np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    n_categories = np.where(mapper.categorical, np.diff(mapper.offsets), 0)
    n_words = -(-int(n_categories.max(initial=0)) // 32)
    told = all(tree.curvature is not None for tree in trees)
    names = (*PER_NODE, CURVATURE) if told else PER_NODE
    by_node = {name: _joined([getattr(tree, name) for tree in trees], name, n_words) for name in names}
    shift = np.repeat(offsets[:-1], sizes).astype(np.int32)
    for name in ("left", "right"):
        by_node[name] = np.where(by_node["feature"] < 0, np.int32(-1), by_node[name] + shift)
    return Forest(
        **by_node,
        offsets=offsets,
        n_features=mapper.n_features,
        category_values=mapper.category_values,
        category_offsets=np.concatenate([[0], np.cumsum(n_categories)]),
    )


DTYPE_OF: Mapping[str, type[np.generic]] = {
    "feature": np.int32,
    "bin": np.int32,
    "threshold": np.float32,
    "left": np.int32,
    "right": np.int32,
    "missing_left": np.bool_,
    "value": np.float32,
    "gain": np.float64,
    "count": np.int64,
    "categories": np.uint32,
    "curvature": np.float32,
}


def _joined(arrays: list[NDArray[Any]], name: str, n_words: int) -> NDArray[Any]:
    nothing: NDArray[Any] = np.empty((0, n_words) if name == "categories" else 0, DTYPE_OF[name])
    return np.concatenate(arrays) if arrays else nothing
