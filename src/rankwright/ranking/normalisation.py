"""Scores of a system made comparable with those of another, query by query.

Each normalisation takes the scores of the rows that have one, the highest of a query first, the query of each, and
each query's lowest and highest score. Where all scores of a query are equal, each becomes 1, or its share of the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.errors import require


def normalised(scores: Float64Array, groups: Groups, normalisation: str) -> Float64Array:
    """The normalised score of each row; 0 where there is no score."""
    rows = best_first(scores, groups)  # whatever the order of the rows, sums are the same
    query, kept = groups.query_of_row[rows], scores[rows]
    low, high = np.full(groups.n_queries, np.inf), np.full(groups.n_queries, -np.inf)
    np.minimum.at(low, query, kept)
    np.maximum.at(high, query, kept)
    found = np.zeros(len(scores))
    found[rows] = NORMALISATIONS[normalisation](kept, query, low, high)
    return found


def best_first(scores: Float64Array, groups: Groups) -> IntArray:
    """The rows that have a score, query by query, the highest first."""
    kept = np.flatnonzero(~np.isnan(scores))
    return kept[np.lexsort((-scores[kept], groups.query_of_row[kept]))]


def _min_max(scores: Float64Array, query: IntArray, low: Float64Array, high: Float64Array) -> Float64Array:
    width = (high - low)[query]
    return np.divide(scores - low[query], width, out=np.ones_like(scores), where=width > 0)


def _by_max(scores: Float64Array, query: IntArray, low: Float64Array, high: Float64Array) -> Float64Array:  # noqa: ARG001
    require(bool((high[query] > 0).all()), "the normalisation max needs a score above 0 in every query; min-max needs none")
    return np.asarray(scores / high[query])


def _by_sum(scores: Float64Array, query: IntArray, low: Float64Array, high: Float64Array) -> Float64Array:  # noqa: ARG001
    above = scores - low[query]
    total = np.bincount(query, above, minlength=len(low))[query]
    return np.divide(above, total, out=1 / np.bincount(query, minlength=len(low))[query], where=total > 0)


def _z_scores(scores: Float64Array, query: IntArray, low: Float64Array, high: Float64Array) -> Float64Array:  # noqa: ARG001
    size = np.bincount(query, minlength=len(low))
    apart = scores - (np.bincount(query, scores, minlength=len(low)) / np.maximum(size, 1))[query]
    deviation = np.sqrt(np.bincount(query, apart**2, minlength=len(low)) / np.maximum(size, 1))[query]
    flat = low[query] == high[query]
    return np.divide(apart, deviation, out=np.ones_like(scores), where=~flat & (deviation > 0))


def _untouched(scores: Float64Array, query: IntArray, low: Float64Array, high: Float64Array) -> Float64Array:  # noqa: ARG001
    return scores


Normalisation = Callable[[Float64Array, IntArray, Float64Array, Float64Array], Float64Array]
NORMALISATIONS: Mapping[str, Normalisation] = {
    "min-max": _min_max,
    "max": _by_max,
    "sum": _by_sum,
    "z-score": _z_scores,
    "none": _untouched,
}
DEFAULT_NORMALISATION = "min-max"
