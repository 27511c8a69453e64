"""Rows as a table holds them, before they are brought together by query.

Every reader of tables makes `Rows`, block by block, and every writer takes them: here lies what all tables share.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from os import fspath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, IdArray, IntArray
from rankwright.data.columns import Layout
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Grouping, group_rows
from rankwright.data.ids import integers_in
from rankwright.errors import InputError
from rankwright.formats.sources import FilePath

logger = logging.getLogger(__name__)


class Fault(NamedTuple):
    """A value that cannot stand where it does."""

    row: int
    column: str
    problem: str


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

    def __getitem__(self, rows: slice | IntArray) -> Rows:
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return _rows({name: None if part is None else part[rows] for name, part in parts.items()})

    def without_features(self) -> Rows:
        """A copy of all but the features: it keeps nothing of the memory they lie in."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        parts["features"] = self.features[:, :0]
        return _rows({name: None if part is None else part.copy() for name, part in parts.items()})

    def first_fault(self, layout: Layout, *, allow_infinity: bool) -> Fault | None:
        """The first number that has no meaning where it stands."""
        infinite = np.isinf(self.features)
        if not allow_infinity and infinite.any():
            row, place = np.argwhere(infinite)[0].tolist()
            wanted = "a feature must lie within float32's range; allow_infinity=True lets infinite ones in"
            return Fault(row, layout.features[place], wanted)
        for column, values, missing_allowed in (
            (layout.label, self.labels, True),
            (layout.query_weight, self.query_weights, False),
            (layout.document_weight, self.document_weights, False),
        ):
            if column is None or values is None:
                continue
            wrong = ~((values >= 0) & np.isfinite(values)) & ~(missing_allowed & np.isnan(values))
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                return Fault(row, column, f"must be finite and 0 or more, got {values[row]}")
        return None

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


def rows_of(data: RankingDataset, first_query: int = 0) -> Rows:
    """The dataset's rows in the order of the caller's data; queries without ids are numbered from `first_query`."""
    weights = data.query_weights
    parts: dict[str, NDArray[Any] | None] = {
        "features": data.features,
        "qid": data.qid if data.query_ids is not None else data.qid + first_query,
        "labels": data.labels,
        "document_ids": data.document_ids,
        "query_weights": None if weights is None else np.repeat(weights, data.groups.sizes),
        "document_weights": data.document_weights,
        "positions": data.positions,
    }
    return _rows({name: None if part is None else data.in_source_order(part) for name, part in parts.items()})


class Piece(NamedTuple):
    """A dataset's rows in the order of the caller's data, and the names of its features."""

    names: tuple[str, ...]
    rows: Rows


def numbered_pieces(data: RankingDataset | Iterable[RankingDataset], path: FilePath) -> Iterator[Piece]:
    """The rows of a dataset or of pieces of one that go to `path`; queries without ids are numbered through."""
    n_queries = 0
    for dataset in [data] if isinstance(data, RankingDataset) else data:
        note_what_is_left_out(dataset, fspath(path))
        yield Piece(dataset.names, rows_of(dataset, n_queries))
        n_queries += dataset.n_queries


def note_what_is_left_out(data: RankingDataset, target: str) -> None:
    """Say in the log what of the dataset a table has no place for."""
    left_out = {
        "preferences (write_pairs keeps them)": data.preferences is not None,
        "queries without documents": bool((data.groups.sizes == 0).any()),
    }
    if any(left_out.values()):
        names = ", ".join(name for name, is_there in left_out.items() if is_there)
        logger.warning("%s: a table has no place for %s; left out", target, names)


def concatenate(blocks: list[Rows]) -> Rows:
    """All blocks in one; the list is emptied on the way, so that memory holds the rows hardly more than once."""
    if len(blocks) == 1:
        return blocks.pop()
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


@dataclass(frozen=True, slots=True)
class IdTypes:
    """Whether ids that were read as text are whole numbers, which shows when all of them are seen."""

    integer_queries: bool = False
    integer_documents: bool = False

    @classmethod
    def of(cls, blocks: Iterable[Rows]) -> IdTypes:
        """The types of the ids of all blocks."""
        queries = documents = True
        for rows in blocks:
            queries = queries and integers_in(rows.qid) is not None
            documents = documents and rows.document_ids is not None and integers_in(rows.document_ids) is not None
        return cls(queries, documents)

    def settle(self, rows: Rows) -> Rows:
        """The rows with ids of these types."""
        queries = integers_in(rows.qid) if self.integer_queries else None
        documents = None
        if self.integer_documents and rows.document_ids is not None:
            documents = integers_in(rows.document_ids)
        return replace(
            rows,
            qid=rows.qid if queries is None else queries,
            document_ids=rows.document_ids if documents is None else documents,
        )


def _rows(parts: dict[str, Any]) -> Rows:
    return Rows(**parts)


def _weight_of_query(weights: Float32Array, grouping: Grouping) -> Float32Array:
    by_query = weights if grouping.order is None else weights[grouping.order]
    weight_of_query = by_query[grouping.groups.offsets[:-1]]
    differs = by_query != np.repeat(weight_of_query, grouping.groups.sizes)
    if differs.any():
        query = grouping.query_ids[grouping.groups.query_of_row[differs][0]]
        raise InputError(f"a query must have one weight, but the rows of query {query} have several")
    return weight_of_query
