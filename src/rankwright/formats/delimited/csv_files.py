"""CSV and TSV files in and out, a block of lines at a time.

The first line names the columns. Commas, tabs or semicolons separate the cells; a cell may be in double quotes,
inside which delimiters and line ends are plain text and `""` is one quote. An empty cell, NA, NaN and NULL are missing
numbers; true and false are 1 and 0. Files may be compressed (.gz, .zst).

Files without a header may have CatBoost's column description (.cd) beside them, which gives columns their roles:

    0   Auxiliary
    1   GroupId
    2   Label
    5   Num     clicks

Columns are counted from 0; one that is not described holds a number. The third field, a feature's name, may be absent.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import thread_count
from rankwright.data.categories import Categories
from rankwright.data.columns import Columns, TableLayout
from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, InputError, Message, Parameter, SettingError, require
from rankwright.formats.blocks import IdTypes, Opener, OpenFile, errors_name_file
from rankwright.formats.dataset_tables import TableColumns, TableReader, tables_of
from rankwright.formats.delimited.cells import CellReader, Lines, is_text, whole_lines
from rankwright.formats.growing_matrix import Room
from rankwright.formats.lines import LONGEST_QUOTE, is_count, numbered_fields
from rankwright.formats.pipeline import scan_ids
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import atomic_output, input_name, is_standard, open_line_blocks

DELIMITERS = (",", "\t", ";")
LONGEST_HEADER = 1 << 20  # bytes in which the delimiter is looked for
VALUES_WRITTEN_AT_ONCE = 1 << 18
LONGEST_CELL = 17  # characters of a written number and its delimiter
NUMBERED = re.compile(r"[1-9]\d*")  # the name of a feature that has none
FEATURE, LEFT_OUT = "feature", "left out"
TYPES_OF_ROLE = {
    "label": ("Label", "Target"),
    "query": ("GroupId", "QueryId"),
    "document": ("SampleId", "DocId"),
    "query_weight": ("GroupWeight",),
    "document_weight": ("Weight",),
    FEATURE: ("Num",),
    LEFT_OUT: ("Auxiliary", "SubgroupId", "Timestamp"),
}
ROLE_OF_TYPE = {kind: role for role, kinds in TYPES_OF_ROLE.items() for kind in kinds}


@dataclass(frozen=True, slots=True)
class DelimitedReader(TableReader):
    """Opens CSV and TSV files; the options are those of `from_frame` and four more.

    Without `delimiter` it is found in the first line. `names` are the columns of files without a header; `description`,
    CatBoost's file of column types (.cd), is for such files too. `threads` parse in parallel.
    """

    delimiter: str | None = None
    names: Sequence[str] | None = None
    description: FilePath | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        thread_count(self.threads)
        if self.delimiter is not None:
            _check_delimiter(self.delimiter)
        if self.description is not None and (self.columns is not None or self.names is not None):
            raise SettingError("a description says what the columns are: give no columns or names beside it")

    def opener(self) -> Opener:
        """A function that opens one file after another."""
        return self._open_file

    def prepared(self, paths: Sequence[str]) -> tuple[Opener, IdTypes | None]:
        """The types of ids are found by reading the files beforehand; ids from standard input are text."""
        return self._open_file, IdTypes() if any(map(is_standard, paths)) else scan_ids(paths, self._open_file)

    def category_texts(self, path: str) -> Iterator[Mapping[str, set[str]]]:
        """The texts in the columns of categories of a file, block by block."""
        opened = self._opened(path)
        layout = replace(opened.layout.only_queries(), features=tuple(self.categories))
        unknown = dict.fromkeys(self.categories, ())
        return map(self._cells(opened, layout, unknown).category_texts, opened.lines)

    def copied_lines(self, path: str) -> Iterator[tuple[bytes, list[bytes]]]:
        """The text of a file, block by block: its header, and the lines of rows."""
        opened = self._opened(path)
        yield opened.header, []
        for lines in opened.lines:
            spans = zip(lines.starts.tolist(), lines.ends.tolist(), strict=True)
            yield b"", [lines.text[start:end] + b"\n" for start, end in spans]

    def _open_file(self, path: str, room: Room | None) -> OpenFile:
        opened = self._opened(path)
        layout = replace(opened.layout, features=()) if room is None else opened.layout
        known = self.categories if isinstance(self.categories, Mapping) and room is not None else {}
        return OpenFile(map(self._cells(opened, layout, known).rows, opened.lines), layout)

    def _cells(self, opened: _OpenLines, layout: TableLayout, categories: Categories) -> CellReader:
        how: dict[str, Any] = {"allow_infinity": self.allow_infinity, "threads": thread_count(self.threads)}
        return CellReader(opened.file, opened.names, layout, opened.delimiter, categories=categories, **how)

    def _opened(self, path: str) -> _OpenLines:
        file = input_name(path)
        blocks = (block.tobytes() for block in open_line_blocks(path))
        start = next(blocks, b"")
        delimiter = self.delimiter or delimiter_of(file, start)
        lines = whole_lines(file, chain([start], blocks), delimiter)
        first = next(lines, None)
        if first is None:
            raise FileFormatError(file, "is empty; wanted a line that names the columns")
        cells = first.cells_of(0, delimiter)
        if cells is None:
            raise FileFormatError(file, "there is text after a closing quote", first.number_of(0))
        has_header = self.names is self.description is None
        with errors_name_file(file):
            names, described = self._described(cells)
            try:
                layout = described.layout_of(names)
            except InputError:
                if has_header and _are_values(cells):
                    raise _no_header(len(cells)) from None
                raise
        header = first.text[first.starts[0] : first.ends[0]] + b"\n" if has_header else b""
        if has_header:
            first = replace(first, starts=first.starts[1:], ends=first.ends[1:])
        return _OpenLines(file, names, layout, delimiter, chain([first], lines), header)

    def _described(self, cells: Sequence[str]) -> tuple[Sequence[str], TableReader]:
        """The names of the columns of a file whose first line has these cells, and a reader that knows their roles."""
        if self.description is None:
            return self.names or cells, self
        description = read_column_description(self.description)
        names = description.names(len(cells))
        drop = [*description.left_out(names), *self.drop]
        return names, replace(self, columns=description.columns(names), drop=drop, description=None)


class _OpenLines(NamedTuple):
    """A file of which the first line was read: what it is called, its columns, and the lines that have rows."""

    file: str
    names: Sequence[str]
    layout: TableLayout
    delimiter: str
    lines: Iterator[Lines]
    header: bytes  # the first line, where it names the columns


def _are_values(cells: Sequence[str]) -> bool:
    """Whether the cells of a first line are values of a document, not names: names may be whole numbers from 1."""
    numbers = [cell for cell in cells if not is_text(cell)]
    return len(numbers) == len(cells) or any(not NUMBERED.fullmatch(cell) for cell in numbers if cell)


def _no_header(n_columns: int) -> InputError:
    names = Parameter("names", ["qid", "label", "f1", "…"])
    told = f"the first line holds values, not the names of columns; name all {n_columns} in their order with "
    return InputError(told, names)


def delimiter_of(file: str, start: bytes) -> str:
    """The delimiter that cuts the first line into the most cells."""
    first_line = re.sub(rb'"[^"]*"', b"", start[:LONGEST_HEADER].lstrip(b"\r\n")).partition(b"\n")[0]
    counts = {delimiter: first_line.count(delimiter.encode()) for delimiter in DELIMITERS}
    best = max(DELIMITERS, key=lambda delimiter: counts[delimiter])
    if counts[best] > 0 and list(counts.values()).count(counts[best]) > 1:
        problem = Message("found as many of one delimiter as of another; say which with ", Parameter("delimiter"))
        raise FileFormatError(file, problem, line=1)
    return best


def _check_delimiter(delimiter: str) -> None:
    require(delimiter in DELIMITERS, f"delimiter must be a comma, a tab or a semicolon, got {delimiter!r}")


def write_delimited(
    data: RankingDataset | Iterable[RankingDataset],
    path: FilePath,
    columns: Columns | None = None,
    *,
    delimiter: str = ",",
    threads: int | None = None,
) -> None:
    """Write a dataset, or chunks of one, as CSV or TSV with a header; missing numbers are empty cells.

    Reading the file gives back the same bits. Rows are in the order of the caller's data.
    """
    _check_delimiter(delimiter)
    writer = _CellWriter(delimiter, thread_count(threads))
    with atomic_output(path) as file:
        for table in tables_of(data, path, columns or Columns()):
            for text in writer.text_of(table):
                file.write(text)


class _CellWriter:
    """Turns tables into text; the first one brings the header, and all must have the same."""

    def __init__(self, delimiter: str, threads: int) -> None:
        self._delimiter, self._threads = delimiter, threads
        self._wants_quotes = re.compile(rf'[{delimiter}"\r\n]|^\s|\s$')
        self._header: list[str] = []

    def text_of(self, table: TableColumns) -> Iterator[bytes]:
        if not self._header:
            self._header = table.header
            yield self._delimiter.join(map(self._quoted, table.header)).encode() + b"\n"
        elif table.header != self._header:
            raise InputError("datasets written into one file must have the same columns")
        qid = next(iter(table.roles.values()))
        if qid.dtype.kind == "T" and (qid == "").any():
            raise InputError("a query id is empty; CSV and TSV files need one for each query")
        yield from map(self._block, table.blocks(VALUES_WRITTEN_AT_ONCE))

    def _block(self, table: TableColumns) -> bytes:
        parts = table.roles.values()
        texts = [self._cells(part) for part in parts if part.dtype.kind != "f"]  # ids and positions
        numbers = np.column_stack([*(part for part in parts if part.dtype.kind == "f"), table.features])
        n_rows, n_numbers = numbers.shape
        room = n_numbers * LONGEST_CELL
        text, lengths = np.empty(n_rows * room, np.uint8), np.empty(n_rows, np.int64)
        kernels.format_cells(numbers.reshape(-1), n_numbers, ord(self._delimiter), text, lengths, self._threads)
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


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """The role of every column that is described, and the names of those that have one."""

    role_of: Mapping[int, str]
    name_of: Mapping[int, str]

    def names(self, n_columns: int) -> list[str]:
        """A name for each column of a file; unnamed features are numbered from 1."""
        last = max(self.role_of)
        if last >= n_columns:
            raise InputError(f"the description speaks of column {last}, but there are {n_columns}, counted from 0")
        names, n_features = [], 0
        for column in range(n_columns):
            role = self.role_of.get(column, FEATURE)
            n_features += role == FEATURE
            unnamed = str(n_features) if role == FEATURE else f"column {column}"
            names.append(self.name_of.get(column, unnamed))
        return names

    def columns(self, names: list[str]) -> Columns:
        """The names of the columns that have a role."""
        special = {role: names[column] for column, role in self.role_of.items() if role not in (FEATURE, LEFT_OUT)}
        return Columns(**special)

    def left_out(self, names: list[str]) -> list[str]:
        """The names of the columns that are not read."""
        return [names[column] for column, role in self.role_of.items() if role == LEFT_OUT]


def read_column_description(path: FilePath) -> ColumnDescription:
    """The columns a CatBoost description file describes."""
    role_of: dict[int, str] = {}
    name_of: dict[int, str] = {}
    for line, fields in numbered_fields(path, "column, type, name (optional)", 2):
        if not is_count(fields[0]):
            found = fields[0][:LONGEST_QUOTE]
            raise FileFormatError(input_name(path), f"a column must be a number from 0, found {found!r}", line)
        column, role = int(fields[0]), ROLE_OF_TYPE.get(fields[1])
        if role is None:
            wanted = f"wanted one of {', '.join(ROLE_OF_TYPE)} (Auxiliary leaves one out)"
            raise FileFormatError(input_name(path), f"columns of type {fields[1]!r} cannot be read; {wanted}", line)
        if column in role_of or (role not in (FEATURE, LEFT_OUT) and role in role_of.values()):
            raise FileFormatError(input_name(path), f"column {column} or its type {fields[1]} is described twice", line)
        role_of[column] = role
        if len(fields) > 2:
            name_of[column] = " ".join(fields[2:])
    return ColumnDescription(role_of, name_of)
