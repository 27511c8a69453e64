"""Rows in the order of a file, before they are grouped by query.

Every reader makes `Rows`, block by block. A run is a stretch of rows next to each other that belong to one query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, IdArray, IntArray, join_ids, text_ids
from rankwright.data.columns import TableLayout
from rankwright.data.dataset import RankingDataset
from rankwright.data.dataset_parts import not_propensities
from rankwright.data.groups import Grouping, group_rows, run_starts
from rankwright.errors import InputError, Message, Parameter


class Runs(NamedTuple):
    """The query of each run, and how many rows the run has."""

    ids: IdArray | None  # None where the file names no queries
    sizes: IntArray
    numbered: bool = False  # whether the ids are only the numbers of queries without ids, which follow one another

    @classmethod
    def of(cls, qid: IdArray) -> Runs:
        """The runs of rows whose query ids are `qid`."""
        starts = run_starts(qid)
        return cls(qid[starts], np.diff(starts, append=len(qid)))

    def take(self, runs: slice) -> Runs:
        """Some of the runs."""
        return Runs(None if self.ids is None else self.ids[runs], self.sizes[runs], self.numbered)

    def sizes_of_numbered(self) -> IntArray:
        """The number of rows of each query, where ids are consecutive numbers."""
        assert self.ids is not None
        return np.bincount(self.ids - self.ids[0], self.sizes).astype(np.int64)


class Fault(NamedTuple):
    """A value that is not allowed in its place."""

    row: int
    column: str
    problem: str


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Documents in the order of their file. `query_weights` has a value for each row, as tables do."""

    features: Float32Array
    runs: Runs
    labels: Float32Array | None = None
    document_ids: IdArray | None = None
    query_weights: Float32Array | None = None
    document_weights: Float32Array | None = None
    positions: IntArray | None = None
    propensities: Float32Array | None = None

    def __len__(self) -> int:
        return len(self.features)

    @property
    def qid(self) -> IdArray:
        """The query id of each row."""
        assert self.runs.ids is not None
        return np.repeat(self.runs.ids, self.runs.sizes)

    def take(self, rows: IntArray) -> Rows:
        """The given rows alone."""
        return self._take(rows, Runs.of(self.qid[rows]))

    def cut_at_last_run(self) -> tuple[Rows, Rows]:
        """The rows of all runs but the last, and those of the last."""
        cut = len(self) - int(self.runs.sizes[-1])
        before, last = self.runs.take(slice(0, -1)), self.runs.take(slice(-1, None))
        return self._take(slice(0, cut), before), self._take(slice(cut, None), last)

    def without_features(self) -> Rows:
        """All but the features, in memory of its own, so that the memory of the features can be freed."""
        parts = self._arrays() | {"features": np.empty((len(self), 0), np.float32)}
        owned = {name: part if part.base is None else part.copy() for name, part in parts.items()}
        return Rows(**owned, runs=self.runs)

    def _take(self, rows: slice | IntArray, runs: Runs) -> Rows:
        return Rows(**{name: part[rows] for name, part in self._arrays().items()}, runs=runs)

    def _arrays(self) -> dict[str, Any]:
        """The arrays that are present and have a value for each row."""
        return {name: part for name in PER_ROW if (part := getattr(self, name)) is not None}

    def first_fault(self, layout: TableLayout, *, allow_infinity: bool) -> Fault | None:
        """The first number that is not allowed in its place."""
        infinite = np.isinf(self.features)
        if not allow_infinity and infinite.any():
            row, place = np.argwhere(infinite)[0].tolist()
            remedy = Parameter("allow_infinity", True)
            wanted = Message("a feature must lie within float32's range; ", remedy, " lets infinite ones in")
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
        if layout.propensity is not None and self.propensities is not None:
            wrong = not_propensities(self.propensities)
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                return Fault(row, layout.propensity, f"must lie above 0 and be at most 1, got {self.propensities[row]}")
        return None

    def dataset(self, feature_names: tuple[str, ...] = ()) -> RankingDataset:
        """The dataset of these rows, which are brought together by query."""
        qid, sizes = (None, self.runs.sizes_of_numbered()) if self.runs.numbered else (self.qid, None)
        weights = self.query_weights
        return RankingDataset.from_arrays(
            self.features,
            self.labels,
            qid=qid,
            group=sizes,
            query_weights=None if weights is None or qid is None else _weight_of_query(weights, group_rows(qid)),
            document_weights=self.document_weights,
            positions=self.positions,
            propensities=self.propensities,
            feature_names=feature_names,
            document_ids=self.document_ids,
        )


PER_ROW = tuple(field.name for field in fields(Rows) if field.name != "runs")


def join_rows(blocks: Sequence[Rows]) -> Rows:
    """All blocks in one. Where only some blocks have document ids, the rows of the others get empty ones."""
    if len(blocks) == 1:
        return blocks[0]
    ids = [block.runs.ids for block in blocks if block.runs.ids is not None]
    parts: dict[str, Any] = {}
    for name in PER_ROW:
        values = [getattr(block, name) for block in blocks]
        parts[name] = None if values[0] is None or name == "document_ids" else np.concatenate(values)
    parts["document_ids"] = _joined_document_ids(blocks)
    sizes = np.concatenate([block.runs.sizes for block in blocks])
    return Rows(**parts, runs=Runs(join_ids(ids) if ids else None, sizes, blocks[0].runs.numbered))


def _joined_document_ids(blocks: Sequence[Rows]) -> IdArray | None:
    if all(block.document_ids is None for block in blocks):
        return None
    return join_ids([_no_ids(len(block)) if block.document_ids is None else block.document_ids for block in blocks])


def _no_ids(n_rows: int) -> IdArray:
    return np.zeros(n_rows, np.dtypes.StringDType())


@dataclass(frozen=True, slots=True)
class IdTypes:
    """Whether ids are text in every chunk; they are if the files were not read beforehand."""

    queries_are_text: bool = True
    documents_are_text: bool = True
    has_documents: bool = False

    @classmethod
    def of(cls, blocks: Iterable[Rows]) -> IdTypes:
        """The types of the ids of all blocks: numbers where every block has numbers."""
        queries = documents = has_documents = False
        for rows in blocks:
            queries |= rows.runs.ids is not None and rows.runs.ids.dtype != np.int64
            documents |= rows.document_ids is None or rows.document_ids.dtype != np.int64
            has_documents |= rows.document_ids is not None
        return cls(queries, documents, has_documents)

    def settle(self, rows: Rows) -> Rows:
        """The rows with ids of these types."""
        queries, documents = rows.runs.ids, rows.document_ids
        if queries is not None and self.queries_are_text and not rows.runs.numbered:
            queries = text_ids(queries)
        if documents is None and self.has_documents:
            documents = _no_ids(len(rows))
        if documents is not None and self.documents_are_text:
            documents = text_ids(documents)
        return replace(rows, runs=rows.runs._replace(ids=queries), document_ids=documents)


def _weight_of_query(weights: Float32Array, grouping: Grouping) -> Float32Array:
    by_query = weights if grouping.order is None else weights[grouping.order]
    weight_of_query = by_query[grouping.groups.offsets[:-1]]
    differs = by_query != np.repeat(weight_of_query, grouping.groups.sizes)
    if differs.any():
        query = grouping.query_ids[grouping.groups.query_of_row[differs][0]]
        raise InputError(f"a query must have one weight, but the rows of query {query} have several")
    return weight_of_query
