"""The rows of files, read in blocks, before they are grouped by query.

A format only defines how one file is opened (`Reader`); it makes `Rows`, block by block. What is the same for every
format is here and in `pipeline`: reading several files, and refusing queries that come back. A run is a stretch of rows
next to each other that belong to one query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, IdArray, IntArray, join_ids, text_ids
from rankwright.data.columns import TableLayout
from rankwright.data.dataset import RankingDataset, not_propensities
from rankwright.data.groups import Grouping, group_rows, run_starts
from rankwright.data.sparse_rows import joined_rows
from rankwright.errors import FileFormatError, InputError, Message, Parameter
from rankwright.formats.growing_matrix import Room
from rankwright.formats.storage.streams import input_name
from rankwright.progress.stages import announce


class Runs(NamedTuple):
    """The query of each run, and how many rows the run has."""

    ids: IdArray | None  # None where the file names no queries
    sizes: IntArray
    numbered: bool = False  # whether the ids are only the numbers of queries without ids, which follow one another

    @classmethod
    def of(cls, qid: IdArray) -> Runs:
        """The runs of rows whose query ids are `qid`."""
        starts = run_starts(qid)
        return cls(qid[starts], np.diff(starts, append=len(qid)))

    def take(self, runs: slice) -> Runs:
        """Some of the runs."""
        return Runs(None if self.ids is None else self.ids[runs], self.sizes[runs], self.numbered)

    def sizes_of_numbered(self) -> IntArray:
        """The number of rows of each query, where ids are consecutive numbers."""
        assert self.ids is not None
        return np.bincount(self.ids - self.ids[0], self.sizes).astype(np.int64)


class Fault(NamedTuple):
    """A value that is not allowed in its place."""

    row: int
    column: str
    problem: str


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Documents in the order of their file. `query_weights` has a value for each row, as tables do."""

    features: Float32Array
    runs: Runs
    labels: Float32Array | None = None
    document_ids: IdArray | None = None
    query_weights: Float32Array | None = None
    document_weights: Float32Array | None = None
    positions: IntArray | None = None
    propensities: Float32Array | None = None
    side: Float32Array | None = None  # a column for each side column of the layout

    def __len__(self) -> int:
        return len(self.features)

    @property
    def qid(self) -> IdArray:
        """The query id of each row."""
        assert self.runs.ids is not None
        return np.repeat(self.runs.ids, self.runs.sizes)

    def take(self, rows: IntArray) -> Rows:
        """The given rows alone."""
        return self._take(rows, Runs.of(self.qid[rows]))

    def cut_at_last_run(self) -> tuple[Rows, Rows]:
        """The rows of all runs but the last, and those of the last."""
        cut = len(self) - int(self.runs.sizes[-1])
        before, last = self.runs.take(slice(0, -1)), self.runs.take(slice(-1, None))
        return self._take(slice(0, cut), before), self._take(slice(cut, None), last)

    def without_features(self) -> Rows:
        """All but the features, in memory of its own, so that the memory of the features can be freed."""
        parts = self._arrays() | {"features": np.empty((len(self), 0), np.float32)}
        owned = {name: part if part.base is None else part.copy() for name, part in parts.items()}
        return Rows(**owned, runs=self.runs)

    def _take(self, rows: slice | IntArray, runs: Runs) -> Rows:
        return Rows(**{name: part[rows] for name, part in self._arrays().items()}, runs=runs)

    def _arrays(self) -> dict[str, Any]:
        """The arrays that are present and have a value for each row."""
        return {name: part for name in PER_ROW if (part := getattr(self, name)) is not None}

    def first_fault(self, layout: TableLayout, *, allow_infinity: bool) -> Fault | None:
        """The first number that is not allowed in its place."""
        infinite = np.isinf(self.features)
        if not allow_infinity and infinite.any():
            row, place = np.argwhere(infinite)[0].tolist()
            remedy = Parameter("allow_infinity", True)
            wanted = Message("a feature must lie within float32's range; ", remedy, " lets infinite ones in")
            return Fault(row, layout.features[place], wanted)
        for column, values, is_wrong, must in (
            (layout.label, self.labels, lambda own: _no_weights(own) & ~np.isnan(own), "be finite and 0 or more"),
            (layout.query_weight, self.query_weights, _no_weights, "be finite and 0 or more"),
            (layout.document_weight, self.document_weights, _no_weights, "be finite and 0 or more"),
            (layout.propensity, self.propensities, not_propensities, "lie above 0 and be at most 1"),
        ):
            if column is not None and values is not None and (wrong := is_wrong(values)).any():
                row = int(np.flatnonzero(wrong)[0])
                return Fault(row, column, f"must {must}, got {values[row]}")
        return None

    def dataset(self, feature_names: tuple[str, ...] = (), side_names: Sequence[str] = ()) -> RankingDataset:
        """The dataset of these rows, which are brought together by query."""
        qid, sizes = (None, self.runs.sizes_of_numbered()) if self.runs.numbered else (self.qid, None)
        parts = self._arrays()
        if "query_weights" in parts:
            parts["query_weights"] = None if qid is None else _weight_of_query(parts["query_weights"], group_rows(qid))
        if "side" in parts:
            parts["side"] = dict(zip(side_names, parts["side"].T, strict=True))
        return RankingDataset.from_arrays(**parts, qid=qid, group=sizes, feature_names=feature_names)


PER_ROW = tuple(field.name for field in fields(Rows) if field.name != "runs")


def _no_weights(values: Float32Array) -> BoolArray:
    return ~((values >= 0) & np.isfinite(values))


def join_rows(blocks: Sequence[Rows]) -> Rows:
    """All blocks in one. Where only some blocks have document ids, the rows of the others get empty ones."""
    if len(blocks) == 1:
        return blocks[0]
    ids = [block.runs.ids for block in blocks if block.runs.ids is not None]
    parts: dict[str, Any] = {}
    for name in PER_ROW:
        values = [getattr(block, name) for block in blocks]
        join = joined_rows if name == "features" else np.concatenate
        parts[name] = None if values[0] is None or name == "document_ids" else join(values)
    parts["document_ids"] = _joined_document_ids(blocks)
    sizes = np.concatenate([block.runs.sizes for block in blocks])
    return Rows(**parts, runs=Runs(join_ids(ids) if ids else None, sizes, blocks[0].runs.numbered))


def _joined_document_ids(blocks: Sequence[Rows]) -> IdArray | None:
    if all(block.document_ids is None for block in blocks):
        return None
    return join_ids([_no_ids(len(block)) if block.document_ids is None else block.document_ids for block in blocks])


def _no_ids(n_rows: int) -> IdArray:
    return np.zeros(n_rows, np.dtypes.StringDType())


@dataclass(frozen=True, slots=True)
class IdTypes:
    """Whether ids are text in every chunk; they are if the files were not read beforehand."""

    queries_are_text: bool = True
    documents_are_text: bool = True
    has_documents: bool = False

    @classmethod
    def of(cls, blocks: Iterable[Rows]) -> IdTypes:
        """The types of the ids of all blocks: numbers where every block has numbers."""
        queries = documents = has_documents = False
        for rows in blocks:
            queries |= rows.runs.ids is not None and rows.runs.ids.dtype != np.int64
            documents |= rows.document_ids is None or rows.document_ids.dtype != np.int64
            has_documents |= rows.document_ids is not None
        return cls(queries, documents, has_documents)

    def settle(self, rows: Rows) -> Rows:
        """The rows with ids of these types."""
        queries, documents = rows.runs.ids, rows.document_ids
        if queries is not None and self.queries_are_text and not rows.runs.numbered:
            queries = text_ids(queries)
        if documents is None and self.has_documents:
            documents = _no_ids(len(rows))
        if documents is not None and self.documents_are_text:
            documents = text_ids(documents)
        return replace(rows, runs=rows.runs._replace(ids=queries), document_ids=documents)


def _weight_of_query(weights: Float32Array, grouping: Grouping) -> Float32Array:
    by_query = weights if grouping.order is None else weights[grouping.order]
    weight_of_query = by_query[grouping.groups.offsets[:-1]]
    differs = by_query != np.repeat(weight_of_query, grouping.groups.sizes)
    if differs.any():
        query = grouping.query_ids[grouping.groups.query_of_row[differs][0]]
        raise InputError(f"a query must have one weight, but the rows of query {query} have several")
    return weight_of_query


@dataclass(frozen=True, slots=True, eq=False)
class OpenFile:
    """The rows of one file in blocks, and what is known about them.

    A block may be used until the next one is asked for; then the memory of its features may be reused.
    """

    blocks: Iterator[Rows]
    layout: TableLayout | None = None  # None where columns have no names
    line_of: Callable[[int], int] | None = None  # the line of a row of the last block; None where there are no lines
    wanted: str = "a row for each document"  # what an empty file lacks
    own_names: tuple[str, ...] = ()  # of features, where columns have numbers and their names stand elsewhere
    origin: str | None = None  # how the features were made, where the file tells
    check_all: Callable[[], None] | None = None  # raises if what was read of all files so far does not fit together

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features; empty if they only have numbers."""
        return self.own_names if self.layout is None else self.layout.feature_names


# Opens a file; the room for features is None where they are not wanted.
Opener: TypeAlias = Callable[[str, Room | None], OpenFile]


class Reader(ABC):
    """A format with its options chosen."""

    jumps: ClassVar[bool] = False  # whether it reads files in another order than from beginning to end
    categories: Collection[str] = ()  # columns of categories, and what their codes stand for where it is known already
    side: Sequence[str] = ()  # columns that are no features, for functions of the user's own

    @property
    def absent_value(self) -> float:
        """The value of a feature in a row that has no column for it."""
        return 0.0

    @property
    def seeks_categories(self) -> bool:
        """Whether texts of categories are still to be found, so that files are read twice."""
        return bool(self.categories) and not isinstance(self.categories, Mapping)

    def may_be_sparse(self, path: str) -> bool:  # noqa: ARG002
        """Whether rows of the file may stay sparse, which the first of them tell."""
        return False

    @abstractmethod
    def opener(self) -> Opener:
        """A function that opens the files of one reading, one after another."""

    def prepared(self, paths: Sequence[str]) -> tuple[Opener, IdTypes | None]:  # noqa: ARG002
        """A function that opens the files to read them in chunks, and the types that ids should have in every chunk.

        None leaves ids as each block has them.
        """
        return self.opener(), None

    def category_texts(self, path: str) -> Iterator[Mapping[str, set[str]]]:  # noqa: ARG002
        """The texts in the columns of categories of a file, block by block."""
        return iter(())

    def copied_lines(self, path: str) -> Iterator[tuple[bytes, list[bytes]]]:
        """The text of a file, block by block: what belongs to no row, such as a header, and the lines of rows."""
        raise NotImplementedError(path)  # for formats that are text

    def query_sizes(self, paths: Sequence[str], *, has_ids: bool) -> IntArray | None:  # noqa: ARG002
        """The number of documents of each query where rows have no query ids; None where they have."""
        return None


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows and where they come from."""

    name: str  # what messages call the file
    file: OpenFile
    first_row: int
    rows: Rows


def blocks_of(
    paths: Sequence[str], open_file: Opener, room: Room | None, *, together: bool, remedy: Message | None = None
) -> Iterator[Block]:
    """All rows of all files, block by block. The files have the same columns, and all or none of them have query ids.

    A query must be in one file: the same id in two files may mean one query cut in two, or two queries with the same
    number. With `together`, its rows must also be next to each other; `remedy` says what to do where they are not.
    """
    seen = _SeenQueries(together=together) if together or len(paths) > 1 else None
    had_ids = None
    for block in _blocks(paths, open_file, room):
        ids = block.rows.runs.ids
        if had_ids not in (None, ids is not None):
            raise FileFormatError(block.name, "some files have query ids and some have none")
        had_ids = ids is not None
        if seen is not None and ids is not None:
            run = seen.returning_run(block.file, ids)
            if run is not None:
                raise _returning_query(block, run, together, remedy)
        yield block


def _blocks(paths: Sequence[str], open_file: Opener, room: Room | None) -> Iterator[Block]:
    if not paths:
        raise InputError("there is no file to read: paths must name at least one file")
    first: OpenFile | None = None
    for path in paths:
        name, file = input_name(path), open_file(path, room)
        first = first or file
        if file.layout != first.layout:
            raise FileFormatError(name, f"its columns differ from those of {paths[0]}, which must be the same")
        row = 0
        announce(f"reading {name}")
        for rows in file.blocks:
            if len(rows):
                yield Block(name, file, row, rows)
            row += len(rows)
            announce(f"reading {name}", row, unit="documents")
        if row == 0:
            raise FileFormatError(name, f"holds no documents; wanted {file.wanted}")
    if file.check_all is not None:
        file.check_all()


class _SeenQueries:
    """Finds queries that come back after they have ended.

    A query ends with its file or, where its rows must be together, with its run. Ids are compared as text: the same id
    may be a number in one block and text in another.
    """

    def __init__(self, *, together: bool) -> None:
        self._together = together
        self._file: OpenFile | None = None
        self._ended: set[str] = set()
        self._open: set[str] = set()

    def returning_run(self, file: OpenFile, ids: IdArray) -> int | None:
        """The first run of the next block of `file` whose query has ended before; None where there is none."""
        if file is not self._file:
            self._file = file
            self._end_all()
        for run, query in enumerate(map(str, ids.tolist())):
            if query in self._ended:
                return run
            if self._together and query not in self._open:
                self._end_all()
            self._open.add(query)
        return None

    def _end_all(self) -> None:
        self._ended |= self._open
        self._open = set()


def _returning_query(block: Block, run: int, together: bool, remedy: Message | None) -> FileFormatError:
    runs = block.rows.runs
    assert runs.ids is not None
    row = int(runs.sizes[:run].sum())
    line = None if block.file.line_of is None else block.file.line_of(row)
    wanted = "wanted its rows together in one file"
    if not together:
        wanted += " (in any order)" + ("" if block.file.layout else ", or all files as one stream")
    elif remedy is not None:
        wanted = Message(f"{wanted}; ", remedy)
    place = "" if line else f" at row {block.first_row + row}"
    problem = Message(f"query {runs.ids[run]} comes back{place} after it had ended; ", wanted)
    return FileFormatError(block.name, problem, line)


@contextmanager
def errors_name_file(name: str) -> Iterator[None]:
    """Turn an error about arrays into one about the file they were read from."""
    try:
        yield
    except InputError as error:
        raise FileFormatError(name, error.message) from None
