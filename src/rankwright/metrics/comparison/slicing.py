"""Queries cut into slices by a value that each has: a number of documents, a feature, or what a caller gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, UnknownNameError, require
from rankwright.metrics.comparison.systems import ComparedSystems
from rankwright.metrics.evaluation import Evaluation


def query_values(
    by: str | Sequence[str] | Mapping[str, Any], evaluation: Evaluation, material: ComparedSystems | None
) -> dict[str, Sequence[Any]]:
    """For each name, a value for each query: of what is known by that name, or of what is given for it.

    In a mapping, None stands for what is known by the name.
    """
    asked = {by: None} if isinstance(by, str) else dict(by) if isinstance(by, Mapping) else dict.fromkeys(by)
    return {
        name: _built_in_values(name, evaluation, material)
        if values is None
        else _given_values(name, values, evaluation)
        for name, values in asked.items()
    }


def _given_values(name: str, values: Any, evaluation: Evaluation) -> Sequence[Any]:
    """Values in the order of the queries, given in this order or by query id."""
    if isinstance(values, Mapping):
        of_id = {str(query): value for query, value in values.items()}
        if not any(str(query) in of_id for query in evaluation.query_ids.tolist()):
            raise InputError(f"{name} has values for none of the {evaluation.n_queries} queries: their ids differ")
        return [of_id.get(str(query)) for query in evaluation.query_ids.tolist()]
    found = np.asarray(values).tolist()
    if len(found) != evaluation.n_queries:
        raise InputError(f"{name} must have {evaluation.n_queries} values, one for each query, got {len(found)}")
    return list(found)


def _built_in_values(name: str, evaluation: Evaluation, material: ComparedSystems | None) -> Sequence[Any]:
    if name in BUILT_IN:
        return BUILT_IN[name](evaluation, material)
    data = None if material is None else material.data
    names = () if data is None or data.n_features == 0 else data.names
    if data is None or name not in names:
        raise UnknownNameError("value of queries", name, [*BUILT_IN, *names])
    return _of_feature(name, data)


def _of_feature(name: str, data: RankingDataset) -> Sequence[Any]:
    """The feature's value where it is that of a whole query; else the mean over the query's documents."""
    column = data.features[:, data.names.index(name)].astype(np.float64)
    means = _means(column, data.groups)
    if name not in (data.categories or {}):
        return list(means.tolist())
    same = (column == means[data.groups.query_of_row]) | np.isnan(column)
    if not same.all():
        raise InputError(f"categories of {name} differ within a query: queries can be cut by what all documents share")
    categories = (data.categories or {})[name]
    return [None if np.isnan(code) else categories[int(code)] for code in means]


def _means(column: Float64Array, groups: Groups) -> Float64Array:
    """The mean of a column over each query's known values; exactly the value where all are equal."""
    known, query = ~np.isnan(column), groups.query_of_row
    low, high = np.full(groups.n_queries, np.inf), np.full(groups.n_queries, -np.inf)
    np.minimum.at(low, query[known], column[known])
    np.maximum.at(high, query[known], column[known])
    count = np.bincount(query[known], minlength=groups.n_queries)
    total = np.bincount(query[known], column[known], minlength=groups.n_queries)
    means = np.divide(total, count, out=np.full(groups.n_queries, np.nan), where=count > 0)
    return np.where(low == high, low, means)


def _documents(evaluation: Evaluation, _: ComparedSystems | None) -> Sequence[Any]:
    return list(evaluation.groups.sizes.tolist())


def _relevant(evaluation: Evaluation, material: ComparedSystems | None) -> Sequence[Any]:
    if material is None:
        raise InputError("only evaluations were compared: their labels are not known, nor the numbers of relevant ones")
    lists = next(iter(material.lists.values()))
    relevant = lists.groups.query_of_row[lists.labels > 0]
    return list(np.bincount(relevant, minlength=evaluation.n_queries).tolist())


def _words(evaluation: Evaluation, _: ComparedSystems | None) -> Sequence[Any]:
    ids = evaluation.query_ids.tolist()
    if not any(isinstance(query, str) and len(query.split()) > 1 for query in ids):
        raise InputError("query ids are no texts here: give texts by query in a mapping, or on the command line a file")
    return [len(str(query).split()) for query in ids]


BUILT_IN: Mapping[str, Callable[[Evaluation, ComparedSystems | None], Sequence[Any]]] = {
    "documents": _documents,
    "relevant": _relevant,
    "words": _words,
}
SLICES = 4
MOST_KINDS = 12  # texts of more kinds are cut by their numbers of words
MISSING = "missing"


@dataclass(frozen=True, slots=True, eq=False)
class Slicing:
    """Which slice each query is in: the place of its name in `names`."""

    by: str
    names: tuple[str, ...]
    slice_of: IntArray


def cut_queries(by: str, values: Sequence[Any], n_slices: int = SLICES) -> Slicing:
    """The queries cut by their values: numbers at quantiles, texts by what they say or how many words they have.

    Queries without a value (NaN, None or an empty text) have a slice of their own, the last one.
    """
    require(n_slices >= 2, f"slices must be 2 or more, got {n_slices}")
    given = list(values)
    if all(isinstance(value, str) or value is None for value in given):
        kinds = sorted({value for value in given if value})
        if len(kinds) <= MOST_KINDS:
            place_of = {kind: place for place, kind in enumerate(kinds)}
            return _named(by, kinds, np.array([place_of.get(value, -1) for value in given], np.int64))
        by = f"words of {by}"
        given = [len(value.split()) if value else None for value in given]
    return _cut_numbers(by, np.array([np.nan if value is None else value for value in given], np.float64), n_slices)


def _cut_numbers(by: str, values: Float64Array, n_slices: int) -> Slicing:
    known = ~np.isnan(values)
    distinct = np.unique(values[known])
    if len(distinct) <= n_slices:
        place = np.searchsorted(distinct, values)
        return _named(by, [f"{value:g}" for value in distinct], np.where(known, place, -1))
    ends = np.unique(np.quantile(values[known], np.arange(1, n_slices) / n_slices, method="lower"))
    place = np.where(known, np.searchsorted(ends, values), -1)  # a slice has values up to its end
    used, place_of_known = np.unique(place[known], return_inverse=True)
    place[known] = place_of_known
    of_slices = [values[place == number] for number in range(len(used))]
    return _named(by, [_ends(own.min(), own.max()) for own in of_slices], place)


def _ends(low: float, high: float) -> str:
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"


def _named(by: str, names: Sequence[str], place: IntArray) -> Slicing:
    """The slicing; places below 0 become that of the missing values."""
    missing = place < 0
    every = (*names, *([MISSING] if missing.any() else []))
    return Slicing(by, every, np.where(missing, len(names), place).astype(np.int64))
