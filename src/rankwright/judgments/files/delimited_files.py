"""Judgments in CSV and TSV: a row for each, or as Quepid's books have them, a column for each rater."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array, Int32Array, IntArray, thread_count
from rankwright.clicks.logs.log_blocks import Codes, encoded
from rankwright.errors import FileFormatError
from rankwright.formats.delimited.cells import Lines, texts_at, whole_lines
from rankwright.formats.delimited.csv_files import delimiter_of
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import input_name, open_line_blocks
from rankwright.judgments.files.columns import ROLES, HowToRead
from rankwright.judgments.files.gathering import Gathering, RowBlock
from rankwright.kernels.records import Texts
from rankwright.kernels.shared_codes import CellProblem

NUMBERS = ("grade", "preference", "error")  # roles whose cells are numbers
BOOK_COLUMNS = 2  # of a Quepid book before those of raters: query and docid


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of a block of lines: numbers of some columns, and where the texts of others stand."""

    lines: Lines
    file: str
    numbers: dict[str, Float32Array]
    spans: dict[str, IntArray]

    def place_of(self, row: int) -> str:
        """Where a row stands in the file."""
        return f"{self.file}:{self.lines.number_of(row)}"

    def texts(self, name: str) -> list[str]:
        """The texts of a column."""
        return [cell.decode("utf-8", "replace") for cell in texts_at(self.spans[name], self.lines.text)]

    def codes(self, name: str, codes: Codes) -> Int32Array:
        """The numbers of the ids in a column, -1 where a cell is empty."""
        spans = self.spans[name]
        if (spans[:, 1] < 0).any():  # quotes in quotes
            packed = encoded(self.texts(name))
        else:
            starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(spans[:, 1])])
            bytes_ = np.frombuffer(self.lines.text, np.uint8)
            packed = Texts(bytes_[np.repeat(spans[:, 0] - starts[:-1], spans[:, 1]) + np.arange(starts[-1])], starts)
        return codes_or_none(packed, codes)


def codes_or_none(texts: Texts, codes: Codes) -> Int32Array:
    """The numbers of ids, -1 for those that are empty."""
    sizes = np.diff(texts.starts)
    if (sizes > 0).all():
        return codes.of_encoded(texts)
    found = np.full(len(sizes), -1, np.int32)
    found[sizes > 0] = codes.of_encoded(
        Texts(texts.bytes, np.concatenate([texts.starts[:1], texts.starts[1:][sizes > 0]]))
    )
    return found


def read_delimited(path: FilePath, gathering: Gathering, how: HowToRead) -> None:
    """Gather the judgments of a file with a row for each."""
    file, names, delimiter, lines = _opened(path)
    roles = how.roles_of(names, file)
    numeric = [roles[role] for role in NUMBERS if role in roles]
    textual = [roles[role] for role in ROLES if role in roles and role not in NUMBERS]
    for cells in _cells(lines, file, names, delimiter, numeric, textual, gathering):
        gathering.add(_block(cells, roles, gathering, how), cells.place_of)


def _block(cells: Cells, roles: dict[str, str], gathering: Gathering, how: HowToRead) -> RowBlock:
    n_rows = len(cells.lines.starts)
    numbers = {role: cells.numbers[roles[role]].astype(np.float64) for role in NUMBERS if role in roles}
    if "rater" in roles:
        raters = cells.codes(roles["rater"], gathering.raters)
    else:
        raters = np.full(n_rows, gathering.raters.of_texts([how.rater])[0], np.int32)
    if "kind" in roles:
        gathering.name_kinds(raters, cells.texts(roles["kind"]), cells.place_of)
    comments = cells.texts(roles["comment"]) if "comment" in roles else None
    return RowBlock(
        cells.codes(roles["query"], gathering.queries),
        cells.codes(roles["document"], gathering.documents),
        raters,
        numbers.get("grade", np.full(n_rows, np.nan)),
        cells.codes(roles["other"], gathering.documents) if "other" in roles else None,
        numbers.get("preference"),
        numbers.get("error"),
        times_of(cells.texts(roles["time"]), cells) if "time" in roles else None,
        comments if comments is not None and any(comments) else None,
    )


def times_of(texts: Sequence[str], cells: Cells) -> Float64Array:
    """Times in seconds since 1970, from such numbers or from dates as ISO 8601 writes them."""
    try:
        return np.array([float(text) if text else np.nan for text in texts], np.float64)
    except ValueError:
        pass
    times = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if text:
            times[row] = seconds_of(text, cells.place_of(row))
    return times


def seconds_of(text: str, place: str) -> float:
    """A time in seconds since 1970; a date without a zone is taken as UTC."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        wanted = "wanted seconds since 1970, or a date such as 2026-01-31T12:00:00Z"
        raise FileFormatError(place, f"the time is {text[:LONGEST_QUOTE]!r}; {wanted}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def read_quepid_book(path: FilePath, gathering: Gathering, how: HowToRead) -> None:  # noqa: ARG001
    """Gather the judgments of a book that Quepid wrote: query, docid, and a column for each rater."""
    file, names, delimiter, lines = _opened(path)
    if len(names) <= BOOK_COLUMNS:
        raise FileFormatError(file, f"found the columns {', '.join(names)}; wanted query, docid and one for each rater")
    query, document, *raters = names
    numbers = gathering.raters.of_texts(raters)
    for cells in _cells(lines, file, names, delimiter, raters, [query, document], gathering):
        queries, documents = cells.codes(query, gathering.queries), cells.codes(document, gathering.documents)
        for name, number in zip(raters, numbers.tolist(), strict=True):
            judged = np.flatnonzero(~np.isnan(cells.numbers[name]))
            kept = RowBlock(
                queries[judged],
                documents[judged],
                np.full(len(judged), number, np.int32),
                cells.numbers[name][judged].astype(np.float64),
            )
            gathering.add(kept, lambda row, judged=judged, cells=cells: cells.place_of(int(judged[row])))


def columns_of(path: FilePath) -> list[str]:
    """The names in the first line."""
    return _opened(path)[1]


def _opened(path: FilePath) -> tuple[str, list[str], str, Iterator[Lines]]:
    """What a file is called, its columns, what separates its cells, and the lines below the first."""
    file = input_name(path)
    blocks = (block.tobytes() for block in open_line_blocks(path))
    start = next(blocks, b"")
    delimiter = delimiter_of(file, start)
    lines = whole_lines(file, chain([start], blocks), delimiter)
    first = next(lines, None)
    if first is None:
        raise FileFormatError(file, "is empty; wanted a line that names the columns")
    names = first.cells_of(0, delimiter)
    if names is None:
        raise FileFormatError(file, "there is text after a closing quote", first.number_of(0))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise FileFormatError(file, f"two columns are called {twice[0]!r}", first.number_of(0))
    rest = replace(first, starts=first.starts[1:], ends=first.ends[1:])
    return file, names, delimiter, chain([rest] if len(rest.starts) else [], lines)


def _cells(
    lines: Iterator[Lines],
    file: str,
    names: Sequence[str],
    delimiter: str,
    numeric: Sequence[str],
    textual: Sequence[str],
    gathering: Gathering,
) -> Iterator[Cells]:
    """The cells of these columns, block by block."""
    place = {name: number for number, name in enumerate(numeric)}
    place |= {name: -2 - number for number, name in enumerate(textual)}
    targets = np.array([place.get(name, -1) for name in names], np.int64)
    for block in lines:
        n_rows = len(block.starts)
        numbers = np.empty((n_rows, len(numeric)), np.float32)
        spans = np.empty((n_rows, len(textual), 2), np.int64)
        problem = np.empty(3, np.int64)
        text = np.frombuffer(block.text, np.uint8), block.starts, block.ends, ord(delimiter)
        found = numbers.reshape(-1), spans.reshape(-1), problem
        kernels.parse_cells(*text, targets, *found, thread_count(gathering.threads))
        if problem[0] >= 0:
            raise _wrong_cell(block, file, names, delimiter, *problem.tolist())
        yield Cells(
            block,
            file,
            {name: numbers[:, number] for number, name in enumerate(numeric)},
            {name: spans[:, number] for number, name in enumerate(textual)},
        )


def _wrong_cell(
    lines: Lines, file: str, names: Sequence[str], delimiter: str, row: int, column: int, kind: int
) -> FileFormatError:
    line = lines.number_of(row)
    if kind == CellProblem.WRONG_COUNT:
        return FileFormatError(file, f"found {column} cells, wanted {len(names)}, one a column", line)
    if kind == CellProblem.BAD_QUOTE:
        return FileFormatError(file, f"cell {column + 1}: there is text after a closing quote", line)
    found = (lines.cells_of(row, delimiter) or [""] * len(names))[column]
    return FileFormatError(file, f"column {names[column]!r}: wanted a number, found {found[:LONGEST_QUOTE]!r}", line)
