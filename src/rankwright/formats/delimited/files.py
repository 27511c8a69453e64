"""CSV and TSV files in and out, a block of lines at a time.

The first line names the columns. Commas, tabs or semicolons part the cells; a cell may stand in double quotes, inside
which delimiters and line ends are plain text and `""` is one quote. An empty cell, NA, NaN and NULL are missing
numbers; true and false are 1 and 0. Files may be compressed (.gz, .zst).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import thread_count
from rankwright.data.columns import Columns, check_written_names, find_layout
from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats.blocks import (
    OpenTable,
    Paths,
    all_blocks,
    blamed_on,
    listed,
    read_in_pieces,
    read_whole,
    stream_through,
)
from rankwright.formats.delimited.cells import CellReader, whole_lines
from rankwright.formats.delimited.descriptions import read_column_description
from rankwright.formats.documents import Documents, TakeFeatures
from rankwright.formats.rows import IdTypes, Rows, numbered_pieces
from rankwright.formats.sources import FilePath, atomic_output, input_name, is_standard, open_line_blocks
from rankwright.formats.tables import role_columns

DELIMITERS = (",", "\t", ";")
LONGEST_HEADER = 1 << 20  # bytes in which the delimiter is looked for
VALUES_WRITTEN_AT_ONCE = 1 << 18
LONGEST_CELL = 17  # characters of a written number and its delimiter


def read_delimited(
    paths: Paths,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    description: FilePath | None = None,
    allow_infinity: bool = False,
    threads: int | None = None,
) -> RankingDataset:
    """The dataset of CSV or TSV files, rows in any order; the options are those of `from_frame` and three more.

    `delimiter` is found in the first line where it is not given. `names` are the columns of files without a header;
    `description`, CatBoost's file of column types (.cd), is for those too.
    """
    reader = _Reader(columns, features, drop, delimiter, names, description, allow_infinity, thread_count(threads))
    return read_whole(paths, reader.open_table, _settled)


def iter_delimited(
    paths: Paths,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    description: FilePath | None = None,
    allow_infinity: bool = False,
    threads: int | None = None,
) -> Iterator[RankingDataset]:
    """The datasets of whole queries that make up the files, in order, in constant memory.

    The rows of a query must stand together. The options are those of `read_delimited`. Files are read twice, the first
    time for whether all ids are whole numbers; standard input is read once, and its ids are strings.
    """
    reader = _Reader(columns, features, drop, delimiter, names, description, allow_infinity, thread_count(threads))
    id_types = IdTypes()
    if not any(map(is_standard, listed(paths))):
        _, blocks = all_blocks(paths, replace(reader, skips_features=True).open_table)
        id_types = IdTypes.of(block.rows for block in blocks)
    return read_in_pieces(paths, reader.open_table, id_types.settle)


def stream_delimited(
    paths: Paths,
    take: TakeFeatures,
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    description: FilePath | None = None,
    allow_infinity: bool = False,
    threads: int | None = None,
) -> Documents:
    """The documents that `read_delimited` reads; their features go to `take`, a block of rows at a time."""
    reader = _Reader(columns, features, drop, delimiter, names, description, allow_infinity, thread_count(threads))
    return stream_through(paths, reader.open_table, take, _settled)


def _settled(rows: Rows) -> Rows:
    """All rows, with ids of the type that they turn out to have."""
    return IdTypes.of([rows]).settle(rows)


@dataclass(frozen=True, slots=True)
class _Reader:
    columns: Columns | None
    features: Sequence[str] | None
    drop: Sequence[str]
    delimiter: str | None
    names: Sequence[str] | None
    description: FilePath | None
    allow_infinity: bool
    threads: int
    skips_features: bool = False

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            _check_delimiter(self.delimiter)
        if self.description is not None and (self.columns is not None or self.names is not None):
            raise SettingError("a description says what the columns are: give no columns or names beside it")

    def open_table(self, path: str) -> OpenTable:
        file = input_name(path)
        blocks = (block.tobytes() for block in open_line_blocks(path))
        start = next(blocks, b"")
        delimiter = self.delimiter or _delimiter_of(file, start)
        lines = whole_lines(file, chain([start], blocks), delimiter)
        first = next(lines, None)
        if first is None:
            raise FileFormatError(file, "is empty; wanted a line that names the columns")
        cells = first.cells_of(0, delimiter)
        if cells is None:
            raise FileFormatError(file, "text stands behind a closing quote", first.number_of(0))
        with blamed_on(file):
            names, columns, drop = self._meaning(cells)
            layout = find_layout(names, columns, features=self.features, drop=drop)
        if self.names is self.description is None:
            first = first.after_first()
        if self.skips_features:
            layout = replace(layout, features=())
        reader = CellReader(file, names, layout, delimiter, allow_infinity=self.allow_infinity, threads=self.threads)
        return OpenTable(layout, map(reader.rows, chain([first], lines)))

    def _meaning(self, cells: Sequence[str]) -> tuple[Sequence[str], Columns | None, Sequence[str]]:
        """The columns' names, roles, and those to drop, of a file whose first line has these cells."""
        if self.description is None:
            return self.names or cells, self.columns, self.drop
        description = read_column_description(self.description)
        names = description.names(len(cells))
        return names, description.columns(names), [*description.left_out(names), *self.drop]


def _delimiter_of(file: str, start: bytes) -> str:
    """The delimiter that parts the first line into most cells."""
    first_line = re.sub(rb'"[^"]*"', b"", start[:LONGEST_HEADER].lstrip(b"\r\n")).partition(b"\n")[0]
    counts = {delimiter: first_line.count(delimiter.encode()) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: counts[delimiter])
    if counts[best] > 0 and list(counts.values()).count(counts[best]) > 1:
        raise FileFormatError(file, "found as many of one delimiter as of another; say which with delimiter=", line=1)
    return best


def _check_delimiter(delimiter: str) -> None:
    if delimiter not in DELIMITERS:
        raise SettingError(f"delimiter must be a comma, a tab or a semicolon, got {delimiter!r}")


def write_delimited(
    data: RankingDataset | Iterable[RankingDataset],
    path: FilePath,
    columns: Columns | None = None,
    *,
    delimiter: str = ",",
    threads: int | None = None,
) -> None:
    """Write a dataset, or pieces of one, as CSV or TSV with a header; missing numbers are empty cells.

    `read_delimited` gives back the same bits. Rows stand in the order of the caller's data.
    """
    _check_delimiter(delimiter)
    writer = _Writer(columns or Columns(), delimiter, thread_count(threads))
    with atomic_output(path) as file:
        for piece in numbered_pieces(data, path):
            check_written_names(piece.names, writer.columns)
            for text in writer.text_of(piece.names, piece.rows):
                file.write(text)


class _Writer:
    """Makes text of rows; the first ones bring the header, which all must share."""

    def __init__(self, columns: Columns, delimiter: str, threads: int) -> None:
        self.columns = columns
        self._delimiter, self._threads = delimiter, threads
        self._wants_quotes = re.compile(rf'[{delimiter}"\r\n]|^\s|\s$')
        self._header: list[str] = []

    def text_of(self, names: Sequence[str], rows: Rows) -> Iterator[bytes]:
        header = [*role_columns(rows, self.columns), *names]
        if not self._header:
            self._header = header
            yield self._delimiter.join(map(self._quoted, header)).encode() + b"\n"
        elif header != self._header:
            raise InputError("datasets written into one file must have the same columns")
        if rows.qid.dtype.kind == "T" and (rows.qid == "").any():
            raise InputError("a query id is empty; CSV and TSV files need one for each query")
        rows_at_once = max(1, VALUES_WRITTEN_AT_ONCE // len(header))
        for start in range(0, len(rows), rows_at_once):
            yield self._block(rows[start : start + rows_at_once])

    def _block(self, rows: Rows) -> bytes:
        texts = [self._cells(part) for part in (rows.qid, rows.document_ids, rows.positions) if part is not None]
        parts = [rows.labels, rows.query_weights, rows.document_weights]
        numbers = np.column_stack([*(part for part in parts if part is not None), rows.features])
        room = numbers.shape[1] * LONGEST_CELL
        text, lengths = np.empty(len(rows) * room, np.uint8), np.empty(len(rows), np.int64)
        kernels.format_cells(numbers.reshape(-1), numbers.shape[1], ord(self._delimiter), text, lengths, self._threads)
        cells = text.tobytes()
        starts = map(self._delimiter.join, zip(*texts, strict=True))
        return b"".join(
            start.encode() + cells[row * room : row * room + length] + b"\n"
            for row, (start, length) in enumerate(zip(starts, lengths.tolist(), strict=True))
        )

    def _cells(self, part: NDArray[Any]) -> list[str]:
        return list(map(self._quoted if part.dtype.kind == "T" else str, part.tolist()))

    def _quoted(self, cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"' if self._wants_quotes.search(cell) else cell
