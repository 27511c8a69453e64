"""Rows as a table holds them, before they are brought together by query.

Every reader of tables makes `Rows`, block by block, and every writer takes them: here lies what all tables share.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, IdArray, IntArray
from rankwright.data.columns import Layout
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Grouping, group_rows
from rankwright.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Documents in the table's order; `query_weights` has one value a row, as a table has."""

    features: Float32Array
    qid: IdArray
    labels: Float32Array | None = None
    document_ids: IdArray | None = None
    query_weights: Float32Array | None = None
    document_weights: Float32Array | None = None
    positions: IntArray | None = None

    def __len__(self) -> int:
        return len(self.qid)

    def __getitem__(self, rows: slice) -> Rows:
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return _rows({name: None if part is None else part[rows] for name, part in parts.items()})

    def dataset(self, layout: Layout) -> RankingDataset:
        """The rows brought together by query."""
        weights = self.query_weights
        return RankingDataset.from_arrays(
            self.features,
            self.labels,
            qid=self.qid,
            query_weights=None if weights is None else _weight_of_query(weights, group_rows(self.qid)),
            document_weights=self.document_weights,
            positions=self.positions,
            feature_names=layout.feature_names,
            document_ids=self.document_ids,
        )


def rows_of(data: RankingDataset) -> Rows:
    """The dataset's rows in the order of the caller's data; preferences are refused because no table holds them."""
    if data.preferences is not None:
        raise InputError(
            "a table holds no preferences: write them with write_pairs, "
            "and the rest as dataclasses.replace(data, preferences=None)"
        )
    weights = data.query_weights
    parts: dict[str, NDArray[Any] | None] = {
        "features": data.features,
        "qid": data.qid,
        "labels": data.labels,
        "document_ids": data.document_ids,
        "query_weights": None if weights is None else np.repeat(weights, data.groups.sizes),
        "document_weights": data.document_weights,
        "positions": data.positions,
    }
    return _rows({name: None if part is None else data.in_source_order(part) for name, part in parts.items()})


def concatenate(blocks: list[Rows]) -> Rows:
    """All blocks in one; the list is emptied on the way, so that memory holds the rows hardly more than once."""
    n_rows = sum(map(len, blocks))
    parts: dict[str, NDArray[Any] | None] = {}
    for field in fields(Rows):
        first = getattr(blocks[0], field.name)
        parts[field.name] = None if first is None else np.empty((n_rows, *first.shape[1:]), first.dtype)
    start = 0
    while blocks:
        block = blocks.pop(0)
        for name, part in parts.items():
            if part is not None:
                part[start : start + len(block)] = getattr(block, name)
        start += len(block)
    return _rows(parts)


def ids_settled(rows: Rows) -> Rows:
    """The rows with ids as integers where text holds nothing else: `7`, but not `07`."""
    documents = rows.document_ids
    return replace(rows, qid=_settled(rows.qid), document_ids=None if documents is None else _settled(documents))


def _rows(parts: dict[str, Any]) -> Rows:
    return Rows(**parts)


def _settled(ids: IdArray) -> IdArray:
    if ids.dtype.kind != "T":
        return ids
    try:
        numbers = ids.astype(np.int64)
    except (ValueError, OverflowError):
        return ids
    return numbers if (numbers.astype(ids.dtype) == ids).all() else ids


def _weight_of_query(weights: Float32Array, grouping: Grouping) -> Float32Array:
    by_query = weights if grouping.order is None else weights[grouping.order]
    weight_of_query = by_query[grouping.groups.offsets[:-1]]
    differs = (by_query != np.repeat(weight_of_query, grouping.groups.sizes)) & ~np.isnan(by_query)
    if differs.any():
        query = grouping.query_ids[grouping.groups.query_of_row[differs][0]]
        raise InputError(f"a query must have one weight, but the rows of query {query} have several")
    return weight_of_query
