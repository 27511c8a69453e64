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

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.forests import codes_of_values
from rankwright.kernels.records import FeatureColumns, ForestTrees, SplitShares


class _LeafGame(NamedTuple):
    """A leaf: the features on its path, in ascending order, and for each whether a document passes, and the share."""

    value: float
    features: tuple[int, ...]
    passes: tuple[BoolArray, ...]  # by document
    shares: tuple[float, ...]


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


def _sides(codes: list[IntArray], trees: ForestTrees) -> BoolArray:
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
        paths: list[dict[int, tuple[BoolArray, float]]] = [{} for _ in range(start, stop)]
        for node in range(stop - start):
            feature, share = int(shares.feature[start + node]), float(shares.share[start + node])
            passes, passed = paths[node].get(feature, (np.ones(len(features), np.bool_), 1.0))
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


def _worths(game: _LeafGame) -> Float64Array:
    """What each coalition gets for each document: in coalition c, a number, feature k of the path is where bit k is."""
    worths = np.full((len(game.passes[0]), 1), game.value)
    for passes, share in zip(game.passes, game.shares, strict=True):
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
    player, worths = game.features.index(feature), _worths(game)
    others, orders = _others(len(game.features), player)
    return np.asarray(((worths[:, others | 1 << player] - worths[:, others]) * orders).sum(axis=1))


def _interaction(game: _LeafGame, one: int, other: int) -> Float64Array:
    first, second = 1 << game.features.index(one), 1 << game.features.index(other)
    worths = _worths(game)
    others, orders = _others(len(game.features), game.features.index(one), game.features.index(other))
    with_second = worths[:, others | first | second] - worths[:, others | second]
    return np.asarray(((with_second - (worths[:, others | first] - worths[:, others])) * orders).sum(axis=1))
