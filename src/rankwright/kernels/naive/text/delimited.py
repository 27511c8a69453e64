"""Twins of the kernels for CSV and TSV text."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, IntArray
from rankwright.kernels.codes import CellProblem
from rankwright.kernels.naive.text.decimal import NUMBER, nearest_float32, number_text

QUOTE, NEWLINE, TAB, BLANK = b'"\n\t '
WORDS = {b"": nan, b"na": nan, b"true": 1.0, b"false": 0.0}


class Cell(NamedTuple):
    """Where a cell's text lies, whether it holds a doubled quote, and whether its quotes close as they should."""

    start: int
    stop: int
    doubled_quote: bool = False
    closed: bool = True


def line_ends(text: NDArray[np.uint8], delimiter: int, ends: IntArray) -> None:
    """Fill `ends` with the place of each line end outside quotes; entries left over keep their value."""
    found, quoted, cell_starts, reopens = 0, False, True, -1
    for place, letter in enumerate(text.tobytes()):
        if found == len(ends):
            return
        if quoted:
            quoted = letter != QUOTE
            reopens = reopens if quoted else place + 1
            continue
        quoted = letter == QUOTE and (cell_starts or place == reopens)
        if letter == NEWLINE:
            ends[found] = place
            found += 1
        cell_starts = letter in (delimiter, NEWLINE) or (cell_starts and _is_blank(letter, delimiter))


def parse_cells(
    text: NDArray[np.uint8],
    starts: IntArray,
    ends: IntArray,
    delimiter: int,
    targets: IntArray,
    numbers: Float32Array,
    spans: IntArray,
    problem: IntArray,
    threads: int,
) -> None:
    """Read rows of cells into `numbers` and `spans` as `targets` say.

    A target of 0 or more is the place of a number in its row; one of -2 or less that of a text, whose span is its
    first byte and its length, negative where a quote in it is doubled; -1 skips. `problem` is the row, the column and
    the kind of the first wrong cell, row -1 where there is none.
    """
    content = text.tobytes()
    number_rows = numbers.reshape(len(starts), int((targets >= 0).sum()))
    span_rows = spans.reshape(len(starts), int((targets <= -2).sum()), 2)
    problem[:] = -1, 0, CellProblem.NONE
    for row, (start, stop) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
        found = _parse_row(content, start, stop, delimiter, targets.tolist(), number_rows[row], span_rows[row])
        if found is not None:
            problem[:] = row, *found
            return


def format_cells(
    numbers: Float32Array, n_columns: int, delimiter: int, text: NDArray[np.uint8], lengths: IntArray, threads: int
) -> None:
    """Write each row of numbers as cells, the delimiter in front of each; row r starts at an equal share of `text`."""
    for row, cells in enumerate(numbers.reshape(len(lengths), n_columns)):
        line = b"".join(bytes([delimiter]) + _cell_of(number) for number in cells)
        start = row * (len(text) // len(lengths))
        text[start : start + len(line)] = np.frombuffer(line, np.uint8)
        lengths[row] = len(line)


def _parse_row(
    content: bytes, at: int, stop: int, delimiter: int, targets: list[int], numbers: Float32Array, spans: IntArray
) -> tuple[int, int] | None:
    """Read one row; returns the column and the kind of the first problem, if there is one."""
    n_cells = 0
    for column, cell in enumerate(_cells(content, at, stop, delimiter)):
        if not cell.closed:
            return column, CellProblem.BAD_QUOTE
        target = targets[column] if column < len(targets) else -1
        if target >= 0:
            number = _number_in(content[cell.start : cell.stop])
            if number is None:
                return column, CellProblem.NO_NUMBER
            numbers[target] = number
        elif target <= -2:
            length = cell.stop - cell.start
            spans[-2 - target] = cell.start, -length if cell.doubled_quote else length
        n_cells += 1
    return None if n_cells == len(targets) else (n_cells, CellProblem.WRONG_COUNT)


def _cells(content: bytes, at: int, stop: int, delimiter: int) -> Iterator[Cell]:
    while True:
        while at < stop and _is_blank(content[at], delimiter):
            at += 1
        read = _quoted if at < stop and content[at] == QUOTE else _plain
        cell, at = read(content, at, stop, delimiter)
        yield cell
        if at >= stop or not cell.closed:
            return
        at += 1


def _plain(content: bytes, start: int, stop: int, delimiter: int) -> tuple[Cell, int]:
    behind = content.find(delimiter, start, stop)
    behind = stop if behind < 0 else behind
    end = behind
    while end > start and _is_blank(content[end - 1], delimiter):
        end -= 1
    return Cell(start, end), behind


def _quoted(content: bytes, start: int, stop: int, delimiter: int) -> tuple[Cell, int]:
    at, doubled = content.find(QUOTE, start + 1, stop), False
    while at >= 0 and content[at + 1 : min(at + 2, stop)] == b'"':
        at, doubled = content.find(QUOTE, at + 2, stop), True
    if at < 0:
        return Cell(start + 1, stop, doubled, closed=False), stop
    behind = at + 1
    while behind < stop and _is_blank(content[behind], delimiter):
        behind += 1
    return Cell(start + 1, at, doubled, closed=behind == stop or content[behind] == delimiter), behind


def _number_in(text: bytes) -> np.float32 | None:
    if text.lower() in WORDS:
        return np.float32(WORDS[text.lower()])
    return nearest_float32(text) if NUMBER.fullmatch(text) else None


def _cell_of(number: np.float32) -> bytes:
    return b"" if np.isnan(number) else number_text(number).encode()


def _is_blank(letter: int, delimiter: int) -> bool:
    return letter == BLANK or (letter == TAB and delimiter != TAB)
