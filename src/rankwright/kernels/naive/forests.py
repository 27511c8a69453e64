"""Twins of the kernels that score documents with a compiled forest.

A tree's leaves are numbered from left to right. A document starts at number 0 and visits the nodes, parents first:
where its number is that of the first leaf below a node and its code is greater than the node's, the number becomes
that of the first leaf below the right child. In the end it is the number of the document's leaf.

A node is a row of `nodes`: two columns (where no document lacks a value, and where some may), first leaf, code, first
leaf on the right; of the last three the lowest `lane_bytes` bytes count.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import CodeArray, Float32Array, Float64Array, IntArray

Int32Array = NDArray[np.int32]
Uint32Array = NDArray[np.uint32]


def score_forest(
    features: Float32Array,
    column_features: Int32Array,
    edges: Float32Array,
    edge_offsets: IntArray,
    tables: Float32Array,  # noqa: ARG001
    category_words: IntArray,
    categories: Uint32Array,
    nodes: Uint32Array,
    node_offsets: IntArray,
    leaf_values: Float32Array,
    leaf_offsets: IntArray,
    lane_bytes: int,
    scores: Float64Array,
    threads: int,  # noqa: ARG001
) -> None:
    """Add what each tree says of each document to its score, tree after tree."""
    columns = _value_columns(features, column_features, edges, edge_offsets, category_words, categories)
    _add_scores(columns, nodes, node_offsets, leaf_values, leaf_offsets, lane_bytes, scores)


def find_leaves(
    features: Float32Array,
    column_features: Int32Array,
    edges: Float32Array,
    edge_offsets: IntArray,
    tables: Float32Array,  # noqa: ARG001
    category_words: IntArray,
    categories: Uint32Array,
    nodes: Uint32Array,
    node_offsets: IntArray,
    leaf_values: Float32Array,  # noqa: ARG001
    leaf_offsets: IntArray,  # noqa: ARG001
    lane_bytes: int,
    leaves: NDArray[np.uint16],
    threads: int,  # noqa: ARG001
) -> None:
    """Fill `leaves[row, tree]` with the number of the leaf each document reaches."""
    columns = _value_columns(features, column_features, edges, edge_offsets, category_words, categories)
    for tree, numbers in enumerate(_leaves_by_tree(columns, nodes, node_offsets, lane_bytes, len(features))):
        leaves[:, tree] = numbers


def score_codes(
    codes: CodeArray,
    column_features: Int32Array,
    missing: IntArray,
    category_words: IntArray,
    categories: Uint32Array,
    nodes: Uint32Array,
    node_offsets: IntArray,
    leaf_values: Float32Array,
    leaf_offsets: IntArray,
    lane_bytes: int,
    scores: Float64Array,
    threads: int,  # noqa: ARG001
) -> None:
    """Add what each tree says of each document, known by its bin codes, to its score."""
    by_row = codes.swapaxes(0, 1).reshape(codes.shape[1], codes.shape[0] * codes.shape[2]).astype(np.int64)
    right, left = [], []
    for column, feature in enumerate(column_features):
        own = by_row[:, feature]
        if category_words[column] >= 0:
            own = _sides(own, category_words[column], categories)
            right.append(own)
            left.append(own)
        else:
            right.append(own)
            left.append(np.where(own == missing[column], 0, own))
    _add_scores(right + left, nodes, node_offsets, leaf_values, leaf_offsets, lane_bytes, scores)


def _value_columns(
    features: Float32Array,
    column_features: Int32Array,
    edges: Float32Array,
    edge_offsets: IntArray,
    category_words: IntArray,
    categories: Uint32Array,
) -> list[IntArray]:
    """Codes of every column: with documents that lack the value right of all thresholds, then with them left."""
    right, left = [], []
    for column, feature in enumerate(column_features):
        own, values = edges[edge_offsets[column] : edge_offsets[column + 1]], features[:, feature]
        code = np.searchsorted(own, values, side="left")
        if category_words[column] >= 0:
            code = _sides(np.where(np.isin(values, own), code, len(own)), category_words[column], categories)
            right.append(code)
            left.append(code)
        else:
            right.append(np.where(np.isnan(values), len(own), code))
            left.append(np.where(np.isnan(values), 0, code))
    return right + left


def _sides(codes: IntArray, first_word: int, categories: Uint32Array) -> IntArray:
    """0 where a category goes left, 1 where it goes right."""
    words = categories[first_word + codes // 32].astype(np.int64)
    return 1 - ((words >> (codes % 32)) & 1)


def _add_scores(
    columns: list[IntArray],
    nodes: Uint32Array,
    node_offsets: IntArray,
    leaf_values: Float32Array,
    leaf_offsets: IntArray,
    lane_bytes: int,
    scores: Float64Array,
) -> None:
    trees = _leaves_by_tree(columns, nodes, node_offsets, lane_bytes, len(scores))
    for start, leaves in zip(leaf_offsets[:-1], trees, strict=True):
        scores += leaf_values[start + leaves].astype(np.float64)


def _leaves_by_tree(
    columns: list[IntArray], nodes: Uint32Array, node_offsets: IntArray, lane_bytes: int, n_docs: int
) -> Iterator[IntArray]:
    lane = 256**lane_bytes - 1
    for start, stop in pairwise(node_offsets):
        at = np.zeros(n_docs, np.int64)
        for _, column, first, code, right in nodes[start:stop].tolist():
            at[(at == (first & lane)) & (columns[column] > (code & lane))] = right & lane
        yield at
