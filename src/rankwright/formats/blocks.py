"""The files of a dataset, opened one after another and read in blocks of rows.

A format only defines how one file is opened (`Reader`). What is the same for every format is here and in `pipeline`:
reading several files, and refusing queries that come back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from rankwright.arrays import IdArray, IntArray
from rankwright.data.columns import TableLayout
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.growing_matrix import Room
from rankwright.formats.rows import IdTypes, Rows
from rankwright.formats.storage.streams import input_name
from rankwright.progress.stages import announce


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

    @property
    def absent_value(self) -> float:
        """The value of a feature in a row that has no column for it."""
        return 0.0

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


def blocks_of(paths: Sequence[str], open_file: Opener, room: Room | None, *, together: bool) -> Iterator[Block]:
    """All rows of all files, block by block. The files have the same columns, and all or none of them have query ids.

    A query must be in one file: the same id in two files may mean one query cut in two, or two queries with the same
    number. With `together`, its rows must also be next to each other.
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
                raise _returning_query(block, run, together)
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


def _returning_query(block: Block, run: int, together: bool) -> FileFormatError:
    runs = block.rows.runs
    assert runs.ids is not None
    row = int(runs.sizes[:run].sum())
    line = None if block.file.line_of is None else block.file.line_of(row)
    wanted = "wanted its rows together in one file"
    if not together:
        wanted += " (in any order)" + ("" if block.file.layout else ", or all files as one stream")
    place = "" if line else f" at row {block.first_row + row}"
    return FileFormatError(block.name, f"query {runs.ids[run]} comes back{place} after it had ended; {wanted}", line)


@contextmanager
def errors_name_file(name: str) -> Iterator[None]:
    """Turn an error about arrays into one about the file they were read from."""
    try:
        yield
    except InputError as error:
        raise FileFormatError(name, error.message) from None
