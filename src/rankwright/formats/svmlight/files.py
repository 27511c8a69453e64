"""SVMlight/LETOR text: `label qid:ID index:value … # comment`, a line a document. docs/svmlight.md tells every case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rankwright.arrays import IntArray, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, require
from rankwright.formats.blocks import Opener, Reader
from rankwright.formats.pipeline import read_in_chunks, read_whole, scan_ids
from rankwright.formats.rows import IdTypes
from rankwright.formats.sources import BLOCK_SIZE, FilePath, Paths, atomic_output, input_name, is_standard
from rankwright.formats.svmlight.formatter import SvmlightStyle, format_lines
from rankwright.formats.svmlight.parser import Absent, SvmlightOptions, SvmlightParser
from rankwright.formats.svmlight.query_file import QuerySizes, group_sizes
from rankwright.formats.writing import numbered_chunks
from rankwright.kernels.codes import Omit

CHUNK_SIZE = 16 << 20  # bytes of text for each chunk of whole queries

OMIT_OF_ABSENT = {"zero": Omit.ZERO, "missing": Omit.MISSING}
# What the format has no place for.
NO_PLACE = {
    "feature_names": "feature names",
    "preferences": "preferences",
    "query_weights": "query weights",
    "document_weights": "document weights",
    "positions": "positions",
}


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
    """The dataset of one or several SVMlight files, plain, .gz or .zst; `-` is standard input.

    A feature that a line does not name is 0, or missing with `absent="missing"`. `n_features` fixes the width, which
    is else the largest index. Files without `qid` take the sizes of their queries from `group` (sizes, or files of
    them) or from `.query` files beside them. `index_base=0` is for files that count features from 0. `block_size`
    bytes of text are parsed at a time; the result does not depend on it.
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
    """The same data as `read_svmlight` in chunks of whole queries, about `block_size` bytes of text each.

    Memory holds a few chunks, however long the files. The rows of a query must stand together. Without `n_features`
    the files are read twice, the first time for their width; then ids have the type that they have in
    `read_svmlight`. With it they are read once, as standard input must be, and ids are strings.
    """
    reader = SvmlightReader(absent, n_features, group, index_base, allow_infinity, threads, block_size)
    return read_in_chunks(paths, reader)


@dataclass(frozen=True, slots=True)
class SvmlightReader(SvmlightOptions, Reader):
    """Opens SVMlight files."""

    def opener(self) -> Opener:
        """A parser, which keeps the width that the files so far ask for."""
        return SvmlightParser(self).open_file

    def prepared(self, paths: Sequence[str]) -> tuple[Opener, IdTypes | None]:
        """A parser that knows the width: where it is not given, all files are read for it, and for the ids' types."""
        reader = replace(self, block_size=self.block_size or CHUNK_SIZE)
        if reader.n_features is not None:
            return reader.opener(), IdTypes()
        if any(map(is_standard, paths)):
            raise SettingError("standard input can be streamed only where n_features is given: it cannot be read twice")
        parser = SvmlightParser(reader)
        id_types = scan_ids(paths, parser.open_file)
        return replace(reader, n_features=parser.n_features).opener(), id_types

    def query_sizes(self, paths: Sequence[str], *, has_ids: bool) -> IntArray | None:
        """The sizes that `group` or files beside the data tell, where the lines have no query ids."""
        if not has_ids:
            return group_sizes(paths, self.group)
        if self.group is not None:
            raise InputError(f"{input_name(paths[0])} has query ids, so that group must not be given")
        return None


def write_svmlight(
    data: RankingDataset | Iterable[RankingDataset],
    path: FilePath,
    *,
    absent: Absent | None = None,
    index_base: int = 1,
    threads: int | None = None,
) -> None:
    """Write a dataset, or chunks of one, so that `read_svmlight` gives back the same bits; `-` is standard output.

    Every feature of every row is written, unless `absent` names what a reader with the same `absent` puts back. Names
    that end in .gz or .zst are compressed. Rows stand in the order they had in their source. Queries without ids get
    their numbers, from 0. What the format has no place for is left out, and the log says so.
    """
    require(absent in (None, *OMIT_OF_ABSENT), f"absent must be 'zero', 'missing' or None, got {absent!r}")
    require(index_base in (0, 1), f"index_base must be 0 or 1, got {index_base!r}")
    style = SvmlightStyle(index_base, OMIT_OF_ABSENT[absent] if absent else Omit.NOTHING, thread_count(threads))
    with atomic_output(path) as output:
        for chunk, n_queries in numbered_chunks(data, path, "SVMlight text", NO_PLACE):
            for lines in format_lines(chunk, style, first_query=n_queries, mark_width=n_queries == 0):
                output.write(lines)
