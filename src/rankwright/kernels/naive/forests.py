"""Twins of the kernels on forests: bins of their features, scores, and what features add to scores.

`ForestTrees` explains how trees are laid out. What features add is told by games that every coalition plays. A tree's
value is the sum over its leaves, and a leaf is a game of the features on its path. A coalition gets the leaf's value
times, for each feature in it, whether the document passes the path's splits on that feature, and for each one outside
it, the share of all documents that do. What holds for the sum of games holds for each: they are counted alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, CodeArray, Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.common import codes_by_row, slices
from rankwright.kernels.records import FeatureColumns, ForestTrees, SplitShares


def find_thresholds(
    features: Float32Array,
    rows: IntArray,
    max_bins: int,
    thresholds: Float32Array,
    n_thresholds: IntArray,
    threads: int,
) -> None:
    """Fill row f of `thresholds` with the thresholds between the bins of feature f, found from the given rows."""
    for feature in range(features.shape[1]):
        values = features[rows, feature]
        distinct, counts = np.unique(values[~np.isnan(values)] + np.float32(0), return_counts=True)
        ends = list(_ends_of_bins(counts, max_bins))
        thresholds[feature, : len(ends)] = [_between(distinct[end], distinct[end + 1]) for end in ends]
        n_thresholds[feature] = len(ends)


def _between(a: np.float32, b: np.float32) -> np.float32:
    """A number t with a <= t < b, in the middle where rounding allows."""
    with np.errstate(invalid="ignore"):  # the middle of minus and plus infinity
        middle = np.float32((np.float64(a) + np.float64(b)) / 2)
    return middle if middle < b else a


def _ends_of_bins(counts: IntArray, max_bins: int) -> Iterator[int]:
    """The largest value of each bin but the last; `counts` has the number of rows of each distinct value."""
    if len(counts) <= max_bins:
        yield from range(len(counts) - 1)
        return
    heavy, rows_left, bins_left = _heavy_values(counts, max_bins)
    held = 0  # rows of light values in the bin being filled
    for i in range(len(counts) - 1):
        if heavy[i]:
            rows_left -= held  # light values that are too few for a bin of their own join this one
        else:
            held += int(counts[i])
            full = held * bins_left >= rows_left
            half_full_before_heavy = heavy[i + 1] and bins_left > 1 and 2 * held * bins_left >= rows_left
            if not full and not half_full_before_heavy:
                continue
            rows_left -= held
            bins_left -= 1
        held = 0
        yield i


def _heavy_values(counts: IntArray, max_bins: int) -> tuple[BoolArray, int, int]:
    """Which values fill a bin alone, and how many rows and bins remain for the other values."""
    heavy = np.zeros(len(counts), bool)
    rows_left, bins_left = int(counts.sum()), max_bins
    while (more := ~heavy & (counts * bins_left >= rows_left)).any():
        heavy |= more
        rows_left -= int(counts[more].sum())
        bins_left -= int(more.sum())
    return heavy, rows_left, bins_left


def bin_features(
    features: Float32Array,
    order: IntArray,
    edges: Float32Array,
    offsets: IntArray,
    categorical: BoolArray,
    first_row: int,
    codes: CodeArray,
    threads: int,
) -> None:
    """Fill the codes of rows from `first_row` on: how many edges are smaller or, for a category, which one is equal.

    Row `order[0]` of the features comes first; where `order` is empty, rows come as they are.
    """
    features = features[order] if len(order) else features
    by_row = np.zeros((len(features), codes.shape[0] * codes.shape[2]), codes.dtype)
    for feature in range(features.shape[1]):
        own = edges[offsets[feature] : offsets[feature + 1]]
        values, code = features[:, feature], np.searchsorted(own, features[:, feature])
        if categorical[feature]:
            by_row[:, feature] = np.where(np.isin(values, own), code, len(own))
        else:
            by_row[:, feature] = np.where(np.isnan(values), len(own) + 1, code)
    codes[:, first_row : first_row + len(features)] = by_row.reshape(len(features), *codes.shape[::2]).swapaxes(0, 1)


def score_forest(
    features: Float32Array,
    columns: FeatureColumns,
    tables: Float32Array,
    trees: ForestTrees,
    scores: Float64Array,
    threads: int,
) -> None:
    """Add each tree's value for each document to its score, tree after tree."""
    _add_scores(_codes_of_values(features, columns), trees, scores)


def score_by_bits(
    features: Float32Array,
    columns: FeatureColumns,
    tables: Float32Array,
    trees: ForestTrees,
    scores: Float64Array,
    threads: int,
) -> None:
    """The same as `score_forest` for trees whose nodes are bits of the numbers of leaves."""
    codes, lane = _codes_of_values(features, columns), 256**trees.lane_bytes - 1
    for start, own in zip(trees.leaf_offsets[:-1], slices(trees.node_offsets), strict=True):
        number = np.zeros(len(scores), np.int64)
        for _, column, _, code, bit in trees.nodes[own].tolist():
            number[codes[column] > (code & lane)] |= bit & lane
        scores += trees.leaf_values[start + number].astype(np.float64)


def find_leaves(
    features: Float32Array,
    columns: FeatureColumns,
    tables: Float32Array,
    trees: ForestTrees,
    leaves: NDArray[np.uint16],
    threads: int,
) -> None:
    """Fill `leaves[row, tree]` with the number of the leaf each document reaches."""
    for tree, numbers in enumerate(_leaves_by_tree(_codes_of_values(features, columns), trees, len(features))):
        leaves[:, tree] = numbers


def score_codes(
    codes: CodeArray, columns: FeatureColumns, missing: IntArray, trees: ForestTrees, scores: Float64Array, threads: int
) -> None:
    """Add each tree's value for each document, given by its bin codes, to its score."""
    by_column = codes_by_row(codes).astype(np.int64).T[columns.features]
    _add_scores(_missing_right_and_left(by_column, by_column == missing[:, None], columns), trees, scores)


def _codes_of_values(features: Float32Array, columns: FeatureColumns) -> list[IntArray]:
    values, codes = features.T[columns.features], []
    for column, own in enumerate(slices(columns.offsets)):
        edges = columns.edges[own]
        known = np.isin(values[column], edges) if columns.category_words[column] >= 0 else ~np.isnan(values[column])
        codes.append(np.where(known, np.searchsorted(edges, values[column]), len(edges)))
    return _missing_right_and_left(codes, np.isnan(values), columns)


def _missing_right_and_left(codes: Iterable[IntArray], missing: BoolArray, columns: FeatureColumns) -> list[IntArray]:
    """Codes of every column, first with missing values right of all thresholds, then with them left.

    A category has code 0 where it goes left, and 1 where it goes right.
    """
    right, left = [], []
    for code, is_missing, first_word in zip(codes, missing, columns.category_words.tolist(), strict=True):
        words = columns.categories[first_word + code // 32].astype(np.int64) if first_word >= 0 else None
        right.append(code if words is None else 1 - ((words >> (code % 32)) & 1))
        left.append(np.where(is_missing, 0, code) if words is None else right[-1])
    return right + left


def _add_scores(codes: list[IntArray], trees: ForestTrees, scores: Float64Array) -> None:
    by_tree = _leaves_by_tree(codes, trees, len(scores))
    for start, leaves in zip(trees.leaf_offsets[:-1], by_tree, strict=True):
        scores += trees.leaf_values[start + leaves].astype(np.float64)


def _leaves_by_tree(codes: list[IntArray], trees: ForestTrees, n_docs: int) -> Iterator[IntArray]:
    lane = 256**trees.lane_bytes - 1
    for own in slices(trees.node_offsets):
        at = np.zeros(n_docs, np.int64)
        for _, column, first, code, right in trees.nodes[own].tolist():
            at[(at == (first & lane)) & (codes[column] > (code & lane))] = right & lane
        yield at


class _LeafGame(NamedTuple):
    """A leaf, and for each feature on its path, in ascending order, which documents pass, and the share that does."""

    value: float
    path: dict[int, tuple[BoolArray, float]]


def tree_contributions(
    features: Float32Array,
    columns: FeatureColumns,
    tables: Float32Array,
    trees: ForestTrees,
    shares: SplitShares,
    out: Float64Array,
    threads: int,
) -> None:
    """Fill `out[row, feature]` with what each feature adds to the score: its Shapley value in the sum of all leaves."""
    out[:] = 0.0
    for game in _games(features, columns, trees, shares):
        for feature in game.path:
            out[:, feature] += _shapley_value(game, feature)


def background_contributions(
    features: Float32Array,
    background: Float32Array,
    columns: FeatureColumns,
    tables: Float32Array,
    trees: ForestTrees,
    shares: SplitShares,
    out: Float64Array,
    threads: int,
) -> None:
    """The same where a feature outside the coalition has the value of a background document; the mean over all."""
    out[:] = 0.0
    for other in background:
        sides = _go_left(other[None], columns, trees)
        goes_left = SplitShares(shares.feature, sides[:, 0].astype(np.float64), shares.left, shares.right)
        for game in _games(features, columns, trees, goes_left):
            for feature in game.path:
                out[:, feature] += _shapley_value(game, feature) / len(background)


def tree_interactions(
    features: Float32Array,
    columns: FeatureColumns,
    tables: Float32Array,
    trees: ForestTrees,
    shares: SplitShares,
    out: Float64Array,
    threads: int,
) -> None:
    """Fill `out[row, one * n_features + other]` with half of what two features add by acting together.

    On the diagonal stands what is left of the feature's contribution, so that rows add up to contributions.
    """
    n_features = features.shape[1]
    square = out.reshape(len(features), n_features, n_features)
    square[:] = 0.0
    for game in _games(features, columns, trees, shares):
        for one, other in combinations(game.path, 2):
            together = _interaction(game, one, other) / 2
            square[:, one, other] += together
            square[:, other, one] += together
    alone = np.zeros(features.shape)
    tree_contributions(features, columns, tables, trees, shares, alone, threads)
    diagonal = np.arange(n_features)
    square[:, diagonal, diagonal] = alone - square.sum(axis=2)


def _go_left(features: Float32Array, columns: FeatureColumns, trees: ForestTrees) -> BoolArray:
    """Whether each document goes left at each node."""
    codes, lane = _codes_of_values(features, columns), 256**trees.lane_bytes - 1
    sides = [codes[column] <= (code & lane) for _, column, _, code, _ in trees.nodes.tolist()]
    return np.array(sides, np.bool_).reshape(len(trees.nodes), -1)


def _games(
    features: Float32Array, columns: FeatureColumns, trees: ForestTrees, shares: SplitShares
) -> Iterator[_LeafGame]:
    goes_left = _go_left(features, columns, trees)
    for own, first_leaf in zip(slices(trees.node_offsets), trees.leaf_offsets.tolist(), strict=False):
        paths: dict[int, dict[int, tuple[BoolArray, float]]] = {0: {}}
        for node, place in enumerate(range(own.start, own.stop)):
            feature, share, left = int(shares.feature[place]), float(shares.share[place]), goes_left[place]
            passes, passed = paths[node].get(feature, (np.ones(len(features), np.bool_), 1.0))
            for child, side, part in (shares.left[place], left, share), (shares.right[place], ~left, 1 - share):
                path = paths[node] | {feature: (passes & side, passed * part)}
                if child >= 0:
                    paths[int(child)] = path
                else:
                    yield _LeafGame(float(trees.leaf_values[first_leaf - 1 - child]), dict(sorted(path.items())))


def _worths(game: _LeafGame) -> Float64Array:
    """What each coalition gets for each document: in coalition c, a number, feature k of the path is where bit k is."""
    worths = np.full((len(next(iter(game.path.values()))[0]), 1), game.value)
    for passes, share in game.path.values():
        worths = np.concatenate([worths * share, worths * passes[:, None]], axis=1)
    return worths


def _others(n_players: int, *players: int) -> tuple[IntArray, Float64Array]:
    """The coalitions without these players, and in which share of orders each stands before them all."""
    everyone = np.arange(2**n_players)
    others = everyone[(everyone & sum(1 << player for player in players)) == 0]
    n_others = n_players - len(players)
    shares = [factorial(size) * factorial(n_others - size) / factorial(n_others + 1) for size in range(n_others + 1)]
    return others, np.array([shares[int(coalition).bit_count()] for coalition in others])


def _shapley_value(game: _LeafGame, feature: int) -> Float64Array:
    player, worths = list(game.path).index(feature), _worths(game)
    others, orders = _others(len(game.path), player)
    return np.asarray(((worths[:, others | 1 << player] - worths[:, others]) * orders).sum(axis=1))


def _interaction(game: _LeafGame, one: int, other: int) -> Float64Array:
    worths, players = _worths(game), [list(game.path).index(feature) for feature in (one, other)]
    others, orders = _others(len(game.path), *players)
    first, second = (1 << player for player in players)
    with_second = worths[:, others | first | second] - worths[:, others | second]
    return np.asarray(((with_second - (worths[:, others | first] - worths[:, others])) * orders).sum(axis=1))
