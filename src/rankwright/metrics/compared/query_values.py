"""What is known of each query, to cut the queries by: numbers of documents, features of the data, what is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, UnknownNameError
from rankwright.metrics.compared.material import Material
from rankwright.metrics.evaluation import Evaluation


def query_values(
    by: str | Sequence[str] | Mapping[str, Any], evaluation: Evaluation, material: Material | None
) -> dict[str, Sequence[Any]]:
    """For each name, a value for each query: of what is known by that name, or of what is given for it.

    In a mapping, None stands for what is known by the name.
    """
    asked = {by: None} if isinstance(by, str) else dict(by) if isinstance(by, Mapping) else dict.fromkeys(by)
    return {
        name: _known(name, evaluation, material) if values is None else _given(name, values, evaluation)
        for name, values in asked.items()
    }


def _given(name: str, values: Any, evaluation: Evaluation) -> Sequence[Any]:
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


def _known(name: str, evaluation: Evaluation, material: Material | None) -> Sequence[Any]:
    if name in KNOWN:
        return KNOWN[name](evaluation, material)
    data = None if material is None else material.data
    names = () if data is None or data.n_features == 0 else data.names
    if data is None or name not in names:
        raise UnknownNameError("value of queries", name, [*KNOWN, *names])
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


def _documents(evaluation: Evaluation, _: Material | None) -> Sequence[Any]:
    return list(evaluation.groups.sizes.tolist())


def _relevant(evaluation: Evaluation, material: Material | None) -> Sequence[Any]:
    if material is None:
        raise InputError("only evaluations were compared: their labels are not known, nor the numbers of relevant ones")
    lists = next(iter(material.lists.values()))
    relevant = lists.groups.query_of_row[lists.labels > 0]
    return list(np.bincount(relevant, minlength=evaluation.n_queries).tolist())


def _words(evaluation: Evaluation, _: Material | None) -> Sequence[Any]:
    ids = evaluation.query_ids.tolist()
    if not any(isinstance(query, str) and len(query.split()) > 1 for query in ids):
        raise InputError("query ids are no texts here: give texts by query in a mapping, or on the command line a file")
    return [len(str(query).split()) for query in ids]


KNOWN: Mapping[str, Callable[[Evaluation, Material | None], Sequence[Any]]] = {
    "documents": _documents,
    "relevant": _relevant,
    "words": _words,
}
