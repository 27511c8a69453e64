"""Twins of the kernels that share a forest's scores out among features: games played by every coalition.

A tree's value is the sum over its leaves, and a leaf is a game of the features on its path. A coalition gets the leaf's
value times, for each feature in it, whether the document passes the path's splits on that feature, and for each one
outside it, the share of all documents that do. What holds for the sum of games holds for each: they are counted alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import factorial
from typing import NamedTuple

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array
from rankwright.kernels.naive.forests import codes_of_values
from rankwright.kernels.records import FeatureColumns, ForestTrees, SplitShares


class _LeafGame(NamedTuple):
    """A leaf: the features on its path, in ascending order, and for each whether a document passes, and the share."""

    value: float
    features: tuple[int, ...]
    passes: tuple[BoolArray, ...]  # by document
    shares: tuple[Float64Array, ...]  # by document, or one for all


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
        for feature in game.features:
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
        sides = _sides(codes_of_values(other[None], columns), trees)
        goes_left = SplitShares(shares.feature, sides[:, 0].astype(np.float64), shares.left, shares.right)
        for game in _games(features, columns, trees, goes_left):
            for feature in game.features:
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
        for one, other in combinations(game.features, 2):
            together = _interaction(game, one, other) / 2
            square[:, one, other] += together
            square[:, other, one] += together
    alone = np.zeros(features.shape)
    tree_contributions(features, columns, tables, trees, shares, alone, threads)
    diagonal = np.arange(n_features)
    square[:, diagonal, diagonal] = alone - square.sum(axis=2)


def _sides(codes: list[np.ndarray], trees: ForestTrees) -> BoolArray:
    """Whether each document goes left at each node."""
    lane = 256**trees.lane_bytes - 1
    sides = [codes[column] <= (code & lane) for _, column, _, code, _ in trees.nodes.tolist()]
    return np.array(sides, np.bool_).reshape(len(trees.nodes), -1)


def _games(
    features: Float32Array, columns: FeatureColumns, trees: ForestTrees, shares: SplitShares
) -> Iterator[_LeafGame]:
    goes_left = _sides(codes_of_values(features, columns), trees)
    starts = zip(pairwise(trees.node_offsets.tolist()), trees.leaf_offsets.tolist(), strict=False)
    for (start, stop), first_leaf in starts:
        paths: list[dict[int, tuple[BoolArray, Float64Array]]] = [{} for _ in range(start, stop)]
        for node in range(stop - start):
            feature, share = int(shares.feature[start + node]), shares.share[start + node]
            passes, passed = paths[node].get(feature, (np.ones(len(features), np.bool_), np.float64(1)))
            left = goes_left[start + node]
            for child, side, part in (
                (int(shares.left[start + node]), left, share),
                (int(shares.right[start + node]), ~left, 1 - share),
            ):
                path = paths[node] | {feature: (passes & side, passed * part)}
                if child >= 0:
                    paths[child] = path
                else:
                    value = float(trees.leaf_values[first_leaf - 1 - child])
                    names = tuple(sorted(path))
                    yield _LeafGame(
                        value, names, tuple(path[name][0] for name in names), tuple(path[name][1] for name in names)
                    )


def _worth(game: _LeafGame, coalition: frozenset[int]) -> Float64Array:
    """What a coalition gets, for each document."""
    worth = np.full(len(game.passes[0]), game.value)
    for feature, passes, share in zip(game.features, game.passes, game.shares, strict=True):
        worth = worth * (passes if feature in coalition else share)
    return worth


def _coalitions(players: list[int]) -> Iterator[frozenset[int]]:
    for size in range(len(players) + 1):
        yield from map(frozenset, combinations(players, size))


def _shapley_value(game: _LeafGame, feature: int) -> Float64Array:
    others = [name for name in game.features if name != feature]
    total = np.zeros(len(game.passes[0]))
    for coalition in _coalitions(others):
        orders = factorial(len(coalition)) * factorial(len(others) - len(coalition)) / factorial(len(others) + 1)
        total += orders * (_worth(game, coalition | {feature}) - _worth(game, coalition))
    return total


def _interaction(game: _LeafGame, one: int, other: int) -> Float64Array:
    others = [name for name in game.features if name not in (one, other)]
    total = np.zeros(len(game.passes[0]))
    for coalition in _coalitions(others):
        orders = factorial(len(coalition)) * factorial(len(others) - len(coalition)) / factorial(len(others) + 1)
        with_one = _worth(game, coalition | {one, other}) - _worth(game, coalition | {other})
        total += orders * (with_one - (_worth(game, coalition | {one}) - _worth(game, coalition)))
    return total
