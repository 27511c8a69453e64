"""CSV and TSV text turned into rows: blocks are cut at line ends, then into cells; errors name line and column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, IdArray, IntArray, ids_of_text
from rankwright.data.categories import Categories, codes_in
from rankwright.data.columns import TableLayout, how_to_choose_features
from rankwright.errors import FileFormatError, Message, comma_hint
from rankwright.formats.blocks import Rows, Runs
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.kernels.shared_codes import CellProblem

LONGEST_ROW = 1 << 26  # bytes: a longer one has a quote that never closes
WORDS_FOR_NOTHING = ("", "na", "nan", "null")
WORDS_FOR_NUMBERS = ("", "na", "null", "true", "false")  # besides what float() takes


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Whole lines of `text`: where each starts and ends, without blank ones; `number` is the number of the first."""

    text: bytes
    starts: IntArray
    ends: IntArray
    number: int

    def number_of(self, row: int) -> int:
        """The number, counted from 1, of the line at which a row starts."""
        return self.number + self.text.count(b"\n", 0, int(self.starts[row]))

    def cells_of(self, row: int, delimiter: str) -> list[str] | None:
        """All cells of a row as text; None where its quotes are wrong."""
        line = np.frombuffer(self.text[self.starts[row] : self.ends[row]], np.uint8)
        start, end, nothing = np.zeros(1, np.int64), np.array([len(line)]), np.empty(0, np.float32)
        problem = np.empty(3, np.int64)
        kernels.parse_cells(line, start, end, ord(delimiter), start[:0], nothing, start[:0], problem, 1)
        _, n_cells, kind = problem.tolist()  # no columns were wanted, so that the count is always wrong
        if kind != CellProblem.WRONG_COUNT:
            return None
        spans = np.empty((n_cells, 2), np.int64)
        targets = -2 - np.arange(n_cells)
        kernels.parse_cells(line, start, end, ord(delimiter), targets, nothing, spans.reshape(-1), problem, 1)
        return [cell.decode(errors="replace") for cell in texts_at(spans, line.tobytes())]


def whole_lines(name: str, blocks: Iterable[bytes], delimiter: str) -> Iterator[Lines]:
    """The lines of the file `name`, block by block; a block that ends within quotes is joined to the next."""
    rest, number = b"", 1
    for block in blocks:
        if b"\0" in block:
            raise FileFormatError(name, "is a binary file; wanted text", number)
        text = rest + block
        text = text if text.endswith(b"\n") else text + b"\n"  # the last line of a file may lack it
        n_newlines = text.count(b"\n")
        ends = _line_ends(text, delimiter, n_newlines)
        cut = int(ends[-1]) + 1 if len(ends) else 0
        lines = _lines(text[:cut], ends, number)
        if len(lines.starts):
            yield lines
        rest = text[cut:]
        number += n_newlines - rest.count(b"\n")
        if len(rest) > LONGEST_ROW:
            break
    if rest:
        raise FileFormatError(name, "a quoted cell is not closed", number)


def _line_ends(text: bytes, delimiter: str, n_newlines: int) -> IntArray:
    ends = np.full(n_newlines, -1, np.int64)  # some newlines may be within quotes
    kernels.line_ends(np.frombuffer(text, np.uint8), ord(delimiter), ends)
    return ends[ends >= 0]


def _lines(text: bytes, ends: IntArray, number: int) -> Lines:
    starts = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1] + 1])
    letters = np.frombuffer(text, np.uint8)
    ends = ends - ((ends > starts) & (letters[ends - 1] == ord("\r")))
    filled = ends > starts
    return Lines(text, starts[filled], ends[filled], number)


class CellReader:
    """Turns lines into rows; `names` are all columns of the file in their order, `file` is what messages call it."""

    def __init__(
        self,
        file: str,
        names: Sequence[str],
        layout: TableLayout,
        delimiter: str,
        *,
        allow_infinity: bool,
        threads: int,
        categories: Categories | None = None,
    ) -> None:
        self._file, self._names, self._layout, self._delimiter = file, names, layout, delimiter
        self._allow_infinity, self._threads = allow_infinity, threads
        numeric_roles = (layout.label, layout.query_weight, layout.document_weight, layout.propensity)
        text_roles = (layout.query, layout.document, layout.position)
        self._categories = categories or {}
        self._measured = [name for name in layout.features if name not in self._categories]
        roles = (name for name in numeric_roles if name is not None)
        self._numeric = list(dict.fromkeys([*self._measured, *roles, *layout.side]))
        self._textual = [*(name for name in text_roles if name is not None), *self._categories]
        targets = {name: place for place, name in enumerate(self._numeric)}
        targets |= {name: -2 - place for place, name in enumerate(self._textual)}
        self._targets = np.array([targets.get(name, -1) for name in names], np.int64)

    def rows(self, lines: Lines) -> Rows:
        """The rows of a block of lines."""
        layout = self._layout
        numbers, texts = self._parse(lines)
        rows = Rows(
            features=self._features(numbers[:, : len(self._measured)], texts),
            runs=Runs.of(self._ids(lines, layout.query, texts)),
            labels=self._numbers(layout.label, numbers),
            document_ids=None if layout.document is None else self._ids(lines, layout.document, texts),
            query_weights=self._numbers(layout.query_weight, numbers),
            document_weights=self._numbers(layout.document_weight, numbers),
            positions=None if layout.position is None else self._positions(lines, layout.position, texts),
            propensities=self._numbers(layout.propensity, numbers),
            side=numbers[:, [self._numeric.index(name) for name in layout.side]] if layout.side else None,
        )
        fault = rows.first_fault(layout, allow_infinity=self._allow_infinity)
        if fault is not None:
            raise self._error(lines, fault.row, fault.column, fault.problem)
        return rows

    def _features(self, measured: Float32Array, texts: dict[str, list[str]]) -> Float32Array:
        """The features in their order: those that are numbers, and the codes of those that are texts."""
        if not self._categories:
            return measured
        features = np.empty((len(measured), len(self._layout.features)), np.float32)
        for place, name in enumerate(self._layout.features):
            known = self._categories.get(name)
            values = measured[:, self._measured.index(name)] if known is None else codes_in(texts[name], known).codes
            features[:, place] = values
        return features

    def category_texts(self, lines: Lines) -> dict[str, set[str]]:
        """The texts in the columns of categories of a block of lines, without those that stand for nothing."""
        _, texts = self._parse(lines)
        return {
            name: {text for text in set(texts[name]) if text.lower() not in WORDS_FOR_NOTHING}
            for name in self._categories
        }

    def _parse(self, lines: Lines) -> tuple[Float32Array, dict[str, list[str]]]:
        numbers = np.empty((len(lines.starts), len(self._numeric)), np.float32)
        spans = np.empty((len(lines.starts), len(self._textual), 2), np.int64)
        problem = np.empty(3, np.int64)
        text = np.frombuffer(lines.text, np.uint8), lines.starts, lines.ends, ord(self._delimiter)
        found = numbers.reshape(-1), spans.reshape(-1), problem
        kernels.parse_cells(*text, self._targets, *found, self._threads)
        row, column, kind = problem.tolist()
        if row >= 0:
            raise self._wrong_row(lines, row, column, kind)
        return numbers, {name: self._texts(lines, name, spans[:, place]) for place, name in enumerate(self._textual)}

    def _numbers(self, name: str | None, numbers: Float32Array) -> Float32Array | None:
        return None if name is None else numbers[:, self._numeric.index(name)]

    def _ids(self, lines: Lines, name: str, texts: dict[str, list[str]]) -> IdArray:
        if name == self._layout.query and "" in texts[name]:
            raise self._error(lines, texts[name].index(""), name, "a query id must not be empty")
        return ids_of_text(texts[name])

    def _positions(self, lines: Lines, name: str, texts: dict[str, list[str]]) -> IntArray:
        try:
            return np.array(texts[name], np.dtypes.StringDType()).astype(np.int64)
        except (ValueError, OverflowError):
            row = next(row for row, text in enumerate(texts[name]) if not re.fullmatch(r"[+-]?\d{1,18}", text))
            raise self._error(lines, row, name, f"wanted a whole number, found {texts[name][row]!r}") from None

    def _texts(self, lines: Lines, name: str, spans: IntArray) -> list[str]:
        cells = texts_at(spans, lines.text)
        try:
            return [cell.decode() for cell in cells]
        except UnicodeDecodeError as error:
            raise self._error(lines, cells.index(error.object), name, f"is not UTF-8 text: {error.object!r}") from None

    def _wrong_row(self, lines: Lines, row: int, column: int, kind: int) -> FileFormatError:
        if kind in (CellProblem.WRONG_COUNT, CellProblem.BAD_QUOTE):
            return _wrong_cells(self._file, lines, (row, column, kind), len(self._names))
        cells = lines.cells_of(row, self._delimiter) or []
        found = repr(cells[column][:LONGEST_QUOTE])
        decimals = comma_hint(cells[column])
        hint = f"{decimals}{self._all_commas()}" if decimals else self._hint(cells)
        problem = Message(f"wanted a number, found {found}", hint)
        return self._error(lines, row, self._names[column], problem)

    def _all_commas(self) -> str:
        """How to change all commas of a file, where they separate nothing."""
        return "" if self._delimiter == "," else ": `tr , . < FILE > NEW` turns the commas of a file into points"

    def _hint(self, cells: Sequence[str]) -> str:
        """Advice on how to leave out columns that hold text, where the row has some among its features."""
        features = set(self._layout.features)
        texts = [name for name, cell in zip(self._names, cells, strict=False) if name in features and is_text(cell)]
        return Message("; ", how_to_choose_features(texts)) if texts else ""

    def _error(self, lines: Lines, row: int, column: str, problem: str) -> FileFormatError:
        return FileFormatError(self._file, Message(f"column {column!r}: ", problem), lines.number_of(row))


def text_cells(file: str, lines: Lines, n_columns: int, delimiter: str) -> Iterator[tuple[int, list[bytes]]]:
    """All cells of each row as they are, with the number of the row's line; `file` is what messages call the file."""
    spans = np.empty((len(lines.starts), n_columns, 2), np.int64)
    targets, nothing, problem = -2 - np.arange(n_columns), np.empty(0, np.float32), np.empty(3, np.int64)
    text = np.frombuffer(lines.text, np.uint8)
    kernels.parse_cells(text, lines.starts, lines.ends, ord(delimiter), targets, nothing, spans.reshape(-1), problem, 1)
    row, column, kind = problem.tolist()
    if row >= 0:
        raise _wrong_cells(file, lines, (row, column, kind), n_columns)
    line, place = lines.number, 0
    for start, cells in zip(lines.starts.tolist(), spans, strict=True):
        line, place = line + lines.text.count(b"\n", place, start), start
        yield line, texts_at(cells, lines.text)


def _wrong_cells(file: str, lines: Lines, problem: tuple[int, int, int], n_columns: int) -> FileFormatError:
    """What to say of a row that has too few or too many cells, or quotes that are wrong."""
    row, column, kind = problem
    if kind == CellProblem.WRONG_COUNT:
        found = "1 cell" if column == 1 else f"{column} cells"
        return FileFormatError(file, f"found {found}, wanted {n_columns}, one a column", lines.number_of(row))
    return FileFormatError(file, f"cell {column + 1}: there is text after a closing quote", lines.number_of(row))


def texts_at(spans: IntArray, content: bytes) -> list[bytes]:
    """The texts at places given as (first, length); a negative length marks a text with doubled quotes."""
    return [
        content[start : start + length] if length >= 0 else content[start : start - length].replace(b'""', b'"')
        for start, length in spans.tolist()
    ]


def is_text(cell: str) -> bool:
    """Whether a cell holds something other than a number, a word for one, or nothing."""
    if cell.lower() in WORDS_FOR_NUMBERS:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return False
