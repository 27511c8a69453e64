"""From files to datasets, for every format: whole, in chunks of whole queries, or with the features passed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rankwright.arrays import Float32Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.formats.blocks import Block, Opener, Reader, blocks_of, errors_name_file
from rankwright.formats.category_texts import with_known_categories, with_texts
from rankwright.formats.growing_matrix import GrowingMatrix, ReusedMemory, Room, fresh_room
from rankwright.formats.rows import IdTypes, Rows, Runs, join_rows
from rankwright.formats.sources import Paths, input_names, listed, plain_size

# What is done with a block of rows, in the order of the file; the memory of its features may be used again afterwards.
TakeRows: TypeAlias = Callable[[Rows], None]
# The same, where only the features are asked for.
TakeFeatures: TypeAlias = Callable[[Float32Array], None]


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """All of a file but its features: judgments, queries, weights and ids, and the names of the features.

    `data.source_rows` is the place of each row in the file, and so among the features that were passed on.
    """

    data: RankingDataset  # with no features
    feature_names: tuple[str, ...] = ()  # none where features only have numbers


def read_whole(paths: Paths, reader: Reader) -> RankingDataset:
    """The dataset of all rows of all files; within a file they may be in any order."""
    names = listed(paths)
    reader = with_known_categories(reader, names)
    matrix = GrowingMatrix(plain_size(names))
    rows, feature_names = _without_features(names, reader, matrix.room, lambda block: matrix.keep(block.features))
    rows = replace(rows, features=matrix.finish(reader.absent_value))
    return _dataset_of_all(names, reader, rows, feature_names)


def stream_rows(paths: Paths, reader: Reader, take: TakeRows) -> Documents:
    """What `read_whole` reads, without the features; rows with their features go to `take`, block by block.

    The files are read once. Blocks of SVMlight text may become wider on the way; the last one has the full width.
    """
    names = listed(paths)
    reader = with_known_categories(reader, names)
    rows, feature_names = _without_features(names, reader, ReusedMemory().room, take)
    return Documents(_dataset_of_all(names, reader, rows), feature_names)


def read_in_chunks(paths: Paths, reader: Reader) -> Iterator[RankingDataset]:
    """The datasets of whole queries that make up the files, in order; memory holds a few blocks at a time."""
    names = listed(paths)
    reader = with_known_categories(reader, names)
    open_file, id_types = reader.prepared(names)
    return _chunks(names, reader, open_file, id_types)


def scan_ids(paths: Sequence[str], open_file: Opener) -> IdTypes:
    """The types of the ids in all files, which are read without their features."""
    return IdTypes.of(block.rows for block in blocks_of(paths, open_file, None, together=True))


def _without_features(paths: Sequence[str], reader: Reader, room: Room, take: TakeRows) -> tuple[Rows, tuple[str, ...]]:
    """The rows of all files without their features, and the names of these; whole rows go to `take`."""
    kept = []
    for block in blocks_of(paths, reader.opener(), room, together=False):
        take(block.rows)
        kept.append(block.rows.without_features())
    return join_rows(kept), _feature_names(block, reader)


def _feature_names(block: Block, reader: Reader) -> tuple[str, ...]:
    """The names of features; numbers are names, too, where some of them hold categories."""
    layout = block.file.layout
    return block.file.feature_names or (layout.features if layout is not None and reader.categories else ())


def _dataset_of_all(
    paths: Sequence[str], reader: Reader, rows: Rows, feature_names: tuple[str, ...] = ()
) -> RankingDataset:
    sizes = reader.query_sizes(paths, has_ids=rows.runs.ids is not None)
    if sizes is not None:
        if sizes.sum() != len(rows):
            raise _size_mismatch(sizes.sum(), str(len(rows)))
        rows = replace(rows, runs=Runs(np.arange(len(sizes)), sizes, numbered=True))
    with errors_name_file(input_names(paths)):
        return with_texts(rows.dataset(feature_names), reader.categories)


def _chunks(
    paths: Sequence[str], reader: Reader, open_file: Opener, id_types: IdTypes | None
) -> Iterator[RankingDataset]:
    blocks = blocks_of(paths, open_file, fresh_room, together=True)
    for block, parts in _whole_queries(_with_numbers(blocks, paths, reader)):
        rows = join_rows(parts)
        with errors_name_file(block.name):
            chunk = (rows if id_types is None else id_types.settle(rows)).dataset(_feature_names(block, reader))
            chunk = with_texts(chunk, reader.categories)
        yield chunk


def _whole_queries(blocks: Iterator[Block]) -> Iterator[tuple[Block, list[Rows]]]:
    """The same rows, cut where a query ends, with a block of the file that they are from."""
    unfinished: list[Rows] = []  # the rows so far of a query that may go on in the next block
    for block in blocks:
        rows = block.rows
        if unfinished and len(rows.runs.sizes) == 1 and _query(unfinished[-1]) == _query(rows):
            unfinished.append(rows)
            continue
        before, last = rows.cut_at_last_run()
        finished = [part for part in (*unfinished, before) if len(part)]
        unfinished = [last]
        if finished:
            yield block, finished
    yield block, unfinished


def _query(rows: Rows) -> str:
    """The query id of a single run of rows, as text: an id may be a number in one block and text in another."""
    assert rows.runs.ids is not None
    return str(rows.runs.ids[0])


def _with_numbers(blocks: Iterator[Block], paths: Sequence[str], reader: Reader) -> Iterator[Block]:
    """The blocks; where queries have sizes and no ids, they get their numbers from 0 as ids."""
    ends: IntArray | None = None
    row = 0
    for block in blocks:
        if row == 0:
            sizes = reader.query_sizes(paths, has_ids=block.rows.runs.ids is not None)
            ends = None if sizes is None else np.cumsum(sizes)
        yield block if ends is None else replace(block, rows=_numbered(block.rows, row, ends))
        row += len(block.rows)
    if ends is not None and row != ends[-1]:
        raise _size_mismatch(ends[-1], str(row))


def _numbered(rows: Rows, row: int, ends: IntArray) -> Rows:
    """The rows with the numbers of their queries as ids; the first is row `row` of all, and queries end at `ends`."""
    stop = row + len(rows)
    if stop > ends[-1]:
        raise _size_mismatch(ends[-1], f"at least {stop}")
    first, last = np.searchsorted(ends, [row, stop - 1], side="right").tolist()
    sizes = np.diff(np.minimum(ends[first : last + 1], stop), prepend=row)
    return replace(rows, runs=Runs(np.arange(first, last + 1), sizes, numbered=True))


def _size_mismatch(wanted: np.int64, found: str) -> InputError:
    return InputError(f"the sizes of the queries add up to {wanted} documents, but the data has {found}")
