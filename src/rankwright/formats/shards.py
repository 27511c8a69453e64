"""Files that make up one dataset, too large to be read at once: queries of Parquet files can be read alone.

A query is in one file, with its rows together. One quick pass over the column of query ids finds the place of each
query. Shards are divided among workers so that each gets whole queries, one after another, and about as many documents
as the others: Parquet files between any two queries; text cannot be entered in the middle, so whole files are given out
by their size.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.container.outputs import special_file
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require, require_input
from rankwright.formats.blocks import blocks_of
from rankwright.formats.file_formats import format_of, suffix_of
from rankwright.formats.parquet import ParquetReader, ParquetRowsReader
from rankwright.formats.pipeline import Documents, TakeRows, read_whole, stream_rows
from rankwright.formats.reading import DataFile
from rankwright.formats.sidecars import FEATURE_NAMES_FILE
from rankwright.formats.storage.places import files_in, is_folder, size_of
from rankwright.formats.storage.streams import Paths, list_of_paths

SUFFIX = ".parquet"
TEXT_SHARDS = (".txt", ".dat", ".letor", ".svm", ".svmlight", ".libsvm")


class Shards(DataFile):
    """A folder of Parquet or LETOR files that make up one dataset.

    Rankers take it in place of a dataset. Most read all of it; bags of forests read, for each bag, only the queries
    that the bag drew, and the workers of a cluster that grow one forest read some queries each. A query must be in one
    file, its rows next to each other.

    Parameters
    ----------
    source : str, path-like, or a sequence of them
        A folder, here or at an address (`s3://bucket/folder`), whose files end in .parquet, or in the endings of LETOR
        text (.txt, .letor, .svm, plain or compressed) where it holds no Parquet; or the files. Bags need Parquet.
    **options : object
        Options of the reader, as `read` has them: for Parquet `columns`, `features`, `drop`, `allow_infinity`.

    Examples
    --------
    >>> import rankwright as rw
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.synthetic.random_polynomial(20)
    >>> with TemporaryDirectory() as folder:
    ...     rw.write(data.take_queries(range(10)), f"{folder}/0.parquet")
    ...     rw.write(data.take_queries(range(10, 20)), f"{folder}/1.parquet")
    ...     rw.Shards(folder).read()
    RankingDataset(20 queries, 1,000 documents, 50 features)
    """

    __slots__ = ()

    def __init__(self, source: Paths, **options: Any) -> None:
        paths = [path for name in list_of_paths(source) for path in _files(name)]
        super().__init__(paths, format=_format_of_shards(paths), **options)

    def index(self) -> ShardIndex:
        """Find where each query lies, from the query ids alone.

        Returns
        -------
        ShardIndex
            The queries of all files, with their rows counted through all of them.
        """
        if self.format != "parquet":
            told = f"bags find their queries in Parquet files, not in {self.format}: `rankwright convert` makes them"
            raise InputError(f"{self.name}: {told}")
        named = {name: value for name, value in self.options.items() if name in ("columns", "drop")}
        open_file = partial(ParquetReader(features=(), **named).open_file, only_queries=True)
        starts, first_queries, n_rows, n_queries = [], [], 0, 0
        file, last = None, None
        for block in blocks_of(self.paths, open_file, None, together=True):
            ids, sizes, _ = block.rows.runs
            assert ids is not None
            begins = n_rows + np.cumsum(sizes) - sizes
            if block.file is not file:
                first_queries.append(n_queries)
            elif ids[0] == last:
                begins = begins[1:]  # the query went on
            file, last = block.file, ids[-1]
            starts.append(begins)
            n_queries, n_rows = n_queries + len(begins), n_rows + len(block.rows)
        groups = Groups(np.concatenate([*starts, [n_rows]]))
        return ShardIndex(self.paths, groups, np.array([*first_queries, n_queries], np.int64))

    def file(self, path: str) -> DataFile:
        """One of the shards.

        Parameters
        ----------
        path : str
            One of `paths`.

        Returns
        -------
        DataFile
            The shard as a file of its own.
        """
        return DataFile(path, format=self.format, **self.options)

    def only(self, rows_of: Mapping[str, IntArray]) -> ShardRows:
        """Some rows of the shards.

        Parameters
        ----------
        rows_of : mapping from str to array of int64
            The rows of each file, in ascending order.

        Returns
        -------
        ShardRows
            An object that reads like a file with these rows alone.
        """
        return ShardRows(rows_of, self.options)


@dataclass(frozen=True, slots=True, eq=False)
class ShardIndex:
    """The queries of all shards, one shard after another: those of shard s begin at `first_queries[s]`."""

    paths: tuple[str, ...]
    groups: Groups  # rows are counted through all shards
    first_queries: IntArray

    def rows_of(self, rows: IntArray) -> dict[str, IntArray]:
        """The row numbers within each shard, of ascending rows that are counted through all shards."""
        first_rows = self.groups.offsets[self.first_queries]
        places = np.searchsorted(rows, first_rows)
        return {
            path: rows[places[shard] : places[shard + 1]] - first_rows[shard]
            for shard, path in enumerate(self.paths)
            if places[shard] < places[shard + 1]
        }


class ShardRows(DataFile):
    """Some rows of shards; it reads like a file that has no others."""

    __slots__ = ("rows_of",)

    def __init__(self, rows_of: Mapping[str, IntArray], options: Mapping[str, Any]) -> None:
        super().__init__(list(rows_of), format="parquet", **options)
        self.rows_of = rows_of

    def stream_rows(self, take: TakeRows) -> Documents:
        """The documents in those rows, without features; rows with these go to `take`."""
        return stream_rows(self.paths, self._reader(), take)

    def read(self) -> RankingDataset:
        """The documents in those rows."""
        return read_whole(self.paths, self._reader())

    def _reader(self) -> ParquetRowsReader:
        return ParquetRowsReader(rows_of=self.rows_of, **self.options)


def file_or_shards(
    path: str, *, format: str | None = None, initial_scores: str | None = None, pairs: str | None = None, **options: Any
) -> DataFile:
    """The file at `path`, or the shards in it where it is a folder."""
    if not is_folder(path):
        beside = {} if pairs is None else {"pairs": pairs}
        return DataFile(path, format=format, initial_scores=initial_scores, **beside, **options)
    require(pairs is None, f"{path}: pairs count the rows of one file: shards have none")
    require(initial_scores is None, f"{path}: shards cannot start from initial scores: leave them out")
    require(format in (None, "parquet", "svmlight"), f"{path}: a folder holds Parquet or LETOR files, not {format}")
    return Shards(path, **options)


def as_shards(file: DataFile) -> Shards:
    """The files as shards, each of which has whole queries."""
    if isinstance(file, Shards):
        return file
    require("pairs" not in file.options, f"{file.name}: pairs count the rows of one file: shards have none")
    for name in ("initial_scores", "query_weights"):
        require(file.options.get(name) is None, f"{file.name}: shards have no files beside them, such as {name}")
    return Shards(file.paths, **file.options)


def _files(path: str) -> list[str]:
    if not is_folder(path):
        return [path]
    inside = [file for file in files_in(path) if PurePath(file).name != FEATURE_NAMES_FILE]
    texts = [file for file in inside if suffix_of(file) in TEXT_SHARDS]
    found = [file for file in inside if _is_parquet(file)] or texts
    if not found:
        kinds = f"no {SUFFIX} files and no LETOR text"
        raise InputError(f"{path}: the folder holds {kinds}; wanted the shards of a dataset")
    for file in found:
        require_input(special_file(file) is None, f"{file}: is a device or a pipe, and shards are files")
    return found


def _is_parquet(path: str) -> bool:
    return PurePath(path).suffix.lower() == SUFFIX


def _format_of_shards(paths: Sequence[str]) -> str:
    """The format of all shards, which is that of each."""
    formats = {"parquet" if _is_parquet(path) else format_of([path]) for path in paths}
    if len(formats) > 1:
        raise InputError(f"shards must be of one format, got {', '.join(sorted(formats))}")
    return formats.pop()


@dataclass(frozen=True, slots=True)
class ShardPart:
    """Some of the rows of shards, by file: from `start` up to `stop`, or the whole file where that is None."""

    rows: tuple[tuple[str, int, int | None], ...]
    format: str | None
    options: Mapping[str, Any] = field(default_factory=dict)

    def file(self, **defaults: Any) -> DataFile | None:
        """What reads like a file of these rows, None where there are none; `defaults` are options of `read`."""
        if not self.rows:
            return None
        if self.format != "parquet":
            paths = [path for path, _, _ in self.rows]
            return DataFile(paths, format=self.format, **self.options).with_defaults(**defaults)
        options = {name: value for name, value in defaults.items() if name in ("features",)} | dict(self.options)
        return ShardRows({path: np.arange(start, stop) for path, start, stop in self.rows}, options)


def divided_shards(shards: Shards, index: ShardIndex | None, n_parts: int) -> list[ShardPart]:
    """The shards cut into `n_parts` parts, in their order; some parts may be empty."""
    sizes = np.array(list(map(size_of, shards.paths)), np.int64) if index is None else index.groups.sizes
    whole = [(path, 0, None) for path in shards.paths]
    return [
        ShardPart(
            tuple(whole[begin:end]) if index is None else _ranges(index, begin, end), shards.format, shards.options
        )
        for begin, end in itertools.pairwise(_bounds(sizes, n_parts))
    ]


def query_bounds(index: ShardIndex, n_parts: int) -> list[int]:
    """The first query of each part, and the number of all."""
    return _bounds(index.groups.sizes, n_parts)


def _bounds(sizes: IntArray, n_parts: int) -> list[int]:
    """Where runs of about the same size begin, and the end."""
    middles = np.cumsum(sizes) - sizes / 2
    shares = np.arange(n_parts + 1) * (int(sizes.sum()) / n_parts)
    return [*np.searchsorted(middles, shares)[:-1].tolist(), len(sizes)]


def _ranges(index: ShardIndex, begin: int, end: int) -> tuple[tuple[str, int, int | None], ...]:
    """The rows of the queries from `begin` up to `end`, by file."""
    offsets, found = index.groups.offsets, []
    firsts: Sequence[int] = index.first_queries.tolist()
    for path, first, last in zip(index.paths, firsts[:-1], firsts[1:], strict=True):
        low, high = max(first, begin), min(last, end)
        if low < high:
            before = int(offsets[first])
            found.append((path, int(offsets[low]) - before, int(offsets[high]) - before))
    return tuple(found)
