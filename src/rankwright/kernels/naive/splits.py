"""How the twin of the tree grower finds a leaf's best split: every feature, every place, one formula."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, CodeArray, IntArray

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LeafSums:
    """Sums over documents, in whole numbers."""

    gradient: int
    curvature: int
    count: int

    @classmethod
    def of(cls, documents: IntArray | NDArray[np.int32]) -> LeafSums:
        """The sums of rows of gradient, curvature and 1."""
        return cls(*documents.sum(axis=0, dtype=np.int64).tolist())

    def __add__(self, other: LeafSums) -> LeafSums:
        return LeafSums(self.gradient + other.gradient, self.curvature + other.curvature, self.count + other.count)

    def __sub__(self, other: LeafSums) -> LeafSums:
        return LeafSums(self.gradient - other.gradient, self.curvature - other.curvature, self.count - other.count)


NOTHING = LeafSums(0, 0, 0)


@dataclass(frozen=True, slots=True)
class SplitRules:
    """What makes a split allowed, and good; curvatures and l2 in units of the whole numbers."""

    min_docs: int
    min_curvature: float
    l2: float
    newton: bool
    constrained: bool
    category_smoothing: float
    max_split_categories: int

    def denominator(self, side: LeafSums) -> float:
        """What the squared gradient is divided by."""
        return float(side.curvature) + self.l2 if self.newton else float(side.count)

    def allows(self, side: LeafSums) -> bool:
        """Whether a child may have these sums."""
        return side.count >= self.min_docs and side.curvature >= self.min_curvature and self.denominator(side) > 0

    def value(self, side: LeafSums, bounds: Bounds) -> float:
        """The Newton step, within bounds."""
        below = float(side.curvature) + self.l2
        return min(max(-float(side.gradient) / below if below > 0 else 0.0, bounds[0]), bounds[1])

    def score(self, side: LeafSums, bounds: Bounds) -> float:
        """Twice what a leaf's value takes off the cost, to second order."""
        gradient, below = float(side.gradient), self.denominator(side)
        if self.newton and self.constrained:
            step = self.value(side, bounds)
            return -(2.0 * gradient * step + below * step * step)
        return gradient * gradient / below if below > 0 else 0.0

    def score_of_two(self, left: LeafSums, right: LeafSums, bounds: Bounds) -> float:
        """The same of two leaves; without bounds with a single division."""
        if self.newton and self.constrained:
            return self.score(left, bounds) + self.score(right, bounds)
        left_gradient, right_gradient = float(left.gradient), float(right.gradient)
        left_below, right_below = self.denominator(left), self.denominator(right)
        return (left_gradient * left_gradient * right_below + right_gradient * right_gradient * left_below) / (
            left_below * right_below
        )


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A way to split a leaf: `goes_left` says of each code, that of missing values last, which side it takes."""

    score: float
    feature: int
    bin: int  # the last one that goes left; -1 of a categorical feature
    left: LeafSums
    goes_left: BoolArray


NO_SPLIT = Split(-np.inf, -1, -1, NOTHING, np.zeros(0, bool))


def best_split(
    codes: CodeArray,
    documents: NDArray[np.int32],
    n_bins: IntArray,
    categorical: BoolArray,
    monotone: NDArray[np.int8],
    asked: BoolArray,
    rules: SplitRules,
    bounds: Bounds,
) -> Split:
    """The best split of the leaf that has these codes and documents.

    Among equal scores the lowest feature wins, within it the lowest bin, and there missing values on the right.
    """
    best = NO_SPLIT
    for feature in np.flatnonzero(asked):
        bins = _sums_by_code(codes[:, feature], documents, int(n_bins[feature]) + 1)
        if categorical[feature]:
            candidates = _category_splits(bins, int(feature), rules, bounds)
        else:
            candidates = _number_splits(bins, int(feature), int(monotone[feature]), rules, bounds)
        for candidate in candidates:
            if candidate.score > best.score:
                best = candidate
    return best


def _sums_by_code(codes: CodeArray, documents: NDArray[np.int32], n_codes: int) -> list[LeafSums]:
    sums = np.zeros((n_codes, 3), np.int64)
    np.add.at(sums, codes, documents)
    return [LeafSums(*row) for row in sums.tolist()]


def _number_splits(
    bins: list[LeafSums], feature: int, direction: int, rules: SplitRules, bounds: Bounds
) -> Iterator[Split]:
    *present, missing = bins
    leaf = sum(bins, NOTHING)
    left = NOTHING
    codes = np.arange(len(bins))
    for bin, sums in enumerate(present):
        left = left + sums
        goes_left = codes <= bin
        if missing.count == 0:
            goes_left[-1] = 2 * left.count >= leaf.count
        sides = [(left, goes_left)]
        if missing.count > 0:
            sides.append((left + missing, goes_left | (codes == len(present))))
        for side, places in sides:
            other = leaf - side
            if not (rules.allows(side) and rules.allows(other)):
                continue
            if direction * (rules.value(other, bounds) - rules.value(side, bounds)) < 0:
                continue
            yield Split(rules.score_of_two(side, other, bounds), feature, bin, side, places)


def _category_splits(bins: list[LeafSums], feature: int, rules: SplitRules, bounds: Bounds) -> Iterator[Split]:
    """Categories in the order of their mean gradient, cut at every place; missing values are one more category."""
    leaf = sum(bins, NOTHING)
    mean = rules.denominator(leaf) / leaf.count
    seen = [code for code, sums in enumerate(bins) if sums.count > 0]

    def ratio(code: int) -> float:
        below = rules.denominator(bins[code]) + rules.category_smoothing * mean
        return bins[code].gradient / below if below > 0 else 0.0

    order = sorted(seen, key=lambda code: (ratio(code), code))
    left = NOTHING
    for n_left in range(1, len(order)):
        left = left + bins[order[n_left - 1]]
        few_enough = min(n_left, len(order) - n_left) <= rules.max_split_categories
        if not (few_enough and rules.allows(left) and rules.allows(leaf - left)):
            continue
        went_left = np.isin(np.arange(len(bins)), order[:n_left])
        if bins[-1].count == 0:
            went_left[-1] = 2 * left.count >= leaf.count
        unseen = [code for code, sums in enumerate(bins) if sums.count == 0]
        went_left[unseen] = went_left[-1]
        yield Split(rules.score_of_two(left, leaf - left, bounds), feature, -1, left, went_left)
