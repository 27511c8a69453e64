"""How the twin of the tree grower finds the split of a whole level: the sum of what its leaves gain."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.kernels.naive.trees.chance import SplitChance
from rankwright.kernels.naive.trees.split import NO_SPLIT, Bounds, Split, SplitRules, scores_of
from rankwright.kernels.records import SplitColumns


class LevelLeaf(NamedTuple):
    """A leaf of the level: the sums of its documents by bin, of each feature, and what its value may be."""

    bins: list[IntArray]
    bounds: Bounds


class LevelSplit(NamedTuple):
    """A split of all leaves, and what they gain by it; `any_missing` tells whether a document lacks the feature."""

    gain: float
    feature: int
    bin: int
    missing_left: bool
    any_missing: bool


def best_of_level(leaves: list[LevelLeaf], columns: SplitColumns, rules: SplitRules, chance: SplitChance) -> LevelSplit:
    """The split that gains most, or with noise the one drawn; what leaves gain is added up in their order.

    Among equals the lowest feature wins, within it the lowest bin, and there missing values on the right.
    """
    best, most = LevelSplit(0.0, -1, -1, False, False), -np.inf
    for feature in chance.features:
        any_missing = any(leaf.bins[feature][-1, 2] > 0 for leaf in leaves)
        gains = np.zeros((columns.n_bins[feature], 2))  # with missing values on the right, on the left
        for leaf in leaves:
            for side in range(1 + any_missing):
                gains[:, side] += _gains(leaf, int(feature), bool(side), columns, rules)
        bin, side = divmod(int(np.argmax(gains)), 2)
        gain = float(gains.max(initial=0.0))
        worth = chance.worth(gain, feature) if chance.deviation > 0 else gain
        if gain > 0 and (worth, gain) > (most, best.gain):
            best, most = LevelSplit(gain, int(feature), bin, bool(side), any_missing), worth
    return best


def split_in_leaf(leaf: LevelLeaf, level: LevelSplit, columns: SplitColumns, rules: SplitRules) -> Split:
    """The level's split in one of its leaves; its score is what the leaf gains, 0 where it takes no part."""
    gain = float(_gains(leaf, level.feature, level.missing_left, columns, rules)[level.bin])
    if gain == 0:
        return NO_SPLIT
    goes_left = np.arange(columns.n_bins[level.feature] + 1) <= level.bin
    goes_left[-1] = level.missing_left
    left = leaf.bins[level.feature][goes_left].sum(axis=0)
    return Split(gain, level.feature, level.bin, left, goes_left)


def _gains(leaf: LevelLeaf, feature: int, missing_left: bool, columns: SplitColumns, rules: SplitRules) -> Float64Array:
    """What the leaf gains by each place; 0 where it takes no part."""
    bins = leaf.bins[feature]
    total: IntArray = bins.sum(axis=0)
    left = np.cumsum(bins[:-1], axis=0) + (bins[-1] if missing_left else 0)
    rule = rules.gain_rule(total, leaf.bounds, 0.0)
    gains = scores_of(left, total - left, int(columns.monotone[feature]), rules, leaf.bounds) - rule.before
    return np.where(gains > rule.least, gains, 0.0)
