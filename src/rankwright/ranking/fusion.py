"""Several rankings of the same queries made into one: by ranks, by normalised scores, by votes.

A matrix of scores has a row for each query and document of the pool, which is what any system retrieved, and a column
for each system; NaN is what that system did not retrieve. Ranks count from 1. Equal scores share the mean of their
ranks, so that no order of rows or systems matters. Normalisation makes the scores of a system comparable with those of
another, query by query; where all scores of a query are equal, each becomes 1, or its share of the sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array, IntArray, as_scores, as_vector, distinct_ids
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, InputTypeError, UnknownNameError, require, require_type
from rankwright.formats.trec import Run

RRF_K = 60.0  # of Cormack, Clarke and Büttcher


@dataclass(frozen=True, slots=True)
class Fusion:
    """A method of fusion, and what it needs."""

    method: str = "rrf"
    normalisation: str | None = None  # of the methods by scores alone
    k: float = RRF_K

    def __post_init__(self) -> None:
        if self.method not in PARTS:
            raise UnknownNameError("method of fusion", self.method, PARTS)
        if self.normalisation is not None:
            require(self.method in BY_SCORES, f"{self.method} looks at ranks: it takes no normalisation")
            if self.normalisation not in NORMALISATIONS:
                raise UnknownNameError("normalisation", self.normalisation, NORMALISATIONS)
        require(self.k >= 0, f"k must be 0 or more, got {self.k}")


@overload
def fuse(
    systems: Mapping[str, Run] | Sequence[Run],
    method: str = "rrf",
    *,
    data: None = None,
    normalisation: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    k: float = RRF_K,
) -> Run: ...
@overload
def fuse(
    systems: Mapping[str, ArrayLike] | Sequence[ArrayLike],
    method: str = "rrf",
    *,
    data: RankingDataset,
    normalisation: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    k: float = RRF_K,
) -> Float64Array: ...
def fuse(
    systems: Mapping[str, Any] | Sequence[Any],
    method: str = "rrf",
    *,
    data: RankingDataset | None = None,
    normalisation: str | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    k: float = RRF_K,
) -> Run | Float64Array:
    """Fuse rankings of the same queries into one.

    Parameters
    ----------
    systems : mapping of str to Run, or sequence of Run
        Two or more runs. With `data`, two or more arrays of scores in the row order of the data's source.
    method : {"rrf", "combsum", "combmnz", "borda"}, default "rrf"
        How a document's places are combined. `"rrf"`, reciprocal rank fusion, sums 1 / (k + rank). `"combsum"` sums
        normalised scores, and `"combmnz"` multiplies that by the number of systems that retrieved the document.
        `"borda"` gives the first of n pooled documents n points and the last 1, divided by n; documents that a system
        did not retrieve share the points of the places that are left.
    data : RankingDataset, optional
        The documents that arrays of scores belong to.
    normalisation : {"min-max", "max", "sum", "z-score", "none"}, optional
        How scores of a system are made comparable, query by query, for `"combsum"` and `"combmnz"`, by default
        `"min-max"`: the lowest score becomes 0 and the highest 1. Where all scores of a query are equal, they become 1.
        `"max"` divides by the highest, which must be above 0; `"sum"` subtracts the lowest and divides by the sum;
        `"z-score"` subtracts the mean and divides by the standard deviation. What was not retrieved counts 0.
    weights : mapping of str to float, or sequence of float, optional
        How much each system counts; 1 by default.
    k : float, default 60
        For `"rrf"`, how little the first ranks stand out: 0 or more.

    Returns
    -------
    Run, or numpy.ndarray with `data`
        The fused scores of all documents that any system retrieved; of arrays, in the row order of the data's source.

    Examples
    --------
    >>> import rankwright as rw
    >>> first = rw.Run(["q", "q"], ["a", "b"], [2.0, 1.0])
    >>> second = rw.Run(["q", "q"], ["b", "c"], [9.0, 3.0])
    >>> fused = rw.fuse([first, second])
    >>> fused.document_ids.tolist()
    ['a', 'b', 'c']
    >>> bool(fused.scores[1] == 1 / 62 + 1 / 61)  # b is second in one list and first in the other
    True
    """
    require_type(systems, (Mapping, list, tuple), "systems", "a mapping or a list of runs, or of arrays with data")
    named = dict(systems) if isinstance(systems, Mapping) else dict(enumerate(systems))
    require(len(named) >= 2, f"a fusion needs two systems or more, got {len(named)}")
    fusion, shares = Fusion(method, normalisation, k), _weights(weights, list(named))
    if data is not None:
        require_type(data, RankingDataset, "data", "a RankingDataset")
        columns = [data.from_source_order(as_scores(scores, length=data.n_docs)) for scores in named.values()]
        return data.in_source_order(fused_scores(np.column_stack(columns), data.groups, shares, fusion))
    for name, run in named.items():
        if not isinstance(run, Run):
            raise InputTypeError(f"system {name} must be a Run, got {type(run).__name__}; scores need data=")
    queries, documents, groups, matrix = _pooled(list(named.values()))
    return Run(queries, documents, fused_scores(matrix, groups, shares, fusion))


def _weights(given: Mapping[str, float] | Sequence[float] | None, names: Sequence[Any]) -> Float64Array:
    """The weight of each system, in their order."""
    if given is None:
        return np.ones(len(names))
    if isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise UnknownNameError("system", str(unknown[0]), map(str, names))
        given = [given.get(name, 1.0) for name in names]
    weights = as_vector(given, name="weights", dtype=np.float64, length=len(names))
    require(bool((weights >= 0).all() and np.isfinite(weights).all()), "weights must be finite, 0 or more")
    return weights


def _pooled(runs: Sequence[Run]) -> tuple[Any, Any, Groups, Float64Array]:
    """The queries and documents that any run has, in alphabetical order, and the matrix of scores."""
    query_ids, query = distinct_ids(np.concatenate([run.query_ids for run in runs]))
    document_ids, document = distinct_ids(np.concatenate([run.document_ids for run in runs]))
    pairs, row = np.unique(query.astype(np.int64) * len(document_ids) + document, return_inverse=True)
    of_query, of_document = np.divmod(pairs, max(len(document_ids), 1))
    matrix = np.full((len(pairs), len(runs)), np.nan)
    rows_of = np.split(row, np.cumsum([len(run) for run in runs])[:-1])
    for place, (run, rows) in enumerate(zip(runs, rows_of, strict=True)):
        if len(np.unique(rows)) < len(rows):
            raise InputError(f"run number {place + 1} has a document of a query twice; wanted each once")
        matrix[rows, place] = run.scores
    groups = Groups.of_sizes(np.bincount(of_query, minlength=len(query_ids)))
    return query_ids[of_query], document_ids[of_document], groups, matrix


def fused_scores(matrix: Float64Array, groups: Groups, weights: Float64Array, fusion: Fusion) -> Float64Array:
    """The fused score of each row of the pool."""
    part_of = PARTS[fusion.method]
    parts = [weight * part_of(column, groups, fusion) for weight, column in zip(weights, matrix.T, strict=True)]
    total = np.sort(parts, axis=0).sum(axis=0)  # sorted, so that the order of the systems does not matter
    if fusion.method in MULTIPLIED:
        total *= (~np.isnan(matrix)).sum(axis=1)
    return np.asarray(total, np.float64)


def _reciprocal_ranks(scores: Float64Array, groups: Groups, fusion: Fusion) -> Float64Array:
    return np.nan_to_num(1 / (fusion.k + ranks_of(scores, groups)))


def _normalised_scores(scores: Float64Array, groups: Groups, fusion: Fusion) -> Float64Array:
    return normalised(scores, groups, fusion.normalisation or DEFAULT_NORMALISATION)


def _borda_points(scores: Float64Array, groups: Groups, _: Fusion) -> Float64Array:
    query = groups.query_of_row
    pool = groups.sizes[query]
    left = pool - np.bincount(query[~np.isnan(scores)], minlength=groups.n_queries)[query]
    return np.asarray(np.where(np.isnan(scores), (left + 1) / 2, pool - ranks_of(scores, groups) + 1) / pool)


# What a system's scores add to those of the pool, by method.
PARTS: Mapping[str, Callable[[Float64Array, Groups, Fusion], Float64Array]] = {
    "rrf": _reciprocal_ranks,
    "combsum": _normalised_scores,
    "combmnz": _normalised_scores,
    "borda": _borda_points,
}
BY_SCORES = ("combsum", "combmnz")
MULTIPLIED = ("combmnz",)


def ranks_of(scores: Float64Array, groups: Groups) -> Float64Array:
    """The rank of each row in its query, from 1, the mean of their ranks for equal scores; NaN where there is none."""
    rows = best_first(scores, groups)
    query = groups.query_of_row[rows]
    starts = np.flatnonzero(np.append(True, (query[1:] != query[:-1]) | (scores[rows][1:] != scores[rows][:-1])))
    sizes = np.diff(np.append(starts, len(rows)))
    first_of_query = np.searchsorted(query, np.arange(groups.n_queries))
    ranks = np.full(len(scores), np.nan)
    if len(rows):
        ranks[rows] = np.repeat(starts - first_of_query[query[starts]] + 1 + (sizes - 1) / 2, sizes)
    return ranks


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


NORMALISATIONS: Mapping[str, Callable[[Retrieved], Float64Array]] = {
    "min-max": _min_max,
    "max": _by_max,
    "sum": _by_sum,
    "z-score": _z_scores,
    "none": attrgetter("scores"),
}
DEFAULT_NORMALISATION = "min-max"
