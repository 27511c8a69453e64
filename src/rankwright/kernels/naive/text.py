"""Twins of the kernels on text: decimal numbers, delimited cells, and SVMlight lines."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from math import nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, Int32Array, IntArray
from rankwright.kernels.naive.common import nearest_float32, texts_of
from rankwright.kernels.shared_codes import LARGEST_FEATURE_INDEX, CellProblem, Omit
from rankwright.kernels.shared_codes import SvmlightProblem as Problem

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(nan|inf|infinity)|null", re.IGNORECASE)


def _number_text(value: Any) -> str:
    """The fewest digits that read back to the same float32; an exponent only below 1e-5 and from 1e9."""
    size, sign = abs(value), "-" if np.signbit(value) else ""
    if not np.isfinite(value):
        return "nan" if np.isnan(value) else sign + "inf"
    if size < 1e9 and size == np.trunc(size):
        return f"{sign}{int(size)}"
    if np.float32(1e-5) <= size < 1e9:
        return sign + np.format_float_positional(size, unique=True, trim="-")
    return sign + np.format_float_scientific(size, unique=True, trim="-", exp_digits=2)


QUOTE, NEWLINE, TAB, BLANK = b'"\n\t '
WORDS = {b"": nan, b"na": nan, b"true": 1.0, b"false": 0.0}


class _Cell(NamedTuple):
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
        words = ("" if np.isnan(number) else _number_text(number) for number in cells)
        line = "".join(chr(delimiter) + word for word in words).encode("latin-1")
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
            text = content[cell.start : cell.stop].lower()
            if text not in WORDS and not NUMBER.fullmatch(text):
                return column, CellProblem.NO_NUMBER
            numbers[target] = WORDS[text] if text in WORDS else nearest_float32(text)
        elif target <= -2:
            length = cell.stop - cell.start
            spans[-2 - target] = cell.start, -length if cell.doubled_quote else length
        n_cells += 1
    return None if n_cells == len(targets) else (n_cells, CellProblem.WRONG_COUNT)


def _cells(content: bytes, at: int, stop: int, delimiter: int) -> Iterator[_Cell]:
    while True:
        while at < stop and _is_blank(content[at], delimiter):
            at += 1
        read = _quoted if at < stop and content[at] == QUOTE else _plain
        cell, at = read(content, at, stop, delimiter)
        yield cell
        if at >= stop or not cell.closed:
            return
        at += 1


def _plain(content: bytes, start: int, stop: int, delimiter: int) -> tuple[_Cell, int]:
    behind = content.find(delimiter, start, stop)
    end = behind = stop if behind < 0 else behind
    while end > start and _is_blank(content[end - 1], delimiter):
        end -= 1
    return _Cell(start, end), behind


def _quoted(content: bytes, start: int, stop: int, delimiter: int) -> tuple[_Cell, int]:
    at, doubled = content.find(QUOTE, start + 1, stop), False
    while at >= 0 and content[at + 1 : min(at + 2, stop)] == b'"':
        at, doubled = content.find(QUOTE, at + 2, stop), True
    if at < 0:
        return _Cell(start + 1, stop, doubled, closed=False), stop
    behind = at + 1
    while behind < stop and _is_blank(content[behind], delimiter):
        behind += 1
    return _Cell(start + 1, at, doubled, closed=behind == stop or content[behind] == delimiter), behind


def _is_blank(letter: int, delimiter: int) -> bool:
    return letter == BLANK or (letter == TAB and delimiter != TAB)


ByteArray = NDArray[np.uint8]

WORD = re.compile(rb"[^ \t\r\v\f]+")
DOCUMENT_ID = re.compile(rb"#[ \t\r\v\f]*docid[ \t\r\v\f]*=[ \t\r\v\f]*([^ \t\r\v\f]+)")


class _LineError(Exception):
    def __init__(self, problem: Problem, word: re.Match[bytes]) -> None:
        self.problem, self.word = problem, word


def _require(holds: bool, problem: Problem, word: re.Match[bytes]) -> None:
    if not holds:
        raise _LineError(problem, word)


def split_lines(block: ByteArray, starts: IntArray, counts: IntArray) -> None:
    """Fill `starts` with the place of the first word of each line that is neither blank nor only a comment.

    `counts` gets the number of those lines and the number of newlines.
    """
    text = block.tobytes()
    counts[:] = 0, text.count(b"\n")
    place = 0
    for line in text.split(b"\n"):
        first = WORD.search(line)
        if first and not first[0].startswith(b"#"):
            starts[counts[0]] = place + first.start()
            counts[0] += 1
        place += len(line) + 1


def parse_svmlight(
    block: ByteArray,
    starts: IntArray,
    index_base: int,
    absent: float,
    allow_infinity: bool,
    features: Float32Array,
    labels: Float32Array,
    query_spans: IntArray,
    starts_query: ByteArray,
    document_spans: IntArray,
    report: IntArray,
    threads: int,
) -> None:
    """Parse the lines that begin at `starts` into a row each.

    A span is a begin and an end in the block, 0 and 0 where there is nothing. `report` gets the first problem, its
    row, its word's begin and end, then the largest index and the first row that has it. Values beyond the features'
    columns are dropped: the caller sees the largest index, widens the matrix and parses again.
    """
    text = block.tobytes()
    report[:] = Problem.NONE, 0, 0, 0, index_base - 1, 0
    query_spans[:] = document_spans[:] = 0
    for row, start in enumerate(starts.tolist()):
        end = text.find(b"\n", start)
        line = text[start : len(text) if end < 0 else end]
        body, mark, _ = line.partition(b"#")
        words = list(WORD.finditer(body))
        try:
            labels[row] = _label(words[0])
            pairs = words[1:]
            if pairs and pairs[0][0].startswith(b"qid:"):
                query, *pairs = pairs
                _require(query[0] != b"qid:", Problem.QUERY_ID_EMPTY, query)
                query_spans[2 * row : 2 * row + 2] = start + query.start() + len(b"qid:"), start + query.end()
            features[row] = absent
            for index, value in _pairs(pairs, index_base, allow_infinity):
                if index > report[4]:
                    report[4:] = index, row
                if index - index_base < features.shape[1]:
                    features[row, index - index_base] = value
        except _LineError as error:
            report[:4] = error.problem, row, start + error.word.start(), start + error.word.end()
            return
        if document := DOCUMENT_ID.match(line, len(body)) if mark else None:
            document_spans[2 * row : 2 * row + 2] = start + document.start(1), start + document.end(1)
    ids = [text[begin:end] for begin, end in query_spans.reshape(-1, 2).tolist()]
    starts_query[:] = [row == 0 or ids[row] != ids[row - 1] for row in range(len(ids))]


def parse_sparse_svmlight(
    block: ByteArray,
    starts: IntArray,
    index_base: int,
    allow_infinity: bool,
    room: IntArray,
    columns: Int32Array,
    values: Float32Array,
    counts: IntArray,
    labels: Float32Array,
    query_spans: IntArray,
    starts_query: ByteArray,
    document_spans: IntArray,
    report: IntArray,
    threads: int,
) -> None:
    """Parse as `parse_svmlight` does; the features of row r go to places from `room[r]` on, by ascending columns."""
    rest = labels, query_spans, starts_query, document_spans, report, threads
    parse_svmlight(block, starts, index_base, 0.0, allow_infinity, np.empty((len(starts), 0), np.float32), *rest)
    for row, start in enumerate(starts.tolist() if report[0] == Problem.NONE else []):
        body = block.tobytes()[start:].split(b"\n")[0].partition(b"#")[0]
        words = [word for word in list(WORD.finditer(body))[1:] if not word[0].startswith(b"qid:")]
        pairs = sorted(_pairs(words, index_base, allow_infinity), key=lambda pair: pair[0])
        own = slice(room[row], room[row] + len(pairs))
        columns[own], values[own] = [index - index_base for index, _ in pairs], [value for _, value in pairs]
        counts[row] = len(pairs)


def _label(word: re.Match[bytes]) -> np.float32:
    _require(NUMBER.fullmatch(word[0]) is not None, Problem.LABEL_NOT_A_NUMBER, word)
    label = nearest_float32(word[0])
    _require(not (label < 0 or math.isinf(label)), Problem.LABEL_OUT_OF_RANGE, word)
    return label


def _pairs(words: list[re.Match[bytes]], index_base: int, allow_infinity: bool) -> Iterator[tuple[int, np.float32]]:
    seen = set()
    for word in words:
        index_text, colon, value_text = word[0].partition(b":")
        _require(bool(colon), Problem.PAIR_WITHOUT_COLON, word)
        _require(index_text.isdigit(), Problem.INDEX_NOT_A_NUMBER, word)
        index = int(index_text)
        _require(index <= LARGEST_FEATURE_INDEX, Problem.INDEX_TOO_LARGE, word)
        _require(index >= index_base, Problem.INDEX_BELOW_BASE, word)
        _require(NUMBER.fullmatch(value_text) is not None, Problem.VALUE_NOT_A_NUMBER, word)
        value = nearest_float32(value_text)
        _require(allow_infinity or not math.isinf(value), Problem.VALUE_INFINITE, word)
        _require(index not in seen, Problem.INDEX_REPEATED, word)
        seen.add(index)
        yield index, value


def format_svmlight(
    features: Float32Array,
    labels: Float32Array,
    query_of_row: IntArray,
    query_text: ByteArray,
    query_offsets: IntArray,
    document_text: ByteArray,
    document_offsets: IntArray,
    index_base: int,
    omit: int,
    mark_width: bool,
    text: ByteArray,
    length: IntArray,
    threads: int,
) -> None:
    """Fill the beginning of `text` with a line per row and `length[0]` with the bytes of all lines.

    Document ids are texts one after the other, a row each, and query ids likewise, found through `query_of_row`.
    `mark_width` writes the last column of the first row even where it could be left out.
    """
    query_ids, document_ids = texts_of(query_text, query_offsets), texts_of(document_text, document_offsets)
    written = np.ones(features.shape, np.bool_)
    if omit == Omit.ZERO:
        written = (features != 0) | np.signbit(features)
    elif omit == Omit.MISSING:
        written = ~np.isnan(features)
    written[:1, -1:] |= mark_width
    lines = []
    for row, values in enumerate(features):
        words = [_number_text(labels[row]), f"qid:{query_ids[query_of_row[row]].decode()}"]
        words += [f"{column + index_base}:{_number_text(values[column])}" for column in np.flatnonzero(written[row])]
        if document_ids[row]:
            words.append(f"#docid = {document_ids[row].decode()}")
        lines.append(" ".join(words) + "\n")
    block = "".join(lines).encode()
    text.reshape(-1)[: len(block)] = np.frombuffer(block, np.uint8)
    length[0] = len(block)
