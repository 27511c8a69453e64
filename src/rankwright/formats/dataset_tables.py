"""A dataset as a table, and back: pandas, polars, Arrow, scipy sparse.

Tables keep the order of the data that the dataset came from, so reading back what was made gives the same dataset.
Queries without ids are numbered from 0; queries without documents have no row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, as_vector
from rankwright.data.columns import Columns, TableLayout, check_written_names, find_layout
from rankwright.data.dataset import RankingDataset, role_columns
from rankwright.data.frames import (
    ArrowTable,
    PandasFrame,
    PolarsFrame,
    Table,
    arrow_table,
    pandas_frame,
    polars_frame,
    table_of,
)
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import InputError, Message, require_type
from rankwright.formats.blocks import Reader, Rows, Runs
from rankwright.formats.pipeline import numbered_chunks
from rankwright.formats.storage.places import FilePath

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Frame = TypeVar("Frame")

# What a table cannot hold.
NO_PLACE = {
    "preferences": "preferences (write_pairs keeps them)",
    "categories": "the texts of categories (their codes are there)",
}


def from_frame(
    frame: Any,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    allow_infinity: bool = False,
    side: Sequence[str] = (),
) -> RankingDataset:
    """Make a dataset from a table.

    One column holds the query ids; others may hold the label, the document id, weights and positions. Every other
    column is a feature: numbers, or texts and categories, which trees can split on. Rows may be in any order. A null is
    a missing feature or an unjudged label.

    Parameters
    ----------
    frame : pandas or polars frame, Arrow table, or mapping from str to array-like
        The table. Anything else with Arrow's C stream interface is accepted too.
    columns : Columns, optional
        The names of the columns that are not features, if they are not the usual ones.
    features : sequence of str, optional
        The columns to use as features, in this order. The default takes all columns without another role.
    drop : sequence of str, default ()
        Columns to leave out, for example texts.
    allow_infinity : bool, default False
        Whether infinite features, and features beyond the range of float32, are accepted.
    side : sequence of str, default ()
        Columns of numbers, such as a price, that are no features unless `features` names them too: λ-functions and
        metrics of your own get them as parameters of that name.

    Returns
    -------
    RankingDataset
        The documents of the table.

    Examples
    --------
    >>> import rankwright as rw
    >>> table = {"qid": ["a", "a", "b"], "label": [1, 0, 2], "bm25": [0.5, None, 1.5], "url": ["x", "y", "z"]}
    >>> data = rw.from_frame(table, drop=["url"])
    >>> data.feature_names, data.features.ravel().tolist()
    (('bm25',), [0.5, nan, 1.5])
    """
    table = table_of(frame)
    layout = find_layout(table.names, columns, features=features, drop=drop, index=table.index, side=side)
    table = table.with_codes(layout.features)
    data = rows_of_table(table, layout, allow_infinity=allow_infinity).dataset(layout.feature_names, layout.side)
    categories = table.categories()
    return data if categories is None else data.with_features(data.features, layout.features, categories)


def to_pandas(data: RankingDataset, columns: Columns | None = None) -> PandasFrame:
    """A pandas frame with one row for each document, in the order of the data it came from.

    Parameters
    ----------
    data : RankingDataset
        The dataset. Preferences and queries without documents have no place in a table: they are left out, and the log
        says so.
    columns : Columns, optional
        The names of the columns that are not features; the usual ones by default.

    Returns
    -------
    pandas.DataFrame
        Ids first, then the position, label and weights that the dataset has, then the features. NaN
        is a missing feature or an unjudged label.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[0.5], [1.5]], [1, 0], qid=["a", "a"], feature_names=["bm25"])
    >>> rw.to_pandas(data)
      qid  label  bm25
    0   a    1.0   0.5
    1   a    0.0   1.5
    """
    return _frame_of(data, columns, pandas_frame)


def to_polars(data: RankingDataset, columns: Columns | None = None) -> PolarsFrame:
    """A polars frame with one row for each document, in the order of the data it came from.

    Parameters
    ----------
    data : RankingDataset
        The dataset. Preferences and queries without documents have no place in a table: they are left out, and the log
        says so.
    columns : Columns, optional
        The names of the columns that are not features; the usual ones by default.

    Returns
    -------
    polars.DataFrame
        Ids first, then the position, label and weights that the dataset has, then the features. Null
        is a missing feature or an unjudged label.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[0.5], [1.5]], [1, 0], qid=["a", "a"], feature_names=["bm25"])
    >>> rw.to_polars(data).columns
    ['qid', 'label', 'bm25']
    """
    return _frame_of(data, columns, polars_frame)


def to_arrow(data: RankingDataset, columns: Columns | None = None) -> ArrowTable:
    """An Arrow table with one row for each document, in the order of the data it came from.

    Parameters
    ----------
    data : RankingDataset
        The dataset. Preferences and queries without documents have no place in a table: they are left out, and the log
        says so.
    columns : Columns, optional
        The names of the columns that are not features; the usual ones by default.

    Returns
    -------
    pyarrow.Table
        Ids first, then the position, label and weights that the dataset has, then the features. Null
        is a missing feature or an unjudged label.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[0.5], [1.5]], [1, 0], qid=["a", "a"], feature_names=["bm25"])
    >>> rw.to_arrow(data).column_names
    ['qid', 'label', 'bm25']
    """
    return _frame_of(data, columns, arrow_table)


def to_sparse(data: RankingDataset) -> csr_array:
    """The features as a sparse matrix without the zeros.

    Parameters
    ----------
    data : RankingDataset
        The dataset.

    Returns
    -------
    scipy.sparse.csr_array, shape (n_docs, n_features)
        One row for each document, in the order of the data it came from.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[0.0, 2.0], [0.0, 0.0]], group=[2])
    >>> rw.to_sparse(data).nnz
    1
    """
    from scipy.sparse import csr_array

    require_type(data, RankingDataset, "data", "a RankingDataset")
    rows: Any = data.in_source_order(data.features)
    if isinstance(rows, SparseRows) and rows.absent == 0:
        return csr_array((rows.values, rows.columns, rows.starts), shape=rows.shape)
    return csr_array(np.asarray(rows))


@dataclass(frozen=True, slots=True)
class TableReader(Reader):
    """What readers of files with named columns share: the options of `from_frame`, and the columns of categories."""

    columns: Columns | None = None
    features: Sequence[str] | None = None
    drop: Sequence[str] = ()
    categories: Collection[str] = ()
    allow_infinity: bool = False
    side: Sequence[str] = ()

    def layout_of(self, names: Sequence[str], index: Collection[str] = ()) -> TableLayout:
        """The layout of a file with these columns; those in `index` are features only where they are asked for."""
        how: dict[str, Any] = {"features": self.features, "drop": self.drop, "categories": self.categories}
        return find_layout(names, self.columns, index=index, side=self.side, **how)


def rows_of_table(
    table: Table, layout: TableLayout, *, allow_infinity: bool, first_row: int = 0, out: Float32Array | None = None
) -> Rows:
    """The rows of a table with this layout; errors count them from `first_row`. Features are written into `out`."""
    rows = Rows(
        features=table.matrix(layout.features, out),
        runs=Runs.of(table.ids(layout.query)),
        labels=_numbers(table, layout.label),
        document_ids=None if layout.document is None else table.ids(layout.document),
        query_weights=_numbers(table, layout.query_weight),
        document_weights=_numbers(table, layout.document_weight),
        positions=_numbers(table, layout.position, np.int64),
        propensities=_numbers(table, layout.propensity),
        side=table.matrix(layout.side) if layout.side else None,
    )
    fault = rows.first_fault(layout, allow_infinity=allow_infinity)
    if fault is not None:
        raise InputError(Message(f"column {fault.column!r}, row {first_row + fault.row}: ", fault.problem))
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class TableColumns:
    """A dataset as a table, in the order of the caller's data: columns of roles, ids first, and features."""

    roles: Mapping[str, NDArray[Any]]
    names: tuple[str, ...]  # of the features
    features: Float32Array
    origin: str | None = None  # how features were made

    @classmethod
    def of(
        cls, data: RankingDataset, columns: Columns, first_query: int = 0, vectors: str | None = None
    ) -> TableColumns:
        """The dataset's table; queries without ids are numbered from `first_query`.

        Sparse features without names stay so, and are one column, where `vectors` says what that is called.
        """
        side = {name: data.in_source_order(column) for name, column in (data.side or {}).items()}
        keeps_sparse = vectors is not None and data.sparse is not None and not data.feature_names
        names = (str(vectors),) if keeps_sparse else data.names
        check_written_names([*names, *side], columns)
        roles = {columns.written(role): column for role, column in role_columns(data, first_query).items()}
        roles |= {name: column for name, column in side.items() if name not in names}
        features = data.in_source_order(data.features if keeps_sparse else data.dense("a table").features)
        return cls(roles, names, features, data.feature_origin)

    @property
    def header(self) -> list[str]:
        """The names of all columns."""
        return [*self.roles, *self.names]

    def blocks(self, values_at_once: int) -> Iterator[TableColumns]:
        """The table in blocks of about `values_at_once` values; at least one block, even where there are no rows."""
        features: Any = self.features
        stored = len(features.values) // max(1, len(features)) if isinstance(features, SparseRows) else 0
        rows_at_once = max(1, values_at_once // (len(self.header) + stored))
        for start in range(0, max(1, len(self.features)), rows_at_once):
            rows = slice(start, start + rows_at_once)
            yield TableColumns({name: part[rows] for name, part in self.roles.items()}, self.names, self.features[rows])


def tables_of(
    data: RankingDataset | Iterable[RankingDataset], path: FilePath, columns: Columns, vectors: str | None = None
) -> Iterator[TableColumns]:
    """The tables of a dataset, or of its chunks, that go to `path`; queries without ids are numbered through all."""
    for chunk, n_queries in numbered_chunks(data, path, "a table", NO_PLACE):
        yield TableColumns.of(chunk, columns, n_queries, vectors)


def _frame_of(data: RankingDataset, columns: Columns | None, make: Callable[..., Frame]) -> Frame:
    require_type(data, RankingDataset, "data", "a RankingDataset")
    (table,) = tables_of(data, "frame", columns or Columns())
    return make(table.roles, table.names, table.features)


def _numbers(table: Table, name: str | None, dtype: type[np.generic] = np.float32) -> NDArray[Any] | None:
    return None if name is None else as_vector(table.numbers(name), name=f"column {name!r}", dtype=dtype)
