"""Sparse features in one column of a Parquet file, as vectors: the form in which Spark keeps them.

A vector is a struct of `type` (0 where it is sparse), `size`, `indices`, which count from 0 and ascend, and `values`. A
vector without indices has all its values. Feature 1 of a dataset is index 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import FEATURE_DTYPE, Float32Array, Int32Array, IntArray
from rankwright.data.columns import quoted_list
from rankwright.data.frames import load_package
from rankwright.data.sparse_rows import SparseRows, stays_sparse
from rankwright.errors import InputError, Message, Parameter
from rankwright.formats.growing_matrix import Room, takes_sparse
from rankwright.memory import require_memory

VECTORS = "features"  # what we call the column
PARTS = {"size", "indices", "values"}
BYTES_PER_FEATURE = 300  # as of wide text
ABSENT = b"rankwright.absent"  # the entry of a file's metadata that tells what is not stored, where that is not 0
MISSING = b"missing"


@dataclass(frozen=True, slots=True)
class VectorColumn:
    """The column of vectors of a file, and how it is read: as sparse rows, or as a matrix where that is small."""

    name: str
    n_columns: int
    stored_in_row: float  # values, on average
    absent: float
    is_sparse: bool

    @classmethod
    def of(cls, name: str, first_rows: Any, n_rows: int, metadata: Mapping[bytes, bytes] | None) -> VectorColumn:
        """The column of a file with so many rows, of which some are there."""
        absent = np.nan if (metadata or {}).get(ABSENT) == MISSING else 0.0
        rows = rows_of_vectors(first_rows, name, 0, absent)
        told = f"vectors of {rows.n_columns:,} places in column {name!r}"
        require_memory(BYTES_PER_FEATURE * rows.n_columns, told)  # whatever is stored
        stored = len(rows.values) / max(1, len(rows))
        sparse = stays_sparse((n_rows, rows.n_columns), round(stored * n_rows))
        return cls(name, rows.n_columns, stored, absent, sparse)

    def values_in_row(self, room: Room | None) -> float:
        """How many values a row takes in memory."""
        return self.stored_in_row if self._keeps_sparse(room) else self.n_columns

    def _keeps_sparse(self, room: Room | None) -> bool:
        return self.is_sparse and (room is None or takes_sparse(room))

    def features(
        self, batch: Any, first_row: int, room: Room | None, bytes_per_row: float, *, allow_infinity: bool
    ) -> Any:
        """The features of some rows: sparse, or a matrix in the room for it."""
        rows = rows_of_vectors(batch.column(self.name), self.name, first_row, self.absent)
        if len(rows) and rows.n_columns != self.n_columns:
            raise _wrong(self.name, first_row, f"the vector has {rows.n_columns} places, others have {self.n_columns}")
        infinite = np.flatnonzero(np.isinf(rows.values))
        if len(infinite) and not allow_infinity:
            row = int(np.searchsorted(rows.starts, infinite[0], side="right")) - 1
            remedy = Parameter("allow_infinity", True)
            wanted = Message("a feature must lie within float32's range; ", remedy, " lets infinite ones in")
            raise _wrong(self.name, first_row + row, wanted)
        if self._keeps_sparse(room):
            return rows
        if room is None:
            return rows.dense()
        matrix = room(len(rows), self.n_columns, bytes_per_row)
        matrix[:] = rows.dense()
        return matrix


def vector_column(schema: Any, features: Sequence[str]) -> str | None:
    """The column of vectors among those of features; None where features are columns of numbers."""
    vectors = [name for name in features if _is_vector(schema.field(name).type)]
    if not vectors:
        return None
    others = [name for name in features if name != vectors[0]]
    if others:
        told = f"column {vectors[0]!r} holds vectors, and {quoted_list(others)} would be features beside it; leave out"
        raise InputError(f"{told} the columns that are no features with ", Parameter("drop"))
    return vectors[0]


def _is_vector(kind: Any) -> bool:
    names = {kind.field(place).name for place in range(kind.num_fields)} if str(kind).startswith("struct") else set()
    return names >= PARTS


def rows_of_vectors(column: Any, name: str, first_row: int, absent: float) -> SparseRows:
    """The rows of an Arrow array of vectors; errors count them from `first_row`."""
    if column.null_count:
        raise _wrong(name, first_row + int(np.flatnonzero(_numbers(column.is_null()))[0]), "there is no vector")
    indices, values = column.field("indices"), column.field("values")
    sizes, is_full = np.diff(_numbers(values.offsets)), _numbers(indices.is_null())
    starts = np.concatenate([[0], np.cumsum(sizes)])
    widths = np.where(is_full, sizes, np.nan_to_num(_numbers(column.field("size")), nan=-1)).astype(np.int64)
    n_columns = int(widths[0]) if len(widths) else 0
    columns = _columns(indices, starts, is_full)
    is_uneven = ~is_full & (np.diff(_numbers(indices.offsets)) != sizes)
    within = np.repeat(np.arange(len(sizes)), sizes)
    backward = np.flatnonzero((np.diff(columns) <= 0) & (np.diff(within) == 0)) + 1
    outside = np.flatnonzero((columns < 0) | (columns >= n_columns))
    for rows, problem in (
        (np.flatnonzero(widths < 0), "the size must be 0 or more"),
        (np.flatnonzero(widths != n_columns), "the vector has another size than those above"),
        (np.flatnonzero(is_uneven), "indices and values differ in number"),
        (within[outside], f"an index lies outside 0 to {n_columns - 1}"),
        (within[backward], "indices must ascend"),
    ):
        if len(rows):
            raise _wrong(name, first_row + int(rows[0]), problem)
    with np.errstate(over="ignore"):  # numbers beyond float32's range become infinite
        stored = _flat(values).astype(FEATURE_DTYPE)
    return SparseRows(starts, columns, stored, n_columns, absent)


def _columns(indices: Any, starts: IntArray, is_full: NDArray[np.bool_]) -> Int32Array:
    """The column of each stored value; rows without indices have all columns."""
    listed = _flat(indices).astype(np.int32)
    if not is_full.any():
        return listed if len(listed) == starts[-1] else np.full(starts[-1], -1, np.int32)
    sizes = np.diff(starts)
    columns = (np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)).astype(np.int32)
    of_sparse = np.repeat(~is_full, sizes)
    columns[of_sparse] = listed if len(listed) == of_sparse.sum() else -1
    return columns


def _flat(lists: Any) -> NDArray[Any]:
    """The values of all lists, one after another; null is NaN."""
    offsets = _numbers(lists.offsets)
    return _numbers(lists.values)[offsets[0] : offsets[-1]]


def _numbers(array: Any) -> NDArray[Any]:
    return np.asarray(array.to_numpy(zero_copy_only=False))


def _wrong(name: str, row: int, problem: str | Message) -> InputError:
    return InputError(Message(f"column {name!r}, row {row}: ", problem))


def vectors_of(rows: SparseRows) -> Any:
    """The rows as an Arrow array of vectors."""
    arrow = load_package("pyarrow", "writing Parquet")
    ends = arrow.array(rows.starts.astype(np.int32))
    parts = {
        "type": arrow.array(np.zeros(len(rows), np.int8)),
        "size": arrow.array(np.full(len(rows), rows.n_columns, np.int32)),
        "indices": arrow.ListArray.from_arrays(ends, arrow.array(rows.columns)),
        "values": arrow.ListArray.from_arrays(ends, arrow.array(rows.values)),
    }
    return arrow.StructArray.from_arrays(list(parts.values()), names=list(parts))


def metadata_of(features: Float32Array | SparseRows) -> dict[bytes, bytes]:
    """What a file tells of features that it does not store."""
    is_missing = isinstance(features, SparseRows) and np.isnan(features.absent)
    return {ABSENT: MISSING} if is_missing else {}
