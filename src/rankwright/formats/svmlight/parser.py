"""Blocks of SVMlight text turned into rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from rankwright import kernels
from rankwright.arrays import FEATURE_DTYPE, Float32Array, IdArray, IntArray, thread_count
from rankwright.data.ids import ids_of_text
from rankwright.errors import FileFormatError, InputError, SettingError, require
from rankwright.formats.blocks import Opener, OpenFile, Reader
from rankwright.formats.growing_matrix import Room
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.pipeline import scan_ids
from rankwright.formats.rows import IdTypes, Rows, Runs
from rankwright.formats.sources import (
    BLOCK_SIZE,
    ByteArray,
    LongLineError,
    input_name,
    is_standard,
    open_line_blocks,
)
from rankwright.formats.svmlight.feature_names import FeatureNames, feature_names_of
from rankwright.formats.svmlight.query_file import QuerySizes, group_sizes
from rankwright.kernels.shared_codes import LARGEST_FEATURE_INDEX, SvmlightProblem
from rankwright.memory import SMALL, free_memory, gigabytes

Absent = Literal["zero", "missing"]
VALUE_OF_ABSENT: dict[str, float] = {"zero": 0.0, "missing": float("nan")}
QUERY_MARK = b"qid:"
NEWLINE = ord("\n")
CHUNK_SIZE = 16 << 20  # bytes of text for each chunk of whole queries

MESSAGES = {
    SvmlightProblem.LABEL_NOT_A_NUMBER: "the label is {found}; wanted a number (nan = unjudged)",
    SvmlightProblem.LABEL_OUT_OF_RANGE: "the label is {found}; wanted a finite number, 0 or more (nan = unjudged)",
    SvmlightProblem.QUERY_ID_EMPTY: "found {found}; wanted qid:ID",
    SvmlightProblem.PAIR_WITHOUT_COLON: "found {found}; wanted index:value",
    SvmlightProblem.INDEX_NOT_A_NUMBER: "found {found}; wanted index:value with a whole number as index",
    SvmlightProblem.INDEX_TOO_LARGE: "the feature index of {found} is too large; wanted {largest} at most",
    SvmlightProblem.INDEX_BELOW_BASE: (
        "the feature index of {found} is below {base}; wanted indices from {base}, or index_base=0 for files that "
        "count features from 0"
    ),
    SvmlightProblem.VALUE_NOT_A_NUMBER: "the value of {found} is not a number; wanted one, nan or NULL (missing)",
    SvmlightProblem.VALUE_INFINITE: (
        "the value of {found} is infinite as a 32-bit number; wanted a finite one, or allow_infinity=True"
    ),
    SvmlightProblem.INDEX_REPEATED: "the feature index of {found} appears twice in the line; wanted each once",
}


@dataclass(frozen=True, slots=True)
class SvmlightReader(Reader):
    """Opens SVMlight files; `read_svmlight` explains each option."""

    absent: Absent = "zero"
    n_features: int | None = None
    group: QuerySizes | None = None
    index_base: int = 1
    allow_infinity: bool = False
    threads: int | None = None
    block_size: int | None = None  # None: depends on the way of reading
    feature_names: FeatureNames = None  # a file, or the names themselves

    def __post_init__(self) -> None:
        require(self.absent in VALUE_OF_ABSENT, f"absent must be 'zero' or 'missing', got {self.absent!r}")
        require(self.index_base in (0, 1), f"index_base must be 0 or 1, got {self.index_base!r}")
        require(
            self.n_features is None or 0 <= self.n_features <= LARGEST_FEATURE_INDEX,
            f"n_features must lie between 0 and {LARGEST_FEATURE_INDEX}, got {self.n_features}",
        )
        names = feature_names_of(self.feature_names)
        object.__setattr__(self, "feature_names", names)
        if names:  # they say how many there are, whatever a model expects
            object.__setattr__(self, "n_features", len(names))
        require(self.block_size is None or self.block_size >= 1, f"block_size must be 1 or more, got {self.block_size}")

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names of the features; none where they have numbers alone."""
        return feature_names_of(self.feature_names)

    @property
    def absent_value(self) -> float:
        """The value of a feature that a line does not name."""
        return VALUE_OF_ABSENT[self.absent]

    def opener(self) -> Opener:
        """A function that opens one file after another and remembers the width that the lines so far need."""
        return SvmlightParser(self).open_file

    def prepared(self, paths: Sequence[str]) -> tuple[Opener, IdTypes | None]:
        """If the width is not given, all files are read to find it and the types of ids; otherwise ids are text."""
        reader = replace(self, block_size=self.block_size or CHUNK_SIZE)
        if reader.n_features is not None:
            return reader.opener(), IdTypes()
        if any(map(is_standard, paths)):
            raise SettingError("standard input can be streamed only where n_features is given: it cannot be read twice")
        parser = SvmlightParser(reader)
        id_types = scan_ids(paths, parser.open_file)
        return replace(reader, n_features=parser.n_features).opener(), id_types

    def query_sizes(self, paths: Sequence[str], *, has_ids: bool) -> IntArray | None:
        """The sizes that `group`, or files beside the data, give where the lines have no query ids."""
        if not has_ids:
            return group_sizes(paths, self.group)
        if self.group is not None:
            raise InputError(f"{input_name(paths[0])} has query ids, so that group must not be given")
        return None


class SvmlightParser:
    """Parses files one after another; `n_features` is the width that the lines so far need."""

    def __init__(self, options: SvmlightReader) -> None:
        self.n_features = options.n_features or 0
        self._options = options
        self._threads = thread_count(options.threads)
        self._name = ""
        self._block: ByteArray = np.empty(0, np.uint8)
        self._lines_before = 0
        self._starts_room: IntArray = np.empty(0, np.int64)
        self._starts = self._starts_room

    def open_file(self, path: str, room: Room | None) -> OpenFile:
        """The rows of a file, parsed a block at a time into memory that `room` gives."""
        return OpenFile(
            self._rows(path, room or _no_room),
            line_of=self.line_of,
            wanted="lines of `label qid:ID index:value …`",
            own_names=self._options.own_names,
        )

    def _rows(self, path: str, room: Room) -> Iterator[Rows]:
        self._name, self._lines_before = input_name(path), 0
        had_queries = None
        for block in self._blocks(path):
            n_rows, n_newlines = self._split(block)
            if n_rows:
                rows = self._parse(room)
                if had_queries not in (None, rows.runs.ids is not None):
                    raise self._mixed_queries(0)
                had_queries = rows.runs.ids is not None
                yield rows
            self._lines_before += n_newlines

    def line_of(self, row: int) -> int:
        """The line, counted from 1, of a row of the block parsed last."""
        return self._lines_before + int(np.count_nonzero(self._block[: self._starts[row]] == NEWLINE)) + 1

    def _blocks(self, path: str) -> Iterator[ByteArray]:
        try:
            yield from open_line_blocks(path, self._options.block_size or BLOCK_SIZE)
        except LongLineError as error:
            raise FileFormatError(error.path, error.problem, self._lines_before + 1) from None

    def _split(self, block: ByteArray) -> tuple[int, int]:
        """Find the rows of the block; returns the number of rows and of newlines."""
        if len(self._starts_room) <= len(block) // 2:
            self._starts_room = np.empty(len(block) // 2 + 1, np.int64)  # a row has two bytes at least
        counts = np.zeros(2, np.int64)
        kernels.split_lines(block, self._starts_room, counts)
        self._block, self._starts = block, self._starts_room[: counts[0]]
        return int(counts[0]), int(counts[1])

    def _parse(self, room: Room) -> Rows:
        """The rows of the block; it is parsed again into a wider matrix where an index has no column yet."""
        n_rows = len(self._starts)
        labels = np.empty(n_rows, np.float32)
        query_spans, document_spans = np.empty((2, 2 * n_rows), np.int64)
        starts_query = np.empty(n_rows, np.uint8)
        report = np.empty(6, np.int64)
        while True:
            features = room(n_rows, self.n_features, len(self._block) / n_rows)
            kernels.parse_svmlight(
                self._block,
                self._starts,
                self._options.index_base,
                self._options.absent_value,
                self._options.allow_infinity,
                features,
                labels,
                query_spans,
                starts_query,
                document_spans,
                report,
                self._threads,
            )
            problem, row, begin, end, widest_index, widest_row = report.tolist()
            if problem:
                raise self._problem(SvmlightProblem(problem), row, begin, end)
            n_wanted = widest_index - self._options.index_base + 1
            if n_wanted <= self.n_features:
                break
            self._widen(n_wanted, widest_row)
        first_rows = np.flatnonzero(starts_query)
        return Rows(
            features,
            Runs(self._run_ids(query_spans.reshape(-1, 2), first_rows), np.diff(first_rows, append=n_rows)),
            labels,
            self._document_ids(document_spans.reshape(-1, 2)),
        )

    def _widen(self, n_wanted: int, row: int) -> None:
        index = n_wanted - 1 + self._options.index_base
        if self._options.own_names:
            n_names = len(self._options.own_names)
            raise self._error(
                row,
                f"feature index {index} has no name, and there are {n_names} names of features; wanted one for each "
                f"(feature_names=), or none of them (feature_names='none')",
            )
        if self._options.n_features is not None:
            raise self._error(row, f"feature index {index} lies beyond n_features={self._options.n_features}")
        n_bytes = len(self._starts) * n_wanted * FEATURE_DTYPE().itemsize
        if n_bytes > SMALL and n_bytes > (free := free_memory()):
            raise self._error(
                row,
                f"feature index {index} asks for {gigabytes(n_bytes)} for {len(self._starts)} documents alone, and "
                f"{gigabytes(free)} of memory are free; wanted small indices, because every document has every feature",
            )
        self.n_features = n_wanted

    def _run_ids(self, spans: IntArray, first_rows: IntArray) -> IdArray | None:
        has_query = spans[first_rows, 1] > 0
        if not has_query.any():
            return None
        if not has_query.all():
            raise self._mixed_queries(int(first_rows[np.flatnonzero(has_query != has_query[0])[0]]))
        return ids_of_text(self._texts(spans[first_rows], first_rows))

    def _document_ids(self, spans: IntArray) -> IdArray | None:
        return ids_of_text(self._texts(spans, np.arange(len(spans)))) if spans.any() else None

    def _texts(self, spans: IntArray, rows: IntArray) -> list[str]:
        """The texts at the given places, gathered with a newline after each so that they are decoded at once."""
        sizes = spans[:, 1] - spans[:, 0] + 1
        ends = np.cumsum(sizes)
        places = np.repeat(spans[:, 0] - (ends - sizes), sizes) + np.arange(ends[-1])
        gathered = self._block.take(places, mode="clip")
        gathered[ends - 1] = NEWLINE
        try:
            return str(gathered[:-1].data, "utf-8").split("\n")
        except UnicodeDecodeError as error:
            bad = int(np.searchsorted(ends, error.start, side="right"))
            raise self._error(int(rows[bad]), f"the id {self._quote(*spans[bad].tolist())} is not UTF-8") from None

    def _mixed_queries(self, row: int) -> FileFormatError:
        return self._error(row, "some lines have a qid and some have none, from here on; wanted one or the other")

    def _problem(self, problem: SvmlightProblem, row: int, begin: int, end: int) -> FileFormatError:
        message = MESSAGES[problem].format(
            found=self._quote(begin, end), base=self._options.index_base, largest=LARGEST_FEATURE_INDEX
        )
        is_query = self._block[begin : begin + len(QUERY_MARK)].tobytes() == QUERY_MARK
        if problem == SvmlightProblem.INDEX_NOT_A_NUMBER and is_query:
            message = f"found {self._quote(begin, end)} among the features; wanted it right after the label, once"
        return self._error(row, message)

    def _error(self, row: int, problem: str) -> FileFormatError:
        return FileFormatError(self._name, problem, self.line_of(row))

    def _quote(self, begin: int, end: int) -> str:
        text = self._block[begin : min(end, begin + LONGEST_QUOTE)].tobytes().decode(errors="backslashreplace")
        return repr(text + "…" * (end - begin > LONGEST_QUOTE))


def _no_room(n_rows: int, n_columns: int, bytes_per_row: float) -> Float32Array:  # noqa: ARG001
    """Room without columns: the text is checked and its width found, but no value is kept."""
    return np.empty((n_rows, 0), FEATURE_DTYPE)
