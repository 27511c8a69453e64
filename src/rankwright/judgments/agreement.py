"""How far raters agree beyond chance: Krippendorff's α, Fleiss' κ, and Cohen's κ of each pair of raters.

All are 1 − observed disagreement / disagreement by chance. Intervals are normal ones: standard errors come from the
influence of each pair (of a query and a document) on the coefficient, and for Cohen's κ from Fleiss, Cohen and Everitt
(1969). Grades are compared as they are (`nominal`), or by the square of their distance (`interval`), or of the number
of grades between them (`ordinal`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.judgments.ratings import Ratings
from rankwright.metrics.confidence_intervals import HALF_WIDTH, Interval, none_unless_finite

DISTANCES = ("nominal", "ordinal", "interval")
MOST_RATER_PAIRS = 1_000  # whose κ is told: those that share the most
FEWEST_SHARED = 2  # pairs of a query and a document that two raters must both have judged


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement, its 95 % interval, and how many pairs of a query and a document it rests on."""

    value: float
    interval: Interval
    n_pairs: int

    def to_dict(self) -> dict[str, Any]:
        """The figures in types JSON can hold."""
        return {"value": none_unless_finite(self.value)} | self.interval.to_dict() | {"pairs": self.n_pairs}

    @classmethod
    def undefined(cls, n_pairs: int) -> Coefficient:
        """Of pairs that say nothing, such as those that all have one grade: agreement cannot be told from chance."""
        return cls(math.nan, Interval(math.nan, math.nan), n_pairs)

    def __str__(self) -> str:
        if math.isnan(self.value):
            return "-"
        if math.isnan(self.interval.low):  # one document tells no interval
            return f"{self.value:.3f}"
        return f"{self.value:.3f} ({self.interval.low:.3f} to {self.interval.high:.3f})"


def squared_distances(scale: Float64Array, counts: Float64Array, kind: str) -> Float64Array:
    """The disagreement of each two grades; `counts` is how often each was given."""
    if kind == "nominal":
        return 1.0 - np.eye(len(scale))
    if kind == "interval":
        return np.asarray((scale[:, None] - scale[None, :]) ** 2, np.float64)
    middle = np.cumsum(counts) - counts / 2
    return np.asarray((middle[:, None] - middle[None, :]) ** 2, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class SharedCounts:
    """How often each pair of a query and a document got each grade, of those that two raters or more graded."""

    counts: Float64Array
    sizes: Float64Array
    scale: Float64Array

    @classmethod
    def of(cls, ratings: Ratings) -> SharedCounts:
        """The counts of all pairs that were graded twice or more."""
        counts = ratings.counts()
        counts = counts[ratings.sizes >= 2]
        return cls(counts, counts.sum(axis=1), ratings.scale)


def krippendorff_alpha(shared: SharedCounts, distance: str = "ordinal") -> Coefficient:
    """Krippendorff's α over the pairs that two or more raters graded."""
    counts, sizes = shared.counts, shared.sizes
    n_pairs, total = len(counts), float(sizes.sum())
    if n_pairs == 0:
        return Coefficient.undefined(0)
    marginals = counts.sum(axis=0)
    apart = squared_distances(shared.scale, marginals, distance)
    expected = float(marginals @ apart @ marginals) / (total * (total - 1))
    if expected == 0:
        return Coefficient.undefined(n_pairs)
    against = counts @ apart
    of_pair = np.einsum("pg,pg->p", against, counts) / (sizes - 1)
    observed = float(of_pair.sum()) / total
    by_chance = 2 * (against @ marginals / total - sizes * expected)
    influence = -(of_pair - sizes * observed) / (total * expected) + observed * by_chance / (total * expected**2)
    return _by_influence(1 - observed / expected, influence, n_pairs)


def fleiss_kappa(shared: SharedCounts) -> Coefficient:
    """Fleiss' κ over the pairs that two or more raters graded, which need not be equally many."""
    counts, sizes = shared.counts, shared.sizes
    n_pairs, total = len(counts), float(sizes.sum())
    if n_pairs == 0:
        return Coefficient.undefined(0)
    shares = counts.sum(axis=0) / total
    by_chance = float(shares @ shares)
    if by_chance == 1:
        return Coefficient.undefined(n_pairs)
    of_pair = (np.einsum("pg,pg->p", counts, counts) - sizes) / (sizes * (sizes - 1))
    observed = float(of_pair.mean())
    of_chance = 2 * (counts @ shares - sizes * by_chance) / total
    influence = (of_pair - observed) / (n_pairs * (1 - by_chance))
    influence -= (1 - observed) * of_chance / (1 - by_chance) ** 2
    return _by_influence((observed - by_chance) / (1 - by_chance), influence, n_pairs)


def _by_influence(value: float, influence: Float64Array, n_pairs: int) -> Coefficient:
    if n_pairs < 2:
        return Coefficient(value, Interval(math.nan, math.nan), n_pairs)
    return _with_error(value, math.sqrt(float((influence**2).sum()) * n_pairs / (n_pairs - 1)), n_pairs)


def _with_error(value: float, error: float, n_pairs: int) -> Coefficient:
    return Coefficient(value, Interval(value - HALF_WIDTH * error, min(1.0, value + HALF_WIDTH * error)), n_pairs)


def cohen_kappa(table: Float64Array, weights: Float64Array | None = None) -> Coefficient:
    """Cohen's κ of a table of how often two raters gave each two grades; `weights` are shares of agreement."""
    n = float(table.sum())
    if n < FEWEST_SHARED:
        return Coefficient.undefined(int(n))
    agreed = np.eye(len(table)) if weights is None else weights
    shares = table / n
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, by_chance = float((agreed * shares).sum()), float(rows @ agreed @ columns)
    if by_chance >= 1 - 1e-12:
        return Coefficient.undefined(int(n))
    value = (observed - by_chance) / (1 - by_chance)
    of_row, of_column = agreed @ columns, rows @ agreed
    spread = agreed - (of_row[:, None] + of_column[None, :]) * (1 - value)
    variance = float((shares * spread**2).sum()) - (value - by_chance * (1 - value)) ** 2
    return _with_error(value, math.sqrt(max(variance, 0.0) / n) / (1 - by_chance), int(n))


def quadratic_weights(scale: Float64Array) -> Float64Array:
    """How far two grades agree: 1 less their squared distance, as a share of the largest."""
    width = float(scale[-1] - scale[0])
    if width == 0:
        return np.ones((1, 1))
    return np.asarray(1 - ((scale[:, None] - scale[None, :]) / width) ** 2, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RaterPair:
    """Two raters, as places among all, and how far they agree: as they are, and by the square of the distance."""

    first: int
    second: int
    kappa: Coefficient
    weighted: Coefficient


def rater_pairs(ratings: Ratings) -> tuple[list[RaterPair], int]:
    """Cohen's κ of the raters that share the most, those that share most first; and how many pairs share something."""
    keys, n_levels = [], ratings.n_levels
    squared = n_levels * n_levels
    for first, second in shared_rows(ratings):
        key = ratings.raters[first].astype(np.int64) * ratings.n_raters + ratings.raters[second]
        keys.append(key * squared + ratings.levels[first] * n_levels + ratings.levels[second])
    if not keys:
        return [], 0
    cells = np.concatenate(keys)
    distinct, times = np.unique(cells, return_counts=True)
    raters, place = np.unique(distinct // squared, return_inverse=True)
    totals = np.bincount(place, weights=times, minlength=len(raters))
    chosen = np.lexsort((raters, -totals))[:MOST_RATER_PAIRS]
    weights = quadratic_weights(ratings.scale)
    starts = np.searchsorted(distinct, raters * squared)
    stops = np.append(starts[1:], len(distinct))
    made = []
    for one in chosen.tolist():
        cells_of, flat = slice(starts[one], stops[one]), np.zeros(squared)
        flat[distinct[cells_of] % squared] = times[cells_of]
        table = flat.reshape(n_levels, n_levels)
        rater, other = divmod(int(raters[one]), ratings.n_raters)
        made.append(RaterPair(rater, other, cohen_kappa(table), cohen_kappa(table, weights)))
    return made, len(raters)


def shared_rows(ratings: Ratings) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows of two raters who graded the same pair, the one with the smaller number first; each two rows once."""
    pairs = ratings.pairs  # rows are sorted by pair, and within a pair by rater
    for apart in range(1, int(ratings.sizes.max(initial=0))):
        same = np.flatnonzero(pairs[apart:] == pairs[:-apart])
        yield same, same + apart
