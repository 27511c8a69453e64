"""A table in files, read whole or in pieces of whole queries.

A format only says how one file is opened: as a layout and an iterator of blocks of rows. What is the same for every
format stands here: several files, rows in any order, queries that go on in the next block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rankwright.arrays import IdArray, IntArray
from rankwright.data.columns import Layout
from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.documents import Documents, TakeFeatures
from rankwright.formats.rows import Rows, concatenate
from rankwright.formats.sources import FilePath, input_name

Paths: TypeAlias = FilePath | Sequence[FilePath]


@dataclass(frozen=True, slots=True)
class OpenTable:
    """One file's layout, and its rows in blocks."""

    layout: Layout
    blocks: Iterator[Rows]


class Block(NamedTuple):
    """Rows and where they come from."""

    path: str
    first_row: int
    rows: Rows


def as_they_are(rows: Rows) -> Rows:
    """The same rows."""
    return rows


def read_whole(
    paths: Paths, open_table: Callable[[str], OpenTable], finish: Callable[[Rows], Rows] = as_they_are
) -> RankingDataset:
    """The dataset of all rows of all files, in any order within each; `finish` is done to them once they are together.

    A query must be in one file: the same id in two may mean one query cut in two or two queries numbered alike.
    """
    layout, blocks = all_blocks(paths, open_table)
    rows = concatenate([block.rows for block in queries_apart(blocks, together=False)])
    with blamed_on(", ".join(map(input_name, listed(paths)))):
        return finish(rows).dataset(layout)


def read_in_pieces(
    paths: Paths, open_table: Callable[[str], OpenTable], finish: Callable[[Rows], Rows] = as_they_are
) -> Iterator[RankingDataset]:
    """The datasets of whole queries that make up the files, in order; memory holds one at a time."""
    layout, blocks = all_blocks(paths, open_table)
    for path, rows in _whole_queries(blocks):
        with blamed_on(path):
            piece = finish(rows).dataset(layout)
        yield piece


def stream_through(
    paths: Paths,
    open_table: Callable[[str], OpenTable],
    take: TakeFeatures,
    finish: Callable[[Rows], Rows] = as_they_are,
) -> Documents:
    """What `read_whole` reads without its features, which go to `take`, a block at a time."""
    layout, blocks = all_blocks(paths, open_table)
    kept = []
    for block in queries_apart(blocks, together=False):
        take(block.rows.features)
        kept.append(block.rows.without_features())
    with blamed_on(", ".join(map(input_name, listed(paths)))):
        data = finish(concatenate(kept)).dataset(replace(layout, features=()))
    return Documents(data, layout.feature_names)


def listed(paths: Paths) -> list[str]:
    """The path or paths as a list of texts."""
    return [fspath(paths)] if isinstance(paths, str | PathLike) else [fspath(path) for path in paths]


@contextmanager
def blamed_on(path: str) -> Iterator[None]:
    """Turn what is wrong with arrays into what is wrong with the file they were read from."""
    try:
        yield
    except InputError as error:
        raise FileFormatError(path, str(error)) from None


def all_blocks(paths: Paths, open_table: Callable[[str], OpenTable]) -> tuple[Layout, Iterator[Block]]:
    """The layout that all files share, and their rows in blocks."""
    names = listed(paths)
    if not names:
        raise InputError("there is no file to read: the list of paths is empty")
    first = open_table(names[0])
    return first.layout, _blocks(names, first, open_table)


def _blocks(names: Sequence[str], first: OpenTable, open_table: Callable[[str], OpenTable]) -> Iterator[Block]:
    for place, path in enumerate(names):
        table = first if place == 0 else open_table(path)
        if table.layout != first.layout:
            raise FileFormatError(
                input_name(path), f"its columns differ from those of {names[0]}, which must be the same"
            )
        row = 0
        for rows in table.blocks:
            yield Block(input_name(path), row, rows)
            row += len(rows)
        if row == 0:
            raise FileFormatError(input_name(path), "holds no documents")


def _whole_queries(blocks: Iterable[Block]) -> Iterator[tuple[str, Rows]]:
    """The same rows cut where queries end."""
    held: list[Rows] = []  # what was read of a query that may go on in the next block
    path = ""
    for path, _, rows in queries_apart(blocks, together=True):
        last_start = int(run_starts(rows.qid)[-1])
        if last_start == 0 and held and held[-1].qid[-1] == rows.qid[0]:
            held.append(rows)
            continue
        held.append(rows[:last_start])
        if any(map(len, held)):
            yield path, concatenate(held)
        held = [rows[last_start:]]
    yield path, concatenate(held)


def queries_apart(blocks: Iterable[Block], *, together: bool) -> Iterator[Block]:
    """The blocks unchanged, with an error where a query comes back: in another file or, `together`, in another run."""
    ended: set[Any] = set()
    current: set[Any] = set()  # of this file or this run
    path = ""
    for block in blocks:
        if block.path != path:
            path = block.path
            ended |= current
            current = set()
        starts = run_starts(block.rows.qid)
        for start, query in zip(starts.tolist(), block.rows.qid[starts].tolist(), strict=True):
            if query in ended:
                raise _returning(block, block.first_row + start, query, together)
            if together and query not in current:
                ended |= current
                current = set()
            current.add(query)
        if len(starts):
            yield block


def _returning(block: Block, row: int, query: Any, together: bool) -> FileFormatError:
    wanted = "wanted its rows together in one file" + ("" if together else " (in any order)")
    return FileFormatError(block.path, f"query {query} comes back at row {row} after it had ended; {wanted}")


def run_starts(qid: IdArray) -> IntArray:
    """Where another query begins than that of the row before."""
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(qid)), bool), qid[1:] != qid[:-1]]))
