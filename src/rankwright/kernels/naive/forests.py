"""Twins of the kernels that score documents with a compiled forest; `ForestTrees` explains how trees are laid out."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import CodeArray, Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.binning import codes_by_row
from rankwright.kernels.records import FeatureColumns, ForestTrees


def score_forest(
    features: Float32Array,
    columns: FeatureColumns,
    tables: Float32Array,
    trees: ForestTrees,
    scores: Float64Array,
    threads: int,
) -> None:
    """Add each tree's value for each document to its score, tree after tree."""
    _add_scores(codes_of_values(features, columns), trees, scores)


def find_leaves(
    features: Float32Array,
    columns: FeatureColumns,
    tables: Float32Array,
    trees: ForestTrees,
    leaves: NDArray[np.uint16],
    threads: int,
) -> None:
    """Fill `leaves[row, tree]` with the number of the leaf each document reaches."""
    for tree, numbers in enumerate(_leaves_by_tree(codes_of_values(features, columns), trees, len(features))):
        leaves[:, tree] = numbers


def score_codes(
    codes: CodeArray, columns: FeatureColumns, missing: IntArray, trees: ForestTrees, scores: Float64Array, threads: int
) -> None:
    """Add each tree's value for each document, given by its bin codes, to its score."""
    by_row = codes_by_row(codes).astype(np.int64)
    right, left = [], []
    for column, feature in enumerate(columns.features):
        own = by_row[:, feature]
        if columns.category_words[column] >= 0:
            own = _sides(own, column, columns)
            right.append(own)
            left.append(own)
        else:
            right.append(own)
            left.append(np.where(own == missing[column], 0, own))
    _add_scores(right + left, trees, scores)


def codes_of_values(features: Float32Array, columns: FeatureColumns) -> list[IntArray]:
    """Codes of every column, first with missing values right of all thresholds, then with them left."""
    right, left = [], []
    for column, feature in enumerate(columns.features):
        own, values = columns.edges[columns.offsets[column] : columns.offsets[column + 1]], features[:, feature]
        code = np.searchsorted(own, values, side="left")
        if columns.category_words[column] >= 0:
            code = _sides(np.where(np.isin(values, own), code, len(own)), column, columns)
            right.append(code)
            left.append(code)
        else:
            right.append(np.where(np.isnan(values), len(own), code))
            left.append(np.where(np.isnan(values), 0, code))
    return right + left


def _sides(codes: IntArray, column: int, columns: FeatureColumns) -> IntArray:
    """0 where a category goes left, 1 where it goes right."""
    words = columns.categories[columns.category_words[column] + codes // 32].astype(np.int64)
    return np.asarray(1 - ((words >> (codes % 32)) & 1))


def _add_scores(codes: list[IntArray], trees: ForestTrees, scores: Float64Array) -> None:
    by_tree = _leaves_by_tree(codes, trees, len(scores))
    for start, leaves in zip(trees.leaf_offsets[:-1], by_tree, strict=True):
        scores += trees.leaf_values[start + leaves].astype(np.float64)


def _leaves_by_tree(codes: list[IntArray], trees: ForestTrees, n_docs: int) -> Iterator[IntArray]:
    lane = 256**trees.lane_bytes - 1
    for start, stop in pairwise(trees.node_offsets):
        at = np.zeros(n_docs, np.int64)
        for _, column, first, code, right in trees.nodes[start:stop].tolist():
            at[(at == (first & lane)) & (codes[column] > (code & lane))] = right & lane
        yield at
