"""Scores of a system made comparable with those of another, query by query.

Where all scores of a query are equal, a normalisation makes each of them 1, or its share of the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.errors import require


class Retrieved(NamedTuple):
    """The scores of the rows that have one, the highest of a query first, the query of each, and each query's ends."""

    scores: Float64Array
    query: IntArray
    low: Float64Array
    high: Float64Array

    def sums(self, values: Float64Array) -> Float64Array:
        """For each row, the sum of the values over its query."""
        return np.asarray(np.bincount(self.query, values, minlength=len(self.low))[self.query], np.float64)


def normalised(scores: Float64Array, groups: Groups, normalisation: str) -> Float64Array:
    """The normalised score of each row; 0 where there is no score."""
    rows = best_first(scores, groups)  # whatever the order of the rows, sums are the same
    query, kept = groups.query_of_row[rows], scores[rows]
    low, high = np.full(groups.n_queries, np.inf), np.full(groups.n_queries, -np.inf)
    np.minimum.at(low, query, kept)
    np.maximum.at(high, query, kept)
    found = np.zeros(len(scores))
    found[rows] = NORMALISATIONS[normalisation](Retrieved(kept, query, low, high))
    return found


def best_first(scores: Float64Array, groups: Groups) -> IntArray:
    """The rows that have a score, query by query, the highest first."""
    kept = np.flatnonzero(~np.isnan(scores))
    return kept[np.lexsort((-scores[kept], groups.query_of_row[kept]))]


def _min_max(given: Retrieved) -> Float64Array:
    low, width = given.low[given.query], (given.high - given.low)[given.query]
    return np.divide(given.scores - low, width, out=np.ones_like(low), where=width > 0)


def _by_max(given: Retrieved) -> Float64Array:
    high = given.high[given.query]
    require(bool((high > 0).all()), "the normalisation max needs a score above 0 in every query; min-max needs none")
    return given.scores / high


def _by_sum(given: Retrieved) -> Float64Array:
    above = given.scores - given.low[given.query]
    total, size = given.sums(above), given.sums(np.ones_like(above))
    return np.divide(above, total, out=1 / size, where=total > 0)


def _z_scores(given: Retrieved) -> Float64Array:
    size = given.sums(np.ones_like(given.scores))
    apart = given.scores - given.sums(given.scores) / size
    deviation = np.sqrt(given.sums(apart**2) / size)
    uneven = (given.low < given.high)[given.query] & (deviation > 0)
    return np.divide(apart, deviation, out=np.ones_like(apart), where=uneven)


def _as_they_are(given: Retrieved) -> Float64Array:
    return given.scores


NORMALISATIONS: Mapping[str, Callable[[Retrieved], Float64Array]] = {
    "min-max": _min_max,
    "max": _by_max,
    "sum": _by_sum,
    "z-score": _z_scores,
    "none": _as_they_are,
}
DEFAULT_NORMALISATION = "min-max"
