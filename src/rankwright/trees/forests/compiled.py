"""A forest laid out for scoring: see `native/core/forests/forest.hpp` for the idea.

Leaves are numbered from left to right within their tree. A document that reaches a node with a greater code than the
node's, in the node's column, gets the number of the first leaf of its right child.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, IntArray
from rankwright.errors import InputError
from rankwright.kernels.records import FeatureColumns, ForestTrees
from rankwright.trees.params import MAX_LEAVES

if TYPE_CHECKING:
    from rankwright.trees.bins.binning import BinMapper
    from rankwright.trees.forests.forest import Forest

MAX_BYTE_EDGES = 255
MAX_EDGES = 2**16 - 1
TABLE_EDGES = 256  # edges in a search table, followed by every 16th of them
READABLE_AFTER = 64  # values that may be read beyond any leaf's own
MOST_BITS = 8  # of the numbers of leaves, where these tell which way each split goes


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CompiledTrees(ForestTrees):
    """Some trees of a forest, ready to score."""

    inner_nodes: IntArray  # which node of the forest each node is
    leaf_nodes: IntArray  # which node of the forest each leaf is
    by_bits: bool = False  # whether nodes are bits of the numbers of leaves

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.node_offsets) - 1

    def part(self, first: int, last: int) -> CompiledTrees:
        """Trees `first` to `last`, without `last` itself; leaves and nodes are numbered as in the whole forest."""
        some = slice(first, last + 1)
        return replace(self, node_offsets=self.node_offsets[some], leaf_offsets=self.leaf_offsets[some])


@dataclass(frozen=True, slots=True, eq=False)
class CompiledForest:
    """Consecutive trees of a forest, ready to score raw values."""

    trees: CompiledTrees
    columns: FeatureColumns
    tables: Float32Array  # a search table per column where codes are bytes


def compile_forest(forest: Forest) -> list[CompiledForest]:
    """`forest` made ready to score raw values: in one piece, unless a feature has more thresholds than codes."""
    columns, column, code = _value_columns(forest)
    n_edges = np.diff(columns.offsets).max(initial=0)
    if n_edges > MAX_EDGES and forest.n_trees > 1:
        middle = forest.n_trees // 2
        return compile_forest(forest.part(0, middle)) + compile_forest(forest.part(middle, forest.n_trees))
    trees = _compile_nodes(forest, column, code, len(columns.features), byte_codes=bool(n_edges <= MAX_BYTE_EDGES))
    tables = _search_tables(columns) if trees.lane_bytes == 1 else np.empty((0, 0), np.float32)
    return [CompiledForest(trees, columns, tables)]


def compile_to_score(forest: Forest, compiled: list[CompiledForest]) -> list[CompiledForest]:
    """The same in a form that is only good to score: each tree's different splits, where nodes repeat them."""
    if len(compiled) > 1:
        return compiled
    return [replace(compiled[0], trees=_by_bits(forest, compiled[0].trees) or compiled[0].trees)]


def compile_for_codes(forest: Forest, mapper: BinMapper) -> tuple[CompiledTrees, FeatureColumns, IntArray]:
    """`forest` made ready to score codes of `mapper`: trees, columns, and each column's code of missing values."""
    numbers = (forest.feature >= 0) & ~np.isnan(forest.threshold)
    used, place = np.unique(forest.feature[numbers], return_inverse=True)
    column, code = np.zeros(len(forest.feature), np.int64), np.zeros(len(forest.feature), np.int64)
    column[numbers] = place
    code[numbers] = bins_of_nodes(forest, numbers, mapper)
    features, words, category_words = _with_category_columns(forest, used, column)
    check_categories(forest, features[len(used) :], mapper)
    no_edges = np.empty(0, np.float32), np.zeros(len(features) + 1, np.int64)
    columns = FeatureColumns(features, *no_edges, words, category_words)
    trees = _compile_nodes(forest, column, code, len(features), byte_codes=mapper.code_dtype == np.uint8)
    return trees, columns, mapper.n_bins[features]


def check_categories(forest: Forest, features: NDArray[np.int32], mapper: BinMapper) -> None:
    """Raise unless a category's code in the bins is its place in the forest: codes are looked up in a node's words."""
    for feature in np.unique(features).tolist():
        known = forest.categories_of(feature)
        if not (mapper.categorical[feature] and np.array_equal(known, mapper.edges_of(feature))):
            raise InputError(
                f"the forest knows other categories of feature {feature} than the bins: score raw values instead"
            )


def bins_of_nodes(forest: Forest, numbers: BoolArray, mapper: BinMapper) -> IntArray:
    """The bin after which each node cuts."""
    bins = np.empty(int(numbers.sum()), np.int64)
    features, thresholds = forest.feature[numbers], forest.threshold[numbers]
    for feature in np.unique(features):
        own = features == feature
        edges = np.append(mapper.edges_of(int(feature)), np.float32(np.inf))
        bins[own] = np.searchsorted(edges, thresholds[own])
        if (edges[bins[own]] != thresholds[own]).any():
            raise InputError(
                f"the forest cuts feature {feature} between the bins' edges; it was trained on other bins: "
                f"score raw values instead"
            )
    return bins


def _value_columns(forest: Forest) -> tuple[FeatureColumns, IntArray, IntArray]:
    """The columns of raw values, and the column and code of each node."""
    column, code = np.zeros(len(forest.feature), np.int64), np.zeros(len(forest.feature), np.int64)
    numbers = np.flatnonzero((forest.feature >= 0) & ~np.isnan(forest.threshold))
    features, thresholds = forest.feature[numbers], forest.threshold[numbers] + np.float32(0)
    order = np.lexsort((thresholds, features))
    features, thresholds = features[order], thresholds[order]
    new_feature = np.diff(features, prepend=-1) != 0
    new_edge = new_feature | (np.concatenate([[True], thresholds[1:] != thresholds[:-1]])[: len(order)])
    edge_number = np.cumsum(new_edge) - 1
    column_number = np.cumsum(new_feature) - 1
    starts = edge_number[new_feature]
    column[numbers[order]] = column_number
    code[numbers[order]] = edge_number - starts[column_number]
    used = features[new_feature]
    features, words, category_words = _with_category_columns(forest, used, column)
    edges = [thresholds[new_edge], *(forest.categories_of(int(feature)) for feature in features[len(used) :])]
    lengths = [*np.diff(np.append(starts, new_edge.sum())), *(len(own) for own in edges[1:])]
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return FeatureColumns(features, np.concatenate(edges), offsets, words, category_words), column, code


def _with_category_columns(
    forest: Forest, used: NDArray[np.int32], column: IntArray
) -> tuple[NDArray[np.int32], IntArray, NDArray[np.uint32]]:
    """Columns of numbers, of the features `used`, and after them one for every way in which categories are split.

    Returns the feature of each column, where its words begin (-1 for numbers), and the words: the bit after the last
    category tells where other values go. Nodes that split categories get their number in `column`.
    """
    nodes = np.flatnonzero((forest.feature >= 0) & np.isnan(forest.threshold))
    width = forest.categories.shape[1] + 1
    keys = np.zeros((len(nodes), width + 1), np.uint32)
    keys[:, 0] = forest.feature[nodes]
    keys[:, 1:width] = forest.categories[nodes]
    n_categories = np.diff(forest.category_offsets)[forest.feature[nodes]]
    last = forest.missing_left[nodes].astype(np.uint32) << (n_categories % 32).astype(np.uint32)
    keys[np.arange(len(nodes)), 1 + n_categories // 32] |= last
    distinct, place = np.unique(keys, axis=0, return_inverse=True)
    column[nodes] = len(used) + place.reshape(-1)
    features = np.concatenate([used, distinct[:, 0]]).astype(np.int32)
    words = np.concatenate([np.full(len(used), -1), width * np.arange(len(distinct))])
    return features, words, np.ascontiguousarray(distinct[:, 1:]).reshape(-1)


def _search_tables(columns: FeatureColumns) -> Float32Array:
    tables = np.full((len(columns.features), TABLE_EDGES + 16), np.inf, np.float32)
    for column, (start, stop) in enumerate(zip(columns.offsets[:-1], columns.offsets[1:], strict=True)):
        tables[column, : stop - start] = columns.edges[start:stop]
    tables[:, TABLE_EDGES:] = tables[:, 15:TABLE_EDGES:16]
    return tables


def _compile_nodes(
    forest: Forest, column: IntArray, code: IntArray, n_columns: int, *, byte_codes: bool
) -> CompiledTrees:
    tree, depth, n_leaves, first = number_leaves(forest)
    leaves_by_tree = n_leaves[forest.offsets[:-1]]
    most = int(leaves_by_tree.max(initial=1))
    if most > MAX_LEAVES:
        raise InputError(f"a tree may have at most {MAX_LEAVES} leaves to be scored, got {most}")
    bytes_do = byte_codes and most <= 256
    inner = np.flatnonzero(forest.feature >= 0)
    inner = inner[np.lexsort((first[inner], depth[inner], tree[inner]))]
    on_left = forest.missing_left[inner] & ~np.isnan(forest.threshold[inner])
    repeat = np.uint32(0x01010101 if bytes_do else 0x00010001)
    nodes = np.empty((len(inner), 5), np.uint32)
    nodes[:, 0] = column[inner]
    nodes[:, 1] = column[inner] + n_columns * on_left
    for field, numbers in ((2, first[inner]), (3, code[inner]), (4, first[forest.right[inner]])):
        nodes[:, field] = numbers.astype(np.uint32) * repeat
    leaves = np.flatnonzero(forest.feature < 0)
    leaves = leaves[np.lexsort((first[leaves], tree[leaves]))]
    return CompiledTrees(
        nodes=nodes,
        node_offsets=np.concatenate([[0], np.cumsum(leaves_by_tree - 1)]),
        leaf_values=np.concatenate([forest.value[leaves], np.zeros(READABLE_AFTER, np.float32)]),
        leaf_offsets=np.concatenate([[0], np.cumsum(leaves_by_tree)]),
        inner_nodes=inner,
        leaf_nodes=leaves,
        lane_bytes=1 if bytes_do else 2,
    )


def _by_bits(forest: Forest, trees: CompiledTrees) -> CompiledTrees | None:
    """The trees with one node for each different split; None where that does not save half of the nodes."""
    n_nodes = np.diff(trees.node_offsets)
    tree = np.repeat(np.arange(trees.n_trees), n_nodes)
    # A split is a column, which tells the side of missing values too, and a code.
    _, kind = np.unique(trees.nodes[:, 1].astype(np.uint64) << 32 | trees.nodes[:, 3], return_inverse=True)
    splits, chosen, number = np.unique(tree * len(trees.nodes) + kind, return_index=True, return_inverse=True)
    n_splits = np.bincount(tree[chosen], minlength=trees.n_trees)
    if n_splits.max(initial=0) > MOST_BITS or 2 * len(splits) > len(trees.nodes):
        return None
    offsets = np.concatenate([[0], np.cumsum(n_splits)])
    bit = np.zeros(len(forest.feature), np.int64)
    bit[trees.inner_nodes] = number - offsets[tree]
    nodes = trees.nodes[chosen]
    repeat = np.uint32(0x01010101 if trees.lane_bytes == 1 else 0x00010001)
    nodes[:, 2] = 0
    nodes[:, 4] = np.uint32(1) << (np.arange(len(chosen)) - offsets[tree[chosen]]).astype(np.uint32)
    nodes[:, 4] *= repeat
    n_numbers = 1 << n_splits
    leaf_offsets = np.concatenate([[0], np.cumsum(n_numbers)])
    leaves = _leaves_by_number(forest, bit, n_numbers, leaf_offsets)
    return replace(
        trees,
        nodes=nodes,
        node_offsets=offsets,
        leaf_values=np.concatenate([forest.value[leaves], np.zeros(READABLE_AFTER, np.float32)]),
        leaf_offsets=leaf_offsets,
        inner_nodes=trees.inner_nodes[chosen],
        leaf_nodes=leaves,
        by_bits=True,
    )


def _leaves_by_number(forest: Forest, bit: IntArray, n_numbers: IntArray, offsets: IntArray) -> IntArray:
    """The leaf of each tree for every number whose bits say which way the splits go."""
    numbers = np.arange(offsets[-1]) - np.repeat(offsets[:-1], n_numbers)
    at = np.repeat(forest.root, n_numbers)
    while (inner := forest.feature[at] >= 0).any():
        right = (numbers >> bit[at]) & 1 == 1
        at = np.where(inner, np.where(right, forest.right[at], forest.left[at]), at)
    return at


def levels_of(forest: Forest) -> list[IntArray]:
    """The nodes of all trees by their depth: the roots, their children, and so on; the last level is empty."""
    levels = [forest.root]
    while len(levels[-1]):
        parents = levels[-1][forest.feature[levels[-1]] >= 0]
        levels.append(np.concatenate([forest.left[parents], forest.right[parents]]).astype(np.int64))
    return levels


def number_leaves(forest: Forest) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """For each node: its tree, its depth, how many leaves are below it, and the number of the first of them."""
    sizes = np.diff(forest.offsets)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    depth = np.zeros(len(tree), np.int64)
    n_leaves, first = np.ones(len(tree), np.int64), np.zeros(len(tree), np.int64)
    levels = levels_of(forest)
    for level in reversed(levels):
        parents = level[forest.feature[level] >= 0]
        n_leaves[parents] = n_leaves[forest.left[parents]] + n_leaves[forest.right[parents]]
    for number, level in enumerate(levels):
        depth[level] = number
        parents = level[forest.feature[level] >= 0]
        first[forest.left[parents]] = first[parents]
        first[forest.right[parents]] = first[parents] + n_leaves[forest.left[parents]]
    return tree, depth, n_leaves, first
