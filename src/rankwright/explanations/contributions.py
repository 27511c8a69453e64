"""What features add to scores: the question, the answer, and the sums that both must keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require_input

PATH_POINTS = 64  # at which gradients are taken along a path: smooth functions come out to the last digits
DOCUMENTS_AT_A_TIME = 256


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """How contributions are counted.

    `cover` says by what a forest weighs the two sides of a split for features that are not known, None for what it
    tells; `background` are documents whose values such features have instead.
    """

    cover: str | None = None
    background: RankingDataset | None = None
    threads: int = 1

    def refuse_cover(self, kind: str) -> None:
        """Raise where a cover was asked for of a model without trees."""
        require_input(self.cover is None, f"{kind} has no trees, which a cover is of: leave out cover")

    def refuse_cover_beside_background(self) -> None:
        """Raise where both ways of counting were asked for."""
        if self.cover is not None:
            raise InputError("a background sample tells what is usual, and so does a cover: give one of them")

    def refuse_background(self, kind: str) -> None:
        """Raise where a background was given to a model that has another starting point."""
        if self.background is not None:
            told = f"{kind} is explained along the way from features of 0, as it sees them: leave out background"
            raise InputError(told)


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What each feature adds to each document's score: `base` and a row's values add up to it."""

    values: Float64Array  # (documents, features)
    base: float
    how: str  # a sentence about how they were counted


@dataclass(frozen=True, slots=True, eq=False)
class PairContributions:
    """By how much each feature puts the first document of a pair above the second, a row for each pair.

    A row adds up to its margin. A feature whose value is the same in both documents gets exactly 0.
    """

    values: Float64Array  # (pairs, features)
    margins: Float64Array
    how: str


def mean_contributions(parts: list[Contributions]) -> Contributions:
    """The contributions to the mean of scores."""
    values = sum((part.values for part in parts), np.zeros_like(parts[0].values)) / len(parts)
    return Contributions(values, sum(part.base for part in parts) / len(parts), parts[0].how)


def centred(values: Float64Array, groups: Groups) -> Float64Array:
    """Values less their mean over each query: exactly 0 where all documents of a query have the same value."""
    starts, sizes = groups.offsets[:-1][groups.sizes > 0], groups.sizes[groups.sizes > 0]
    if len(starts) == 0:
        return values
    is_constant = np.minimum.reduceat(values, starts, axis=0) == np.maximum.reduceat(values, starts, axis=0)
    return np.where(np.repeat(is_constant, sizes, axis=0), 0.0, values - groups.means(values))


def weighted_values(
    features: Float64Array, weights: Float64Array, constant: float, background: Float64Array | None
) -> Contributions:
    """Weights times values, or times what they are above the background's mean; nothing is missing."""
    if background is None:
        return Contributions(features * weights, constant, "weights × values")
    mean = background.mean(axis=0)
    base = constant + float(np.sum(mean * weights))
    return Contributions((features - mean) * weights, base, "weights × values above the background's mean")


def along_paths(
    gradient: Callable[[Float64Array], Float64Array], starts: Float64Array, ends: Float64Array, totals: Float64Array
) -> Float64Array:
    """Gradients integrated from each start to its end, along a straight line; rows add up to `totals`.

    What the sum over points leaves of the total, and rounding, is shared out in proportion to what features got.
    """
    points, weights = np.polynomial.legendre.leggauss(PATH_POINTS)
    moves, got = ends - starts, np.zeros_like(ends)
    for first in range(0, len(ends), DOCUMENTS_AT_A_TIME):
        rows = slice(first, first + DOCUMENTS_AT_A_TIME)
        for point, weight in zip(points.tolist(), weights.tolist(), strict=True):
            got[rows] += weight / 2 * gradient(starts[rows] + (1 + point) / 2 * moves[rows])
    return settled(got * moves, totals)


def between_documents(
    gradient: Callable[[Float64Array], Float64Array], inputs: Float64Array, scores: Float64Array, pairs: IntArray
) -> PairContributions:
    """Gradients integrated from the second document of each pair to the first: what does not move adds nothing."""
    first, second = pairs.T
    margins = scores[first] - scores[second]
    values = along_paths(gradient, inputs[second], inputs[first], margins)
    return PairContributions(values, margins, "integrated gradients from one document to the other")


def settled(values: Float64Array, totals: Float64Array) -> Float64Array:
    """The rows with what is left of their totals shared out in proportion to the sizes of their values."""
    sizes = np.abs(values).sum(axis=1)
    left = np.divide(totals - values.sum(axis=1), sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return np.asarray(values + np.abs(values) * left[:, None])
