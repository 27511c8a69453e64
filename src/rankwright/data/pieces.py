"""A table in files, read whole or in pieces of whole queries.

A format only says how one file is opened: as a layout and an iterator of blocks of rows. What is the same for every
format stands here: several files, rows in any order, queries that go on in the next block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rankwright.arrays import IdArray, IntArray
from rankwright.data.columns import Layout
from rankwright.data.dataset import RankingDataset
from rankwright.data.rows import Rows, concatenate, ids_settled
from rankwright.errors import FileFormatError, InputError, UngroupedQueryError

Paths: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]


@dataclass(frozen=True, slots=True)
class OpenTable:
    """One file's layout, and its rows in blocks.

    `untyped`: the format knows only text, so that ids show to be integers when all of them are seen.
    """

    layout: Layout
    blocks: Iterator[Rows]
    untyped: bool = False

    def dataset(self, rows: Rows) -> RankingDataset:
        """The dataset of rows of this table."""
        return (ids_settled(rows) if self.untyped else rows).dataset(self.layout)


class Block(NamedTuple):
    """Rows and where they come from."""

    path: str
    first_row: int
    rows: Rows


def read_whole(paths: Paths, open_table: Callable[[str], OpenTable]) -> RankingDataset:
    """The dataset of all rows of all files, whatever their order."""
    table, blocks = _all_blocks(paths, open_table)
    rows = concatenate([block.rows for block in blocks])
    with blamed_on(", ".join(listed(paths))):
        return table.dataset(rows)


def read_in_pieces(paths: Paths, open_table: Callable[[str], OpenTable]) -> Iterator[RankingDataset]:
    """The datasets of whole queries that make up the files, in order; memory holds one at a time."""
    table, blocks = _all_blocks(paths, open_table)
    for path, rows in _whole_queries(blocks):
        with blamed_on(path):
            piece = table.dataset(rows)
        yield piece


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


def _all_blocks(paths: Paths, open_table: Callable[[str], OpenTable]) -> tuple[OpenTable, Iterator[Block]]:
    names = listed(paths)
    if not names:
        raise InputError("there is no file to read: the list of paths is empty")
    first = open_table(names[0])
    return first, _blocks(names, first, open_table)


def _blocks(names: Sequence[str], first: OpenTable, open_table: Callable[[str], OpenTable]) -> Iterator[Block]:
    for place, path in enumerate(names):
        table = first if place == 0 else open_table(path)
        if table.layout != first.layout:
            raise FileFormatError(path, f"its columns differ from those of {names[0]}, which must be the same")
        row = 0
        for rows in table.blocks:
            yield Block(path, row, rows)
            row += len(rows)
        if row == 0:
            raise FileFormatError(path, "holds no documents")


def _whole_queries(blocks: Iterable[Block]) -> Iterator[tuple[str, Rows]]:
    """The same rows cut where queries end."""
    held: list[Rows] = []  # what was read of a query that may go on in the next block
    path = ""
    for path, _, rows in _queries_together(blocks):
        last_start = int(_run_starts(rows.qid)[-1])
        if last_start == 0 and held and held[-1].qid[-1] == rows.qid[0]:
            held.append(rows)
            continue
        held.append(rows[:last_start])
        if any(map(len, held)):
            yield path, concatenate(held)
        held = [rows[last_start:]]
    yield path, concatenate(held)


def _queries_together(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks unchanged, with an error where a query goes on after another has begun."""
    finished: set[Any] = set()
    current: Any = None
    for block in blocks:
        starts = _run_starts(block.rows.qid)
        for start, query in zip(starts.tolist(), block.rows.qid[starts].tolist(), strict=True):
            if query in finished:
                raise UngroupedQueryError(query, block.first_row + start, block.path)
            if query != current:
                finished.add(current)
                current = query
        if len(starts):
            yield block


def _run_starts(qid: IdArray) -> IntArray:
    return np.flatnonzero(np.concatenate([np.ones(min(1, len(qid)), bool), qid[1:] != qid[:-1]]))
