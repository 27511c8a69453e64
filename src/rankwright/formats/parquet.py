"""Parquet files in and out, a block of rows at a time.

Features are written as float32, a missing one as null; ids as 64-bit integers or strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from os import fspath
from pathlib import Path
from typing import IO, Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.data.columns import Columns, Layout, check_written_names, find_layout
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import arrow_table, load, table_of
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats.blocks import OpenTable, Paths, blamed_on, read_in_pieces, read_whole, stream_through
from rankwright.formats.compressed import compression_of_name
from rankwright.formats.documents import Documents, TakeFeatures
from rankwright.formats.rows import Rows, numbered_pieces
from rankwright.formats.sources import FilePath, atomic_output
from rankwright.formats.tables import role_columns, rows_of_table

VALUES_READ_AT_ONCE = 1 << 20  # 4 MB
BYTES_READ_AHEAD = 1 << 16  # of each column
VALUES_WRITTEN_AT_ONCE = 1 << 21  # 8 MB
BYTES_IN_GROUP = 1 << 26  # of a row group, which other tools read at once


def read_parquet(
    paths: Paths,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    allow_infinity: bool = False,
) -> RankingDataset:
    """The dataset of Parquet files, rows in any order; the options are those of `from_frame`.

    Only the columns that take part are read.
    """
    return read_whole(paths, lambda path: _open_table(path, columns, features, drop, allow_infinity))


def iter_parquet(
    paths: Paths,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    allow_infinity: bool = False,
) -> Iterator[RankingDataset]:
    """The datasets of whole queries that make up the files, in order, in constant memory.

    The rows of a query must stand together.
    """
    return read_in_pieces(paths, lambda path: _open_table(path, columns, features, drop, allow_infinity))


def stream_parquet(
    paths: Paths,
    take: TakeFeatures,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    allow_infinity: bool = False,
) -> Documents:
    """The documents that `read_parquet` reads; their features go to `take`, a block of rows at a time."""
    return stream_through(paths, lambda path: _open_table(path, columns, features, drop, allow_infinity), take)


def stream_parquet_rows(
    paths: Sequence[str],
    rows_of: Mapping[str, IntArray],
    take: TakeFeatures,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    allow_infinity: bool = False,
) -> Documents:
    """The documents in the given rows of each file, in ascending order; the parts of a file without any are not read.

    Their features go to `take`, a block of rows at a time.
    """

    def open_rows(path: str) -> OpenTable:
        return _open_table(path, columns, features, drop, allow_infinity, rows_of[path])

    return stream_through(paths, open_rows, take)


def open_query_ids(path: str, columns: Columns | None = None, drop: Sequence[str] = ()) -> OpenTable:
    """A file of which nothing but the query ids is read."""
    return _open_table(path, columns, (), drop, False, only_queries=True)


def _open_table(
    path: str,
    columns: Columns | None,
    features: Sequence[str] | None,
    drop: Sequence[str],
    allow_infinity: bool,
    rows: IntArray | None = None,
    *,
    only_queries: bool = False,
) -> OpenTable:
    if Path(path).is_dir():
        raise FileFormatError(path, "is a directory; wanted a Parquet file")
    parquet = load("pyarrow.parquet", "reading Parquet")
    with _arrow_errors(path), blamed_on(path):
        # So memory holds pages, not whole row groups.
        file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=BYTES_READ_AHEAD)
        layout = find_layout(file.schema_arrow.names, columns, features=features, drop=drop)
    if only_queries:
        layout = layout.only_queries()
    return OpenTable(layout, _blocks(path, file, layout, allow_infinity, rows))


def _blocks(
    path: str, file: Any, layout: Layout, allow_infinity: bool, chosen: IntArray | None = None
) -> Iterator[Rows]:
    """The rows of a file, all or those chosen, in blocks."""
    rows_at_once = max(1, VALUES_READ_AT_ONCE // len(layout.used))
    options = {"columns": list(layout.used), "use_threads": False}
    with file, _memory_returned(), _arrow_errors(path), blamed_on(path):
        # Arrow's threads take a column each: for blocks that small they cost more than they bring.
        for row, groups in _row_groups(file, chosen):
            for batch in file.iter_batches(rows_at_once, row_groups=groups, **options):
                block = rows_of_table(table_of(batch), layout, allow_infinity=allow_infinity, first_row=row)
                if chosen is not None:
                    begin, end = np.searchsorted(chosen, [row, row + batch.num_rows])
                    block = block[chosen[begin:end] - row]
                row += batch.num_rows
                if len(block):
                    yield block


def _row_groups(file: Any, chosen: IntArray | None) -> Iterator[tuple[int, list[int]]]:
    """Row groups to read in one go, and the number of their first row: those that hold chosen rows, or all."""
    counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    if chosen is None:
        yield 0, list(range(len(counts)))
        return
    starts = np.cumsum([0, *counts])
    for group in np.flatnonzero(np.diff(np.searchsorted(chosen, starts))).tolist():
        yield int(starts[group]), [group]


@contextmanager
def _memory_returned() -> Iterator[None]:
    """Give the system back what Arrow keeps for later once it is done: a hundred megabytes of a wide file."""
    try:
        yield
    finally:
        load("pyarrow", "reading Parquet").default_memory_pool().release_unused()


@contextmanager
def _arrow_errors(path: str) -> Iterator[None]:
    """Say of a broken file which it is; the system's own errors say so themselves."""
    arrow = load("pyarrow", "reading Parquet")
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise FileFormatError(path, f"is not a whole Parquet file: {error}") from None


def write_parquet(
    data: RankingDataset | Iterable[RankingDataset], path: FilePath, columns: Columns | None = None
) -> None:
    """Write a dataset, or pieces of one, as Parquet, so that `read_parquet` gives back the same bits.

    Rows stand in the order of the caller's data.
    """
    columns = columns or Columns()
    if compression_of_name(fspath(path)) is not None:
        raise SettingError(f"{fspath(path)}: Parquet compresses its columns itself; wanted a name without .gz or .zst")
    with atomic_output(path) as file, closing(_Writer(file)) as writer:
        for names, rows in numbered_pieces(data, path):
            check_written_names(names, columns)
            rows_at_once = max(1, VALUES_WRITTEN_AT_ONCE // max(1, len(names)))
            for start in range(0, max(1, len(rows)), rows_at_once):  # even no rows have columns
                block = rows[start : start + rows_at_once]
                writer.append(arrow_table(role_columns(block, columns), names, block.features))
        writer.write_group()


class _Writer:
    """Gathers tables into row groups; the first says what columns there are."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None
        self._tables: list[Any] = []  # of the row group to come

    def append(self, table: Any) -> None:
        if self._writer is None:
            parquet = load("pyarrow.parquet", "writing Parquet")
            self._writer = parquet.ParquetWriter(self._file, table.schema, compression="zstd")
        elif table.schema != self._writer.schema:
            raise InputError("datasets written into one file must have the same columns")
        self._tables.append(table)
        if sum(table.nbytes for table in self._tables) >= BYTES_IN_GROUP:
            self.write_group()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def write_group(self) -> None:
        if not self._tables:
            return
        group = load("pyarrow", "writing Parquet").concat_tables(self._tables)
        self._writer.write_table(group, row_group_size=max(1, len(group)))
        self._tables = []
