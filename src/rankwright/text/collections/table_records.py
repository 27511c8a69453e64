"""Records as tables: CSV, TSV, Parquet and TREC's qrels, a row each.

In CSV a cell may be in double quotes, inside which commas and line ends are plain text. In TSV quotes are plain text
unless they enclose a whole cell, and a row is a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any, TypeAlias

from rankwright.data.frames import load_package
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.delimited.cells import is_text, text_cells, whole_lines
from rankwright.formats.lines import bounded_lines, numbered_fields
from rankwright.formats.parquet import parquet_batches
from rankwright.formats.storage.streams import input_name, open_input, open_line_blocks
from rankwright.formats.trec import QRELS_LINE
from rankwright.tables.text import counted
from rankwright.text.collections.decoding import WIDE_MARKS, decoded
from rankwright.text.collections.faults import CollectionProblems
from rankwright.text.collections.field_kinds import WEB_ADDRESS

Row: TypeAlias = tuple[int, list[str]]  # its line and its cells
ROWS_AT_A_TIME = 200  # of Parquet: documents may be long
LONGEST_NAME = 60  # characters: longer cells of a first line are values


def parquet_records(path: str, problems: CollectionProblems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a Parquet file, counted from 1."""
    row = 0
    for batch in parquet_batches(path, ROWS_AT_A_TIME):
        columns = [_python_values(column, path, problems) for column in batch.columns]
        for values in zip(*columns, strict=True):
            row += 1
            yield row, dict(zip(batch.schema.names, values, strict=True))


def qrels_records(path: str, problems: CollectionProblems) -> Iterator[tuple[int, dict[str, Any]]]:  # noqa: ARG001
    """The lines of TREC's qrels: query, iteration, document, grade."""
    for number, fields in numbered_fields(path, QRELS_LINE, 4):
        yield number, {"query": fields[0], "document": fields[2], "grade": fields[3]}


def csv_rows(path: str, problems: CollectionProblems) -> Iterator[Row]:
    """The cells of each row of a CSV file."""
    file = input_name(path)
    blocks = (block.tobytes() for block in open_line_blocks(path))
    start = next(blocks, b"")
    first_line = re.sub(rb'"[^"]*"', b"", start.lstrip(b"\r\n")).partition(b"\n")[0]
    delimiter = ";" if first_line.count(b";") > first_line.count(b",") else ","
    n_columns = 0
    for lines in whole_lines(file, chain([start], blocks), delimiter):
        n_columns = n_columns or len(lines.cells_of(0, delimiter) or ())
        if not n_columns:
            raise FileFormatError(file, "there is text after a closing quote", lines.number_of(0))
        for line, cells in text_cells(file, lines, n_columns, delimiter):
            yield line, [decoded(cell, problems, path, line) for cell in cells]


def tsv_rows(path: str, problems: CollectionProblems) -> Iterator[Row]:
    """The cells of each line of a TSV file that is not blank."""
    file, n_columns = input_name(path), 0
    with open_input(path) as source:
        for number, line in enumerate(bounded_lines(source.readline, file), start=1):
            if line.startswith(WIDE_MARKS) or b"\0" in line:
                raise FileFormatError(file, "is a binary file; wanted text in UTF-8", number)
            if not line.strip():
                continue
            cells = [_unquoted(cell) for cell in decoded(line, problems, path, number).rstrip("\r\n").split("\t")]
            n_columns = n_columns or len(cells)
            if len(cells) != n_columns:
                found = counted(len(cells), "cell")
                raise FileFormatError(file, f"found {found}, wanted {n_columns}, one a column", number)
            yield number, cells


def _unquoted(cell: str) -> str:
    inside = cell[1:-1]
    is_quoted = len(cell) > 1 and cell[0] == cell[-1] == '"' and '"' not in inside.replace('""', "")
    return inside.replace('""', '"') if is_quoted else cell


def looks_like_names(cells: Sequence[str]) -> bool:
    """Whether the cells of a first line may name columns: none of them is a number, a URL or long."""
    return all(is_text(cell) and len(cell) <= LONGEST_NAME and not WEB_ADDRESS.match(cell) for cell in cells)


def _python_values(column: Any, path: str, problems: CollectionProblems) -> list[Any]:
    """A column of Arrow as values of Python; times are cut to microseconds, which Python has."""
    arrow = load_package("pyarrow", "reading Parquet")
    if arrow.types.is_timestamp(column.type):
        column = column.cast(arrow.timestamp("us", column.type.tz), safe=False)
    if arrow.types.is_duration(column.type) or arrow.types.is_time(column.type):
        raise InputError(f"a column of type {column.type} holds no text, number or date")
    if arrow.types.is_string(column.type) or arrow.types.is_large_string(column.type):
        column = column.cast(arrow.large_binary())  # so that what is not UTF-8 is counted, not refused
    try:
        return [_plain(value, path, problems) for value in column.to_pylist()]
    except UnicodeDecodeError:
        raise FileFormatError(input_name(path), "a list of texts is not UTF-8") from None


def _plain(value: Any, path: str, problems: CollectionProblems) -> Any:
    if isinstance(value, bytes):
        return decoded(value, problems, path)
    if isinstance(value, list):
        return [_plain(one, path, problems) for one in value]
    return float(value) if isinstance(value, Decimal) else value
