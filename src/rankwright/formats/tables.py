"""A dataset as a table, and back: pandas, polars, Arrow, scipy sparse.

Whatever leaves stands in the order of the caller's data, so that reading back what was made gives the same dataset.
A dataset without query ids gets the numbers from 0; queries without documents have no row to stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, as_vector
from rankwright.data.columns import Columns, TableLayout, check_written_names, find_layout
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Table, arrow_table, pandas_frame, polars_frame, table_of
from rankwright.errors import InputError
from rankwright.formats.rows import Rows, Runs
from rankwright.formats.sources import FilePath
from rankwright.formats.writing import numbered_chunks

NO_PLACE = {"preferences": "preferences (write_pairs keeps them)"}  # what a table cannot hold


def from_frame(
    frame: Any,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    allow_infinity: bool = False,
) -> RankingDataset:
    """The dataset a table holds: a pandas or polars frame, an Arrow table, or a mapping from names to arrays.

    `columns` names the query, label and other columns where they are not called as usual; every other column is a
    feature and must hold numbers, unless `features` chooses some or `drop` leaves some out. Rows may have any order.
    A null is a missing feature or an unjudged label.
    """
    table = table_of(frame)
    layout = find_layout(table.names, columns, features=features, drop=drop)
    return rows_of_table(table, layout, allow_infinity=allow_infinity).dataset(layout.feature_names)


def to_pandas(data: RankingDataset, columns: Columns | None = None) -> Any:
    """A pandas frame with a row a document, in the order of the caller's data; NaN is missing or unjudged."""
    return _frame_of(data, columns, pandas_frame)


def to_polars(data: RankingDataset, columns: Columns | None = None) -> Any:
    """A polars frame with a row a document, in the order of the caller's data; null is missing or unjudged."""
    return _frame_of(data, columns, polars_frame)


def to_arrow(data: RankingDataset, columns: Columns | None = None) -> Any:
    """An Arrow table with a row a document, in the order of the caller's data; null is missing or unjudged."""
    return _frame_of(data, columns, arrow_table)


def to_sparse(data: RankingDataset) -> Any:
    """The features as a scipy CSR array without the zeros, a row a document in the order of the caller's data."""
    from scipy.sparse import csr_array

    return csr_array(data.in_source_order(data.features))


def rows_of_table(
    table: Table, layout: TableLayout, *, allow_infinity: bool, first_row: int = 0, out: Float32Array | None = None
) -> Rows:
    """The rows of a table laid out as `layout` says; errors count them from `first_row`. Features go to `out`."""
    rows = Rows(
        features=table.matrix(layout.features, out),
        runs=Runs.of(table.ids(layout.query)),
        labels=_numbers(table, layout.label),
        document_ids=None if layout.document is None else table.ids(layout.document),
        query_weights=_numbers(table, layout.query_weight),
        document_weights=_numbers(table, layout.document_weight),
        positions=_numbers(table, layout.position, np.int64),
    )
    fault = rows.first_fault(layout, allow_infinity=allow_infinity)
    if fault is not None:
        raise InputError(f"column {fault.column!r}, row {first_row + fault.row}: {fault.problem}")
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class TableColumns:
    """A dataset as a table, in the order of the caller's data: columns of roles by name, ids first, and features."""

    roles: Mapping[str, NDArray[Any]]
    names: tuple[str, ...]  # of the features
    features: Float32Array

    @classmethod
    def of(cls, data: RankingDataset, columns: Columns, first_query: int = 0) -> TableColumns:
        """The dataset's table; queries without ids are numbered from `first_query`."""
        check_written_names(data.names, columns)
        weights = data.query_weights
        part_of_role = {
            "query": data.qid if data.query_ids is not None else data.qid + first_query,
            "document": data.document_ids,
            "position": data.positions,
            "label": data.labels,
            "query_weight": None if weights is None else np.repeat(weights, data.groups.sizes),
            "document_weight": data.document_weights,
        }
        roles = {
            columns.written(role): data.in_source_order(part) for role, part in part_of_role.items() if part is not None
        }
        return cls(roles, data.names, data.in_source_order(data.features))

    @property
    def header(self) -> list[str]:
        """The names of all columns."""
        return [*self.roles, *self.names]

    def blocks(self, values_at_once: int) -> Iterator[TableColumns]:
        """The table cut into blocks of so many values, at least one, even where there are no rows."""
        rows_at_once = max(1, values_at_once // len(self.header))
        for start in range(0, max(1, len(self.features)), rows_at_once):
            rows = slice(start, start + rows_at_once)
            yield TableColumns({name: part[rows] for name, part in self.roles.items()}, self.names, self.features[rows])


def tables_of(
    data: RankingDataset | Iterable[RankingDataset], path: FilePath, columns: Columns
) -> Iterator[TableColumns]:
    """The tables of a dataset or of chunks of one that go to `path`; queries without ids are numbered through."""
    for chunk, n_queries in numbered_chunks(data, path, "a table", NO_PLACE):
        yield TableColumns.of(chunk, columns, n_queries)


def _frame_of(data: RankingDataset, columns: Columns | None, make: Callable[..., Any]) -> Any:
    (table,) = tables_of(data, "frame", columns or Columns())
    return make(table.roles, table.names, table.features)


def _numbers(table: Table, name: str | None, dtype: type[np.generic] = np.float32) -> NDArray[Any] | None:
    return None if name is None else as_vector(table.numbers(name), name=f"column {name!r}", dtype=dtype)
