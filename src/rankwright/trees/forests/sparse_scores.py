"""Scores of sparse features: only the columns that a forest splits on are filled, for some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import InputError
from rankwright.kernels.records import TreeNodes
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.binning import BinMapper
from rankwright.trees.forests.compiled import bins_of_nodes, check_categories

if TYPE_CHECKING:
    from rankwright.trees.forests.forest import Forest


def sparse_scores(forest: Forest, rows: SparseRows, threads: int | None) -> Float64Array:
    """The score of every row."""
    if rows.n_columns != forest.n_features:
        raise InputError(f"features must have {forest.n_features} columns, as in training, got {rows.n_columns}")
    used, narrow = narrowed(forest)
    parts = [narrow.predict(part.full_columns(used), threads=threads) for part in rows.blocks(len(used))]
    return np.concatenate([*parts, np.zeros(0)])


def narrowed(forest: Forest) -> tuple[IntArray, Forest]:
    """The features that the forest splits on, and the forest of these alone."""
    inner = forest.feature >= 0
    used = np.unique(forest.feature[inner]).astype(np.int64)
    place_of = np.zeros(forest.n_features, np.int32)
    place_of[used] = np.arange(len(used))
    n_categories = np.diff(forest.category_offsets)[used]
    values = [forest.categories_of(feature) for feature in used.tolist()]
    return used, replace(
        forest,
        feature=np.where(inner, place_of[forest.feature], np.int32(-1)).astype(np.int32),
        n_features=len(used),
        category_values=np.concatenate([*values, forest.category_values[:0]]),
        category_offsets=np.concatenate([[0], np.cumsum(n_categories)]),
        readings=None if forest.readings is None else forest.readings[used],
    )


def add_scores_of_sparse_codes(forest: Forest, data: BinnedDataset, scores: Float64Array, threads: int | None) -> None:
    """Add every document's score, tree after tree."""
    for nodes in _trees_by_bin(forest, data.mapper):
        kernels.score_sparse_tree(data.codes, data.mapper.n_bins, nodes, scores, thread_count(threads))


def _trees_by_bin(forest: Forest, mapper: BinMapper) -> Iterator[TreeNodes]:
    """The trees, which cut features after bins."""
    inner = forest.feature >= 0
    numbers = inner & ~np.isnan(forest.threshold)
    check_categories(forest, forest.feature[inner & ~numbers], mapper)
    bins = np.full(len(forest.feature), -1, np.int32)
    bins[numbers] = bins_of_nodes(forest, numbers, mapper)
    for first, end in pairwise(forest.offsets.tolist()):
        own = slice(first, end)
        yield TreeNodes(
            feature=forest.feature[own],
            bin=bins[own],
            left=forest.left[own] - np.int32(first),
            right=forest.right[own] - np.int32(first),
            missing_left=forest.missing_left[own],
            value=forest.value[own],
            gain=forest.gain[own],
            count=forest.count[own],
            categories=np.ascontiguousarray(forest.categories[own]),
        )
