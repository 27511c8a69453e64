"""Parquet files in and out, a block of rows at a time.

Features are written as float32, a missing one as null; ids as 64-bit integers or strings. Sparse features are a column
of vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from os import fspath
from typing import IO, Any, ClassVar

import numpy as np

from rankwright.arrays import IntArray
from rankwright.data.columns import Columns, TableLayout
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import arrow_table, index_columns, load_package, table_of
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import FileFormatError, InputError, RankwrightError, SettingError
from rankwright.formats.blocks import Opener, OpenFile, Rows, errors_name_file
from rankwright.formats.dataset_tables import TableColumns, TableReader, rows_of_table, tables_of
from rankwright.formats.growing_matrix import Room
from rankwright.formats.storage.places import FilePath, is_address, is_folder, opened, size_of
from rankwright.formats.storage.streams import atomic_output, compression_of_name
from rankwright.formats.vectors import VECTORS, VectorColumn, metadata_of, vector_column, vectors_of

VALUES_READ_AT_ONCE = 1 << 20  # 4 MB
BYTES_READ_AHEAD = 1 << 16  # of each column
VALUES_WRITTEN_AT_ONCE = 1 << 21  # 8 MB
ROWS_LOOKED_AT = 1 << 10  # to tell whether a column of vectors stays sparse
BYTES_IN_GROUP = 1 << 26  # of a row group, which other tools read at once
ORIGIN = b"rankwright.features"  # the entry of a file's metadata that tells how features were made
LONGEST_ORIGIN = 16 << 20  # bytes
BYTES_IN_PAGE = 1 << 16  # of a column, which every reader holds; a longer dictionary would make files larger, too


@dataclass(frozen=True, slots=True)
class ParquetReader(TableReader):
    """Opens Parquet files; the options are those of `from_frame`. Only columns that are used are read."""

    jumps: ClassVar[bool] = True

    def opener(self) -> Opener:
        """A function that opens one file after another."""
        return self.open_file

    def category_texts(self, path: str) -> Iterator[Mapping[str, set[str]]]:
        """The texts in the columns of categories of a file, block by block."""
        file, _ = self._opened(path)
        names = list(self.categories)
        with _closing(file), arrow_errors(path), errors_name_file(path):
            for batch in file.iter_batches(max(1, VALUES_READ_AT_ONCE // len(names)), columns=names, use_threads=False):
                table = table_of(batch)
                yield {name: table.texts(name) for name in names}

    def open_file(
        self, path: str, room: Room | None, *, chosen: IntArray | None = None, only_queries: bool = False
    ) -> OpenFile:
        """Open a file to read all rows or the chosen ones, in ascending order; on request only their query ids."""
        file, layout = self._opened(path)
        layout = layout.only_queries() if only_queries else layout
        origin = _origin(file.schema_arrow.metadata, path)
        with arrow_errors(path), errors_name_file(path):
            vectors = _vectors_of(file, layout)
        if vectors is not None:
            layout = replace(layout, features=())
        return OpenFile(self._blocks(path, file, layout, vectors, room, chosen), layout, origin=origin)

    def may_be_sparse(self, path: str) -> bool:
        """Whether the features are vectors."""
        file, layout = self._opened(path)
        with _closing(file), arrow_errors(path), errors_name_file(path):
            return vector_column(file.schema_arrow, layout.features) is not None

    def _blocks(
        self,
        path: str,
        file: Any,
        layout: TableLayout,
        vectors: VectorColumn | None,
        room: Room | None,
        chosen: IntArray | None,
    ) -> Iterator[Rows]:
        """The rows of a file, all or those chosen, in blocks."""
        take = room if chosen is None else None
        columns = [*layout.used, *([] if vectors is None else [vectors.name])]
        n_values = len(columns) + (0 if vectors is None else int(vectors.values_in_row(take)))
        rows_at_once = max(1, VALUES_READ_AT_ONCE // n_values)
        options = {"columns": columns, "use_threads": False}
        with _closing(file), arrow_errors(path), errors_name_file(path):
            bytes_per_row = size_of(path) / max(1, file.metadata.num_rows)
            # Arrow's threads take a column each: for blocks this small they cost more than they gain.
            for row, groups in _row_groups(file, chosen):
                for batch in file.iter_batches(rows_at_once, row_groups=groups, **options):
                    place = take and take(batch.num_rows, len(layout.features), bytes_per_row) if not vectors else None
                    table = table_of(batch)
                    if isinstance(self.categories, Mapping):
                        table = table.with_codes_in(self.categories)
                    how: dict[str, Any] = {"allow_infinity": self.allow_infinity, "first_row": row, "out": place}
                    block = rows_of_table(table, layout, **how)
                    if vectors is not None:
                        known = {"allow_infinity": self.allow_infinity}
                        block = replace(block, features=vectors.features(batch, row, take, bytes_per_row, **known))
                    if chosen is not None:
                        begin, end = np.searchsorted(chosen, [row, row + batch.num_rows])
                        block = block.take(chosen[begin:end] - row)
                    row += batch.num_rows
                    yield block

    def _opened(self, path: str) -> tuple[Any, TableLayout]:
        file = _open_parquet(path)
        with arrow_errors(path), errors_name_file(path):
            return file, self.layout_of(file.schema_arrow.names, index_columns(file.schema_arrow))


@dataclass(frozen=True, slots=True)
class ParquetRowsReader(ParquetReader):
    """Reads the given rows of each file, in ascending order; row groups without any are not read."""

    rows_of: Mapping[str, IntArray] = field(default_factory=dict)

    def opener(self) -> Opener:
        """A function that opens one file after another."""
        return lambda path, room: self.open_file(path, room, chosen=self.rows_of[path])


def _vectors_of(file: Any, layout: TableLayout) -> VectorColumn | None:
    """The column of vectors, if features are in one."""
    name = vector_column(file.schema_arrow, layout.features)
    if name is None or file.metadata.num_rows == 0:
        return None
    first = next(file.iter_batches(ROWS_LOOKED_AT, columns=[name], use_threads=False))
    return VectorColumn.of(name, first.column(name), file.metadata.num_rows, file.schema_arrow.metadata)


def _row_groups(file: Any, chosen: IntArray | None) -> Iterator[tuple[int, list[int]]]:
    """Row groups to read in one go, with the number of their first row: those with chosen rows, or all."""
    counts = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    if chosen is None:
        yield 0, list(range(len(counts)))
        return
    starts = np.cumsum([0, *counts])
    for group in np.flatnonzero(np.diff(np.searchsorted(chosen, starts))).tolist():
        yield int(starts[group]), [group]


def _origin(metadata: Mapping[bytes, bytes] | None, path: str) -> str | None:
    """How the features were made, if the file tells."""
    told = (metadata or {}).get(ORIGIN)
    if told is None:
        return None
    try:
        if len(told) <= LONGEST_ORIGIN:
            return told.decode()
    except UnicodeDecodeError:
        pass
    raise FileFormatError(path, "what it tells of how its features were made cannot be read")


def _open_parquet(path: str) -> Any:
    if is_folder(path):
        raise FileFormatError(path, "is a directory; wanted a Parquet file")
    parquet = load_package("pyarrow.parquet", "reading Parquet")
    with arrow_errors(path), errors_name_file(path):
        if is_address(path):  # where asking often costs more than the memory of a row group
            return parquet.ParquetFile(opened(path), pre_buffer=True)
        opened(path).close()  # what the system says of a file that cannot be opened names the file
        # So memory holds pages, not whole row groups.
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=BYTES_READ_AHEAD)


@contextmanager
def _closing(file: Any) -> Iterator[None]:
    """Close the file in the end, and with it the remote file that it reads from, which pyarrow would leave open.

    Memory that Arrow keeps for later is given back to the system: a hundred megabytes after a wide file.
    """
    try:
        yield
    finally:
        file.close(force=True)
        load_package("pyarrow", "reading Parquet").default_memory_pool().release_unused()


@contextmanager
def arrow_errors(path: str) -> Iterator[None]:
    """Name the file in errors about a broken file; the system's own errors name it already.

    What Arrow reads from a damaged file may be no text, or lead to a place that is not there.
    """
    arrow = load_package("pyarrow", "reading Parquet")
    try:
        yield
    except RankwrightError:
        raise
    except (arrow.ArrowException, OSError, ValueError, LookupError, OverflowError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        problem = " ".join(str(error).split())  # Arrow's messages have lines of their own
        raise FileFormatError(path, f"is not a whole Parquet file: {problem}") from None


def write_parquet(
    data: RankingDataset | Iterable[RankingDataset], path: FilePath, columns: Columns | None = None
) -> None:
    """Write a dataset, or chunks of one, as Parquet; reading it gives back the same bits.

    Rows are in the order of the caller's data.
    """
    if compression_of_name(fspath(path)) is not None:
        raise SettingError(f"{fspath(path)}: Parquet compresses its columns itself; wanted a name without .gz or .zst")
    with atomic_output(path) as file, closing(_GroupWriter(file)) as writer:
        for table in tables_of(data, path, columns or Columns(), vectors=VECTORS):
            told = metadata_of(table.features) | ({} if table.origin is None else {ORIGIN: table.origin.encode()})
            for block in table.blocks(VALUES_WRITTEN_AT_ONCE):
                own = _arrow_block(block)
                writer.append(own.replace_schema_metadata(told) if told else own)
        writer.write_group()


def _arrow_block(block: TableColumns) -> Any:
    """Some rows as an Arrow table."""
    rows: Any = block.features
    if not isinstance(rows, SparseRows):
        return arrow_table(block.roles, block.names, rows)
    roles = arrow_table(block.roles, (), np.empty((len(rows), 0), np.float32))
    return roles.append_column(VECTORS, vectors_of(rows))


def copy_parquet_rows(path: str, part_of_row: IntArray, files_of: Sequence[Sequence[IO[bytes]]]) -> int:
    """Copy each row, with all its columns, into the files of its part, and return how many rows there were."""
    parquet = load_package("pyarrow.parquet", "reading Parquet")
    every_file = dict.fromkeys(file for files in files_of for file in files)
    in_group = max(BYTES_IN_PAGE, BYTES_IN_GROUP // len(every_file))  # so that all files together need little memory
    row = 0
    with ExitStack() as stack, arrow_errors(path):
        source = parquet.ParquetFile(path, pre_buffer=False, buffer_size=BYTES_READ_AHEAD)
        stack.enter_context(_closing(source))
        writers = {file: stack.enter_context(closing(_GroupWriter(file, in_group))) for file in every_file}
        columns = max(1, len(source.schema_arrow.names))
        for batch in source.iter_batches(max(1, VALUES_READ_AT_ONCE // columns), use_threads=False):
            table = load_package("pyarrow", "reading Parquet").Table.from_batches([batch])
            parts = part_of_row[row : row + batch.num_rows]
            for part in np.unique(parts).tolist():
                rows = table.take(np.flatnonzero(parts == part))
                for file in files_of[part]:
                    writers[file].append(rows)
            row += batch.num_rows
        for writer in writers.values():
            writer.write_group()
    return row


class _GroupWriter:
    """Gathers tables into row groups; the first table says which columns there are."""

    def __init__(self, file: IO[bytes], bytes_in_group: int = BYTES_IN_GROUP) -> None:
        self._file, self._bytes_in_group = file, bytes_in_group
        self._writer: Any = None
        self._tables: list[Any] = []  # of the next row group

    def append(self, table: Any) -> None:
        if self._writer is None:
            parquet = load_package("pyarrow.parquet", "writing Parquet")
            pages = {"data_page_size": BYTES_IN_PAGE, "dictionary_pagesize_limit": BYTES_IN_PAGE}
            self._writer = parquet.ParquetWriter(self._file, table.schema, compression="zstd", **pages)
        elif table.schema != self._writer.schema:
            raise InputError("datasets written into one file must have the same columns")
        self._tables.append(table)
        if sum(table.nbytes for table in self._tables) >= self._bytes_in_group:
            self.write_group()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def write_group(self) -> None:
        if not self._tables:
            return
        group = load_package("pyarrow", "writing Parquet").concat_tables(self._tables)
        self._writer.write_table(group, row_group_size=max(1, len(group)))
        self._tables = []


def parquet_columns(path: FilePath) -> list[str]:
    """The names of the columns of a Parquet file."""
    parquet = load_package("pyarrow.parquet", "reading Parquet")
    with arrow_errors(fspath(path)):
        return list(parquet.read_schema(fspath(path)).names)


def parquet_batches(path: str, rows_at_once: int) -> Iterator[Any]:
    """All columns of a Parquet file, some rows at a time, as Arrow's record batches."""
    file = _open_parquet(path)
    with _closing(file), arrow_errors(path), errors_name_file(path):
        yield from file.iter_batches(rows_at_once, use_threads=False)


def write_parquet_columns(columns: Mapping[str, Sequence[Any]], path: FilePath) -> None:
    """Write a table of any columns as Parquet."""
    arrow, parquet = load_package("pyarrow", "writing Parquet"), load_package("pyarrow.parquet", "writing Parquet")
    with atomic_output(path) as file:
        parquet.write_table(arrow.table(dict(columns)), file)
