"""SVMlight/LETOR text read: `label qid:ID index:value … # comment`, a line for each document; see docs/svmlight.md."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from rankwright import kernels
from rankwright.arrays import FEATURE_DTYPE, Float32Array, IdArray, IntArray, ids_of_text, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import numbered_names
from rankwright.data.sparse_rows import SparseRows, stays_sparse
from rankwright.errors import FileFormatError, InputError, Message, Parameter, SettingError, require
from rankwright.formats.blocks import IdTypes, Opener, OpenFile, Reader, Rows, Runs
from rankwright.formats.growing_matrix import Room, takes_sparse
from rankwright.formats.lines import LONGEST_QUOTE
from rankwright.formats.pipeline import read_in_chunks, read_whole, scan_ids
from rankwright.formats.sidecars import FeatureNames, QuerySizes, feature_names_of, group_sizes
from rankwright.formats.storage.streams import (
    BLOCK_SIZE,
    ByteArray,
    LongLineError,
    Paths,
    input_name,
    is_standard,
    open_line_blocks,
)
from rankwright.kernels.shared_codes import LARGEST_FEATURE_INDEX, SvmlightProblem
from rankwright.memory import SMALL, free_memory, gigabytes, require_memory
from rankwright.tables.text import counted

logger = logging.getLogger(__name__)

Absent = Literal["zero", "missing"]
VALUE_OF_ABSENT: dict[str, float] = {"zero": 0.0, "missing": float("nan")}
QUERY_MARK = b"qid:"
NEWLINE, COLON = ord("\n"), ord(":")
CHUNK_SIZE = 16 << 20  # bytes of text for each chunk of whole queries
BYTES_PER_FEATURE = 300  # that every use of the data takes besides the matrix: names, statistics, bins or weights
MESSAGES = {
    SvmlightProblem.LABEL_NOT_A_NUMBER: "the label is {found}; wanted a number (nan = unjudged)",
    SvmlightProblem.LABEL_OUT_OF_RANGE: "the label is {found}; wanted a finite number, 0 or more (nan = unjudged)",
    SvmlightProblem.QUERY_ID_EMPTY: "found {found}; wanted qid:ID",
    SvmlightProblem.PAIR_WITHOUT_COLON: "found {found}; wanted index:value",
    SvmlightProblem.INDEX_NOT_A_NUMBER: "found {found}; wanted index:value with a whole number as index",
    SvmlightProblem.INDEX_TOO_LARGE: "the feature index of {found} is too large; wanted {largest} at most",
    SvmlightProblem.INDEX_BELOW_BASE: Message(
        "the feature index of {found} is below {base}; wanted indices from {base}, or ",
        Parameter("index_base", 0),
        " for files that count features from 0",
    ),
    SvmlightProblem.VALUE_NOT_A_NUMBER: (
        "the value of {found} is not a number; wanted one with a decimal point, nan or NULL (missing)"
    ),
    SvmlightProblem.VALUE_INFINITE: Message(
        "the value of {found} is infinite as a 32-bit number; wanted a finite one, or ",
        Parameter("allow_infinity", True),
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
    n_trained: int | None = None  # how many features a ranker was trained on that is to score the documents

    def __post_init__(self) -> None:
        require(self.absent in VALUE_OF_ABSENT, f"absent must be 'zero' or 'missing', got {self.absent!r}")
        require(self.index_base in (0, 1), f"index_base must be 0 or 1, got {self.index_base!r}")
        fits = self.n_features is None or 0 <= self.n_features <= LARGEST_FEATURE_INDEX
        require(fits, f"n_features must lie between 0 and {LARGEST_FEATURE_INDEX}, got {self.n_features}")
        object.__setattr__(self, "feature_names", feature_names_of(self.feature_names))
        require(self.block_size is None or self.block_size >= 1, f"block_size must be 1 or more, got {self.block_size}")

    def may_be_sparse(self, path: str) -> bool:  # noqa: ARG002
        """Lines name what they like."""
        return True

    @property
    def own_names(self) -> tuple[str, ...]:
        """The names of the features; none where they have numbers alone."""
        return feature_names_of(self.feature_names)

    @property
    def width(self) -> int | None:
        """How many features there are, as far as it is known beforehand; names say so whatever a ranker expects."""
        return len(self.own_names) or (self.n_trained if self.n_features is None else self.n_features)

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
        if reader.width is not None:
            return reader.opener(), IdTypes()
        if any(map(is_standard, paths)):
            raise SettingError("standard input can be streamed only where n_features is given: it cannot be read twice")
        parser = SvmlightParser(reader)
        id_types = scan_ids(paths, parser.open_file)
        return replace(reader, n_features=parser.n_features).opener(), id_types

    def copied_lines(self, path: str) -> Iterator[tuple[bytes, list[bytes]]]:
        """The text of a file, block by block: comments that have lines of their own, and the lines of rows."""
        for block in open_line_blocks(path):
            lines = [line for line in block.tobytes().split(b"\n") if line.strip()]
            comments = [line for line in lines if line.lstrip().startswith(b"#")]
            rows = [line + b"\n" for line in lines if not line.lstrip().startswith(b"#")]
            yield b"".join(line + b"\n" for line in comments), rows

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
        self.n_features = options.width or 0
        require_memory(BYTES_PER_FEATURE * self.n_features, f"data of {self.n_features:,} features")
        self._n_occurring = 0  # features up to the last that any line names
        self._options = options
        self._threads = thread_count(options.threads)
        self._name = ""
        self._block: ByteArray = np.empty(0, np.uint8)
        self._lines_before = 0
        self._starts_room: IntArray = np.empty(0, np.int64)
        self._starts = self._starts_room
        self._is_sparse = False  # whether rows so wide came that they are no longer made full

    def open_file(self, path: str, room: Room | None) -> OpenFile:
        """The rows of a file, parsed a block at a time into memory that `room` gives."""
        rows, wanted = self._rows(path, room or _no_room), "lines of `label qid:ID index:value …`"
        names = self._options.own_names
        return OpenFile(rows, line_of=self.line_of, wanted=wanted, own_names=names, check_all=self._check_width)

    def _check_width(self) -> None:
        """Raise where names do not fit what was read; tell of features that a ranker knows and no line has."""
        options, n_occurring, n_trained = self._options, self._n_occurring, self._options.n_trained or 0
        n_names, given = len(options.own_names), {options.n_features, n_trained}
        if n_names > n_occurring and n_names not in given:
            raise self._misfit_of_names(n_names)
        if not n_names and options.n_features is None and n_occurring < n_trained:
            lacking = numbered_names(n_trained)[n_occurring:]
            which = f"feature {lacking[0]}" if len(lacking) == 1 else f"features {lacking[0]} to {lacking[-1]}"
            never = f"{which} of the {n_trained} that the ranker was trained on never occur"
            logger.warning("%s: %s; they count as %s", self._name, never, options.absent)

    def _misfit_of_names(self, n_names: int) -> FileFormatError:
        told = f"the last feature is number {self._n_occurring}, and there are {n_names} names of features; wanted one "
        either, neither = Parameter("feature_names"), Parameter("feature_names", "none")
        sparse = " where the last ones never occur"
        ways = (either, "), none of them (", neither, "), or ", Parameter("n_features", n_names), sparse)
        return FileFormatError(self._name, Message(told, "for each (", *ways))

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
        n_rows, options = len(self._starts), self._options
        labels = np.empty(n_rows, np.float32)
        queries, documents = np.empty((2, 2 * n_rows), np.int64)  # where the ids begin and end in the text
        starts_query = np.empty(n_rows, np.uint8)
        report = np.empty(6, np.int64)
        filled = labels, queries, starts_query, documents, report, self._threads
        text = self._block, self._starts, options.index_base, options.absent_value, options.allow_infinity
        may_be_sparse = takes_sparse(room)
        while True:
            features: Any = None
            if may_be_sparse and self._becomes_sparse(self.n_features):
                features = self._parse_sparse(*filled)
            else:
                features = room(n_rows, self.n_features, len(self._block) / n_rows)
                kernels.parse_svmlight(*text, features, labels, queries, starts_query, documents, report, self._threads)
            problem, row, begin, end, widest_index, widest_row = report.tolist()
            if problem:
                raise self._problem(SvmlightProblem(problem), row, begin, end)
            n_wanted = widest_index - options.index_base + 1
            self._n_occurring = max(self._n_occurring, n_wanted)
            if n_wanted <= self.n_features:
                break
            self._widen(n_wanted, widest_row, may_be_sparse=may_be_sparse or room is _no_room)
        first_rows = np.flatnonzero(starts_query)
        runs = Runs(self._run_ids(queries.reshape(-1, 2), first_rows), np.diff(first_rows, append=n_rows))
        spans = documents.reshape(-1, 2)
        document_ids = ids_of_text(self._texts(spans, np.arange(n_rows))) if spans.any() else None
        return Rows(features, runs, labels, document_ids)

    def _becomes_sparse(self, n_features: int) -> bool:
        """Whether rows stay sparse from this block on; a line names at most as many features as it has colons."""
        shape = len(self._starts), n_features
        if not self._is_sparse and stays_sparse(shape, 0):  # wide enough to count
            self._is_sparse = stays_sparse(shape, int(np.count_nonzero(self._block == COLON)))
        return self._is_sparse

    def _parse_sparse(self, *filled: Any) -> SparseRows:
        options, n_rows = self._options, len(self._starts)
        colons = np.add.reduceat(self._block == COLON, self._starts, dtype=np.int64)
        room = np.concatenate([[0], np.cumsum(colons)])
        columns, values = np.empty(room[-1], np.int32), np.empty(room[-1], np.float32)
        counts = np.zeros(n_rows, np.int64)
        text = self._block, self._starts, options.index_base, options.allow_infinity
        kernels.parse_sparse_svmlight(*text, room, columns, values, counts, *filled)
        kept = np.arange(room[-1]) - np.repeat(room[:-1], colons) < np.repeat(counts, colons)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return SparseRows(starts, columns[kept], values[kept], self.n_features, options.absent_value)

    def _widen(self, n_wanted: int, row: int, *, may_be_sparse: bool) -> None:
        index = n_wanted - 1 + self._options.index_base
        if self._options.own_names:
            told = f"feature index {index} has no name, and there are {self._options.width} names of features; "
            either, neither = Parameter("feature_names"), Parameter("feature_names", "none")
            raise self._error(row, Message(told, "wanted one for each (", either, "), or none of them (", neither, ")"))
        if self._options.width is not None:
            known = f"n_features={self._options.width}"
            if self._options.n_features is None:
                known = f"the {self._options.width} features that the ranker was trained on"
            raise self._error(row, f"feature index {index} lies beyond {known}")
        n_full = 0 if may_be_sparse and self._becomes_sparse(n_wanted) else len(self._starts)
        n_bytes = n_wanted * (n_full * FEATURE_DTYPE().itemsize + BYTES_PER_FEATURE)
        if n_bytes > SMALL and n_bytes > (free := free_memory()):
            documents = counted(len(self._starts), "document")
            asked = f"feature index {index} asks for {gigabytes(n_bytes)} for {documents} alone"
            wanted = "wanted small indices, because every feature up to the largest takes memory"
            raise self._error(row, f"{asked}, and {gigabytes(free)} of memory are free; {wanted}")
        self.n_features = n_wanted

    def _run_ids(self, spans: IntArray, first_rows: IntArray) -> IdArray | None:
        has_query = spans[first_rows, 1] > 0
        if not has_query.any():
            return None
        if not has_query.all():
            raise self._mixed_queries(int(first_rows[np.flatnonzero(has_query != has_query[0])[0]]))
        return ids_of_text(self._texts(spans[first_rows], first_rows))

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
        found = self._quote(begin, end)
        is_query = self._block[begin : begin + len(QUERY_MARK)].tobytes() == QUERY_MARK
        if problem == SvmlightProblem.INDEX_NOT_A_NUMBER and is_query:
            return self._error(row, f"found {found} among the features; wanted it right after the label, once")
        values = {"found": found, "base": self._options.index_base, "largest": LARGEST_FEATURE_INDEX}
        return self._error(row, Message(MESSAGES[problem]).filled(**values))

    def _error(self, row: int, problem: str) -> FileFormatError:
        return FileFormatError(self._name, problem, self.line_of(row))

    def _quote(self, begin: int, end: int) -> str:
        text = self._block[begin : min(end, begin + LONGEST_QUOTE)].tobytes().decode(errors="backslashreplace")
        return repr(text + "…" * (end - begin > LONGEST_QUOTE))


def _no_room(n_rows: int, n_columns: int, bytes_per_row: float) -> Float32Array:  # noqa: ARG001
    """Room without columns: the text is checked and its width found, but no value is kept."""
    return np.empty((n_rows, 0), FEATURE_DTYPE)


def read_svmlight(
    paths: Paths,
    *,
    absent: Absent = "zero",
    n_features: int | None = None,
    group: QuerySizes | None = None,
    index_base: int = 1,
    allow_infinity: bool = False,
    threads: int | None = None,
    block_size: int = BLOCK_SIZE,
) -> RankingDataset:
    r"""Read SVMlight or LETOR text files into one dataset.

    A line is a document: `label qid:ID index:value … # comment`. Lines of a query may be in any order within their
    file, and a query must be in one file. Ids are integers where all of them are whole numbers, else strings.
    docs/svmlight.md describes every case.

    Parameters
    ----------
    paths : str, path-like, or a sequence of them
        The file, or the files that make up the dataset; `-` is standard input. Text may be compressed (.gz, .zst).
    absent : {"zero", "missing"}, default "zero"
        The value of a feature that a line does not name: 0, or missing.
    n_features : int, optional
        The number of features. The default is the largest index found; give it where a file may not name the last
        features, or to read standard input in chunks.
    group : array-like of int, path or sequence of paths, optional
        The number of documents of each query, or files that hold these numbers, for data without `qid:`. The default
        looks for `.query` files beside the data.
    index_base : {0, 1}, default 1
        The number of the first feature. 0 is for files that count features from 0.
    allow_infinity : bool, default False
        Whether infinite values, and values beyond the range of float32, are accepted.
    threads : int, optional
        The number of threads; the default is `OMP_NUM_THREADS`, or else every core. The result is the same for any
        number.
    block_size : int, default 4194304
        How many bytes of text are parsed at a time. The result does not depend on it.

    Returns
    -------
    RankingDataset
        The documents of all files.

    Raises
    ------
    FileFormatError
        Where a file is not as it should be; the message names file, line, what was found and what was wanted.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "train.txt").write_text("2 qid:1 1:0.5 3:1\n0 qid:1 2:0.25\n")
    ...     data = rw.read_svmlight(Path(folder, "train.txt"))
    >>> data.features.tolist()
    [[0.5, 0.0, 1.0], [0.0, 0.25, 0.0]]
    """
    reader = SvmlightReader(absent, n_features, group, index_base, allow_infinity, threads, block_size)
    return read_whole(paths, reader)


def iter_svmlight(
    paths: Paths,
    *,
    absent: Absent = "zero",
    n_features: int | None = None,
    group: QuerySizes | None = None,
    index_base: int = 1,
    allow_infinity: bool = False,
    threads: int | None = None,
    block_size: int = CHUNK_SIZE,
) -> Iterator[RankingDataset]:
    """Read SVMlight or LETOR text files in chunks of whole queries.

    Memory holds a few chunks, however long the files. The rows of a query must be next to each other. Without
    `n_features` the files are read twice, the first time for their width and for whether all ids are whole numbers.
    With it they are read once, and ids are strings.

    Parameters
    ----------
    paths : str, path-like, or a sequence of them
        The file, or the files that make up the dataset; `-` is standard input. Text may be compressed (.gz, .zst).
    absent : {"zero", "missing"}, default "zero"
        The value of a feature that a line does not name: 0, or missing.
    n_features : int, optional
        The number of features. The default is the largest index found; give it where a file may not name the last
        features, or to read standard input in chunks.
    group : array-like of int, path or sequence of paths, optional
        The number of documents of each query, or files that hold these numbers, for data without `qid:`. The default
        looks for `.query` files beside the data.
    index_base : {0, 1}, default 1
        The number of the first feature. 0 is for files that count features from 0.
    allow_infinity : bool, default False
        Whether infinite values, and values beyond the range of float32, are accepted.
    threads : int, optional
        The number of threads; the default is `OMP_NUM_THREADS`, or else every core. The result is the same for any
        number.
    block_size : int, default 16777216
        About how many bytes of text make a chunk. A chunk holds one query at least.

    Returns
    -------
    iterator of RankingDataset
        The chunks, in the order of the files. Together they hold what `read_svmlight` reads.

    Examples
    --------
    >>> import rankwright as rw
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.synthetic.random_polynomial(100)
    >>> with TemporaryDirectory() as folder:
    ...     rw.write_svmlight(data, f"{folder}/train.txt")
    ...     chunks = rw.iter_svmlight(f"{folder}/train.txt", block_size=100_000)
    ...     sum(chunk.n_docs for chunk in chunks)
    5000
    """
    reader = SvmlightReader(absent, n_features, group, index_base, allow_infinity, threads, block_size)
    return read_in_chunks(paths, reader)
