"""Features of which only some values are stored, as text and one-hot columns have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import FEATURE_DTYPE, Float32Array, IntArray
from rankwright.errors import InputError
from rankwright.kernels.records import SparseTable
from rankwright.memory import require_memory

ABSENT = {"zero": 0.0, "missing": np.nan}
# A sparse matrix stays sparse if all its values would take this many bytes or more, and this many times its own size.
LEAST_BYTES, LEAST_TIMES = 64 << 20, 8
ENTRY_BYTES = 8  # of a stored value and its column
VALUES_AT_A_TIME = 1 << 24


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseRows(SparseTable):
    """Rows of features that take the place of a matrix where most of its values are absent.

    `rows[places]` are some of the rows; whatever asks for columns gets full ones, and `numpy.asarray` the full matrix,
    if it fits memory.
    """

    @classmethod
    def of(cls, matrix: Any, absent: str = "zero") -> Self:
        """The rows of a scipy sparse matrix; values that it does not store are 0, or missing."""
        if absent not in ABSENT:
            raise InputError(f"absent must be 'zero' or 'missing', got {absent!r}")
        rows = matrix.tocsr()
        if not rows.has_canonical_format:
            rows = rows.copy()
            rows.sum_duplicates()
        values = np.ascontiguousarray(rows.data, FEATURE_DTYPE)
        starts, columns = rows.indptr.astype(np.int64), np.ascontiguousarray(rows.indices, np.int32)
        return cls(starts, columns, values, int(rows.shape[1]), ABSENT[absent])

    @classmethod
    def of_matrix(cls, matrix: Float32Array, absent: float) -> Self:
        """The rows of a full matrix, of which values that are not `absent` are stored."""
        is_stored = ~np.isnan(matrix) if np.isnan(absent) else matrix != absent
        rows, columns = np.nonzero(is_stored)
        starts = np.searchsorted(rows, np.arange(len(matrix) + 1))
        return cls(starts, columns.astype(np.int32), matrix[rows, columns], matrix.shape[1], absent)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return len(self.starts) - 1, self.n_columns

    @property
    def ndim(self) -> int:
        """2, as of every matrix."""
        return 2

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """The type of values."""
        return np.dtype(np.float32)

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.starts) - 1

    def __repr__(self) -> str:
        return f"SparseRows({len(self):,} × {self.n_columns:,}, {len(self.values):,} stored)"

    def __getitem__(self, places: Any) -> Any:
        """Some rows; with columns, or of a single row, the values themselves."""
        if isinstance(places, tuple):
            rows, columns = places
            chosen = self[rows] if not isinstance(rows, int | np.integer) else self[[int(rows)]]
            taken = chosen.full_columns(np.arange(self.n_columns)[columns])
            return taken[0] if isinstance(rows, int | np.integer) else taken
        if isinstance(places, int | np.integer):
            return self[[int(places)]].dense()[0]
        if isinstance(places, slice) and places.step in (None, 1):
            first, end, _ = places.indices(len(self))
            return self._run(first, max(first, end))
        return self._taken(np.arange(len(self))[places])

    def _run(self, first: int, end: int) -> SparseRows:
        begin, stop = int(self.starts[first]), int(self.starts[end])
        starts = self.starts[first : end + 1] - begin
        return SparseRows(starts, self.columns[begin:stop], self.values[begin:stop], self.n_columns, self.absent)

    def _taken(self, rows: IntArray) -> SparseRows:
        sizes = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        require_memory(ENTRY_BYTES * int(starts[-1]), f"{len(rows):,} rows with {int(starts[-1]):,} stored values")
        columns, values = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.float32)
        for part in _pieces(starts):  # places of entries take more memory than the entries themselves
            own, n = slice(starts[part.start], starts[part.stop]), sizes[part]
            within = np.arange(own.stop - own.start) - np.repeat(starts[part] - own.start, n)
            entries = np.repeat(self.starts[:-1][rows[part]], n) + within
            columns[own], values[own] = self.columns[entries], self.values[entries]
        return SparseRows(starts, columns, values, self.n_columns, self.absent)

    def full_columns(self, columns: IntArray) -> Float32Array:
        """All values of some columns, a row for each row."""
        chosen = np.atleast_1d(columns)
        require_memory(4 * len(self) * len(chosen), f"{len(self):,} documents × {len(chosen):,} features")
        place_of = np.full(self.n_columns, -1, np.int64)
        place_of[chosen] = np.arange(len(chosen))
        full = np.full((len(self), len(chosen)), self.absent, np.float32)
        for part in _pieces(self.starts):
            own = slice(self.starts[part.start], self.starts[part.stop])
            rows = np.repeat(np.arange(part.start, part.stop), np.diff(self.starts[part.start : part.stop + 1]))
            places = place_of[self.columns[own]]
            kept = places >= 0
            full[rows[kept], places[kept]] = self.values[own][kept]
        return full if np.ndim(columns) else full[:, 0]

    def dense(self) -> Float32Array:
        """All values."""
        return self.full_columns(np.arange(self.n_columns))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("sparse rows have no matrix that could be had without a copy")
        return self.dense() if dtype is None else self.dense().astype(dtype)

    def copy(self) -> Float32Array:
        """All values, for callers that are going to change some."""
        return self.dense()

    def blocks(self, n_columns: int) -> Iterator[SparseRows]:
        """The rows, so many at a time that a matrix of `n_columns` columns of them is small."""
        n = max(1, VALUES_AT_A_TIME // max(1, n_columns))
        return (self[first : first + n] for first in range(0, len(self), n))

    def arrays(self) -> list[NDArray[Any]]:
        """What tells these rows from others."""
        return [np.array([self.n_columns, self.absent]), self.starts, self.columns, self.values]


def _pieces(starts: IntArray) -> Iterator[slice]:
    """Rows whose entries begin at `starts`, some at a time."""
    n_rows, first = len(starts) - 1, 0
    while first < n_rows:
        end = int(np.searchsorted(starts, starts[first] + VALUES_AT_A_TIME, side="right")) - 1
        yield slice(first, min(n_rows, max(first + 1, end)))
        first = min(n_rows, max(first + 1, end))


def joined_rows(parts: list[Any]) -> Any:
    """The rows of all parts, each sparse or a matrix: sparse if all are. The list is then emptied."""
    if not all(isinstance(part, SparseRows) for part in parts):
        return np.concatenate([np.asarray(part) for part in parts])
    n_columns, absent = parts[0].n_columns, parts[0].absent
    if any(part.n_columns != n_columns or str(part.absent) != str(absent) for part in parts):
        raise InputError("sparse features of several datasets must have the same columns, and the same absent values")
    ends = np.cumsum([len(part.values) for part in parts])
    require_memory(ENTRY_BYTES * int(ends[-1]), f"{int(ends[-1]):,} stored values")
    moved = [part.starts[1:] + end - len(part.values) for part, end in zip(parts, ends, strict=True)]
    columns = [part.columns for part in parts]
    values = [part.values for part in parts]
    parts.clear()  # what is joined can be freed before the rest is
    joined_columns = np.concatenate(columns)
    columns.clear()
    return SparseRows(np.concatenate([[0], *moved]), joined_columns, np.concatenate(values), n_columns, absent)


def stays_sparse(shape: tuple[int, int], n_stored: int) -> bool:
    """Whether a matrix of that shape, with so many stored values, is kept as it is."""
    n_bytes = 4 * shape[0] * shape[1]
    return n_bytes >= LEAST_BYTES and n_bytes >= LEAST_TIMES * ENTRY_BYTES * n_stored
