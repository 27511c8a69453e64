"""From files to datasets, for every format: whole, in chunks of whole queries, or with the features passed on.

Where columns hold categories, their texts are found in a reading of their own, before the rows are read: the code of a
category is its place among all of them, so it is known only when all rows were seen. Where a model says what the
categories are, nothing is read beforehand, and texts that it never saw are missing values.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import fspath
from typing import Any, TypeAlias, cast

import numpy as np

from rankwright.arrays import Float32Array, IntArray
from rankwright.data.categories import in_code_order
from rankwright.data.dataset import RankingDataset, one_origin
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import InputError, Message, Parameter, require_type
from rankwright.formats.blocks import Block, IdTypes, Opener, Reader, Rows, Runs, blocks_of, errors_name_file, join_rows
from rankwright.formats.growing_matrix import GrowingMatrix, ReusedMemory, Room, fresh_room
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import Paths, input_name, input_names, list_of_paths, plain_size
from rankwright.progress.stages import announce

logger = logging.getLogger(__name__)

# What to do about rows that are not in the order of their queries.
ANY_ORDER = Message(Parameter("whole", True, python="whole=True, or rankwright.read,"), " takes rows in any order")

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
    names = list_of_paths(paths)
    reader = with_known_categories(reader, names)
    matrix = GrowingMatrix(plain_size(names))
    rows, known = _without_features(names, reader, matrix.room, lambda block: matrix.keep(block.features))
    rows = replace(rows, features=matrix.finish(reader.absent_value))
    return replace(_dataset_of_all(names, reader, rows, known.names), feature_origin=known.origin)


def stream_rows(paths: Paths, reader: Reader, take: TakeRows) -> Documents:
    """What `read_whole` reads, without the features; rows with their features go to `take`, block by block.

    The files are read once. Blocks of SVMlight text may become wider on the way; the last one has the full width.
    """
    names = list_of_paths(paths)
    reader = with_known_categories(reader, names)
    rows, known = _without_features(names, reader, ReusedMemory().room, take)
    return Documents(replace(_dataset_of_all(names, reader, rows), feature_origin=known.origin), known.names)


def begins_sparse(paths: Paths, reader: Reader) -> bool:
    """Whether the first rows are so wide, and have so few features, that `read_whole` would keep them sparse."""
    for block in blocks_of(list_of_paths(paths), reader.opener(), fresh_room, together=False):
        first: Any = block.rows.features
        return isinstance(first, SparseRows)
    return False


def read_queries(paths: Paths, reader: Reader) -> RankingDataset:
    """What `read_whole` reads, without features, which are not looked at."""
    names = list_of_paths(paths)
    rows, _ = _without_features(names, reader, None, lambda _: None)
    return _dataset_of_all(names, reader, rows)


def read_in_chunks(paths: Paths, reader: Reader) -> Iterator[RankingDataset]:
    """The datasets of whole queries that make up the files, in order; memory holds a few blocks at a time."""
    names = list_of_paths(paths)
    reader = with_known_categories(reader, names)
    open_file, id_types = reader.prepared(names)
    return _chunks(names, reader, open_file, id_types)


def scan_ids(paths: Sequence[str], open_file: Opener) -> IdTypes:
    """The types of the ids in all files, which are read without their features."""
    return IdTypes.of(block.rows for block in blocks_of(paths, open_file, None, together=True, remedy=ANY_ORDER))


@dataclass(frozen=True, slots=True)
class _FeaturesOfFiles:
    """What files tell of features: their names, and how they were made where that is the same in all files."""

    names: tuple[str, ...]
    origin: str | None


def _without_features(
    paths: Sequence[str], reader: Reader, room: Room | None, take: TakeRows
) -> tuple[Rows, _FeaturesOfFiles]:
    """The rows of all files without their features, and what is known of these; whole rows go to `take`."""
    kept, origins = [], set()
    for block in blocks_of(paths, reader.opener(), room, together=False):
        take(block.rows)
        kept.append(block.rows.without_features())
        origins.add(block.file.origin)
    return join_rows(kept), _FeaturesOfFiles(_feature_names(block, reader), one_origin(origins))


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
        return with_texts(rows.dataset(feature_names, reader.side), reader.categories)


def _chunks(
    paths: Sequence[str], reader: Reader, open_file: Opener, id_types: IdTypes | None
) -> Iterator[RankingDataset]:
    blocks = blocks_of(paths, open_file, fresh_room, together=True, remedy=ANY_ORDER)
    for block, parts in _whole_queries(_with_numbers(blocks, paths, reader)):
        rows = join_rows(parts)
        with errors_name_file(block.name):
            settled = rows if id_types is None else id_types.settle(rows)
            chunk = settled.dataset(_feature_names(block, reader), reader.side)
            chunk = with_texts(chunk, reader.categories)
        yield chunk if block.file.origin is None else replace(chunk, feature_origin=block.file.origin)


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


def _size_mismatch(wanted: np.int64, n_docs: str) -> InputError:
    return InputError(f"the sizes of the queries add up to {wanted} documents, but the data has {n_docs}")


def with_known_categories(reader: Reader, paths: Sequence[str]) -> Reader:
    """The reader with the texts of all columns that it takes as categories."""
    if not reader.seeks_categories:
        return reader
    found: dict[str, set[str]] = {name: set() for name in reader.categories}
    for path in paths:
        announce(f"finding the categories in {input_name(path)}")
        for texts in reader.category_texts(path):
            for name, own in texts.items():
                found[name] |= own
    with errors_name_file(input_names(paths)):
        known = {name: in_code_order(name, texts) for name, texts in found.items()}
    made: Reader = replace(cast(Any, reader), categories=known)  # readers with categories are dataclasses
    return made


def with_texts(data: RankingDataset, categories: Collection[str]) -> RankingDataset:
    """The data, which holds codes, with what they stand for."""
    return replace(data, categories=categories) if isinstance(categories, Mapping) and categories else data


def numbered_chunks(
    data: RankingDataset | Iterable[RankingDataset], path: FilePath, holder: str, no_place: Mapping[str, str]
) -> Iterator[tuple[RankingDataset, int]]:
    """A dataset, or the chunks of one, each with the number of queries before it.

    At the end the log says what was left out because `holder` has no place for it: the parts in `no_place`, which maps
    each to its name in messages.
    """
    left_out: set[str] = set()
    n_queries = 0
    require_type(data, (RankingDataset, Iterable), "data", "a RankingDataset")
    for chunk in [data] if isinstance(data, RankingDataset) else data:
        require_type(chunk, RankingDataset, "data", "a RankingDataset")
        yield chunk, n_queries
        n_queries += chunk.n_queries
        present = {part: getattr(chunk, part) for part in no_place}
        left_out |= {no_place[part] for part, values in present.items() if values is not None and len(values)}
        left_out |= {"queries without documents"} if (chunk.groups.sizes == 0).any() else set()
    if left_out:
        logger.warning("%s: %s has no place for %s; left out", fspath(path), holder, ", ".join(sorted(left_out)))
