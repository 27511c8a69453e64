"""The best split of a leaf: sums by bin, gains, and the candidates that chance leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.kernels.naive.common import about_normal, stream_of
from rankwright.kernels.records import SplitColumns, TreeSettings

# The numbers before them are those of rows, whose rounding is drawn under the same key.
FIRST_NOISE_STREAM = 2**32
FIRST_DRAW_STREAM = 2**33


class SplitChance(NamedTuple):
    """The chance of one leaf or level: the features that take part, and the noise on the roots of gains."""

    features: IntArray
    deviation: float
    noise_key: int

    def worth(self, gain: float, feature: int) -> float:
        """What the feature's best split is drawn by."""
        return float(np.sqrt(gain) + self.deviation * about_normal(stream_of(self.noise_key, feature))[0])


class TreeChance(NamedTuple):
    """The chance of all leaves or levels of a tree; each split draws `fraction` of the features."""

    features: IntArray
    fraction: float
    deviation: float
    key: int

    def of(self, number: int) -> SplitChance:
        """The chance of a node or level."""
        n_drawn = max(int(np.floor(self.fraction * len(self.features) + 0.5)), 1)
        draws = stream_of(stream_of(self.key, FIRST_DRAW_STREAM + number), self.features)
        drawn = self.features[np.sort(np.argsort(draws)[:n_drawn])]
        return SplitChance(drawn, self.deviation, int(stream_of(self.key, FIRST_NOISE_STREAM + number)[0]))


Bounds = tuple[float, float]
SMALLEST_RELATIVE_GAIN = 2.0**-40  # a gain smaller than this part of the leaf's score may be nothing but rounding


class GainRule(NamedTuple):
    """What a leaf scores without a split, and what a split must gain more than."""

    before: float
    least: float


@dataclass(frozen=True, slots=True)
class SplitRules:
    """Which splits are allowed, and how good they are; `scale` whole numbers stand for a curvature of 1."""

    settings: TreeSettings
    scale: float
    constrained: bool

    @property
    def newton(self) -> bool:
        """Whether a split is valued by its Newton steps, not by least squares."""
        return self.settings.split_gain == "newton"

    @property
    def l2(self) -> float:
        """What is added to curvatures, in units of the whole numbers."""
        return self.settings.l2 * self.scale

    def denominator(self, sums: IntArray) -> Any:
        """What the squared gradient is divided by."""
        return sums[..., 1] + self.l2 if self.newton else sums[..., 2].astype(np.float64)

    def allows(self, sums: IntArray) -> BoolArray:
        """Whether a child may have these sums."""
        min_curvature = self.settings.min_curvature_in_leaf * self.scale
        enough = (sums[..., 2] >= self.settings.min_docs_in_leaf) & (sums[..., 1] >= min_curvature)
        return np.asarray(enough & (self.denominator(sums) > 0))

    def value(self, sums: IntArray, bounds: Bounds) -> Any:
        """The Newton step, within bounds."""
        below = sums[..., 1] + self.l2
        step = np.where(below > 0, -sums[..., 0].astype(np.float64) / np.where(below > 0, below, 1.0), 0.0)
        return np.clip(step, *bounds)

    def score(self, sums: IntArray, bounds: Bounds) -> Any:
        """Twice the amount by which a leaf's value lowers the cost, to second order."""
        gradient, below = sums[..., 0].astype(np.float64), self.denominator(sums)
        if self.newton and self.constrained:
            step = self.value(sums, bounds)
            return -(2.0 * gradient * step + below * step * step)
        return np.where(below > 0, gradient * gradient / np.where(below > 0, below, 1.0), 0.0)

    def gain_rule(self, leaf: IntArray, bounds: Bounds, least: float) -> GainRule:
        """Which gains count in a leaf."""
        before = float(self.score(leaf, bounds))
        return GainRule(before, max(least, before * SMALLEST_RELATIVE_GAIN))

    def score_of_two(self, left: IntArray, right: IntArray, bounds: Bounds) -> Any:
        """The score of two leaves together; without bounds it takes a single division."""
        if self.newton and self.constrained:
            return self.score(left, bounds) + self.score(right, bounds)
        a, b = left[..., 0].astype(np.float64), right[..., 0].astype(np.float64)
        below_a, below_b = self.denominator(left), self.denominator(right)
        return (a * a * below_b + b * b * below_a) / (below_a * below_b)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A way to split a leaf: `goes_left` tells for each code, missing values last, whether it goes left."""

    score: float
    feature: int
    bin: int  # the last one that goes left; -1 of a categorical feature
    left: IntArray
    goes_left: BoolArray


NO_SPLIT = Split(-np.inf, -1, -1, np.zeros(3, np.int64), np.zeros(0, bool))


def best_split(
    bins: Sequence[IntArray],
    columns: SplitColumns,
    rules: SplitRules,
    bounds: Bounds,
    rule: GainRule,
    chance: SplitChance,
) -> Split:
    """The best split of the leaf that has these sums by feature and bin, or with noise the one drawn.

    Among equal scores the lowest feature wins, within it the lowest bin, and there missing values on the right. With
    noise, only splits that gain enough take part in the draw.
    """
    best, most = NO_SPLIT, -np.inf
    for feature in chance.features:
        own = _best_of_feature(bins[feature], int(feature), columns, rules, bounds)
        gain, worth = own.score - rule.before, own.score
        if chance.deviation > 0:
            worth = chance.worth(gain, feature) if gain > rule.least else -np.inf
        if (worth, own.score) > (most, best.score):
            best, most = own, worth
    return best


def _best_of_feature(bins: IntArray, feature: int, columns: SplitColumns, rules: SplitRules, bounds: Bounds) -> Split:
    best = NO_SPLIT
    if columns.categorical[feature]:
        candidates = _category_splits(bins, feature, rules, bounds)
    else:
        candidates = _number_splits(bins, feature, int(columns.monotone[feature]), rules, bounds)
    for candidate in candidates:
        if (candidate.score, -candidate.bin) > (best.score, -best.bin):
            best = candidate
    return best


def _number_splits(bins: IntArray, feature: int, direction: int, rules: SplitRules, bounds: Bounds) -> Iterator[Split]:
    """The best split with missing values on the right, then the best one with them on the left."""
    present, missing, leaf = bins[:-1], bins[-1], bins.sum(axis=0)
    places = np.cumsum(present, axis=0)
    for missing_left in (False, True) if missing[2] > 0 else (False,):
        left = places + missing if missing_left else places
        scores = scores_of(left, leaf - left, direction, rules, bounds)
        bin = int(np.argmax(scores))
        if scores[bin] > -np.inf:
            goes_left = np.arange(len(bins)) <= bin
            goes_left[-1] = missing_left if missing[2] > 0 else 2 * left[bin, 2] >= leaf[2]
            yield Split(float(scores[bin]), feature, bin, left[bin], goes_left)


def scores_of(left: IntArray, right: IntArray, direction: int, rules: SplitRules, bounds: Bounds) -> Float64Array:
    """The score of each way to divide a leaf; minus infinity where it is not allowed."""
    allowed = rules.allows(left) & rules.allows(right)
    allowed &= direction * (rules.value(right, bounds) - rules.value(left, bounds)) >= 0
    scores = np.full(len(left), -np.inf)
    scores[allowed] = rules.score_of_two(left[allowed], right[allowed], bounds)
    return scores


def _category_splits(bins: IntArray, feature: int, rules: SplitRules, bounds: Bounds) -> Iterator[Split]:
    """Categories in the order of their mean gradient, cut at the best place; missing values are one more category."""
    leaf = bins.sum(axis=0)
    mean = rules.denominator(leaf) / leaf[2]
    seen = np.flatnonzero(bins[:, 2] > 0)
    below = rules.denominator(bins[seen]) + rules.settings.category_smoothing * mean
    ratio = np.where(below > 0, bins[seen, 0].astype(np.float64) / np.where(below > 0, below, 1.0), 0.0)
    order = seen[np.argsort(ratio, kind="stable")]
    left = np.cumsum(bins[order], axis=0)[:-1]
    if len(left) == 0:
        return
    scores = scores_of(left, leaf - left, 0, rules, bounds)
    n_left = np.arange(1, len(order))
    scores[np.minimum(n_left, len(order) - n_left) > rules.settings.max_split_categories] = -np.inf
    best = int(np.argmax(scores))
    if scores[best] > -np.inf:
        goes_left = np.isin(np.arange(len(bins)), order[: best + 1])
        if bins[-1, 2] == 0:
            goes_left[-1] = 2 * left[best, 2] >= leaf[2]
        goes_left[bins[:, 2] == 0] = goes_left[-1]
        yield Split(float(scores[best]), feature, -1, left[best], goes_left)
