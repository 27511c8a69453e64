"""A dataset as a table, and back: pandas, polars, Arrow, scipy sparse.

Whatever leaves stands in the order of the caller's data, so that reading back what was made gives the same dataset.
A dataset without query ids gets the numbers from 0; queries without documents have no row to stand in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import as_vector
from rankwright.data.columns import Columns, Layout, check_written_names, find_layout
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Table, arrow_table, pandas_frame, polars_frame, table_of
from rankwright.errors import InputError
from rankwright.formats.rows import Rows, note_what_is_left_out, rows_of


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
    return rows_of_table(table, layout, allow_infinity=allow_infinity).dataset(layout)


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


def rows_of_table(table: Table, layout: Layout, *, allow_infinity: bool, first_row: int = 0) -> Rows:
    """The rows of a table laid out as `layout` says; errors count them from `first_row`."""
    rows = Rows(
        features=table.matrix(layout.features),
        qid=table.ids(layout.query),
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


def role_columns(rows: Rows, columns: Columns) -> dict[str, NDArray[Any]]:
    """The columns of the roles the rows have, by the names they are written with: ids first, then numbers."""
    part_of_role = {
        "query": rows.qid,
        "document": rows.document_ids,
        "position": rows.positions,
        "label": rows.labels,
        "query_weight": rows.query_weights,
        "document_weight": rows.document_weights,
    }
    return {columns.written(role): part for role, part in part_of_role.items() if part is not None}


def _frame_of(data: RankingDataset, columns: Columns | None, make: Callable[..., Any]) -> Any:
    columns = columns or Columns()
    check_written_names(data.names, columns)
    note_what_is_left_out(data, "frame")
    rows = rows_of(data)
    return make(role_columns(rows, columns), data.names, rows.features)


def _numbers(table: Table, name: str | None, dtype: type[np.generic] = np.float32) -> NDArray[Any] | None:
    return None if name is None else as_vector(table.numbers(name), name=f"column {name!r}", dtype=dtype)
