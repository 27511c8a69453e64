"""SVMlight/LETOR text: `label qid:ID index:value … # comment`, a line a document. docs/svmlight.md tells every case."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import FEATURE_DTYPE, Float32Array, IdArray, IntArray, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.ids import text_ids
from rankwright.errors import FileFormatError, InputError, SettingError, require
from rankwright.formats.compressed import compression_of_name
from rankwright.formats.documents import Documents, TakeFeatures
from rankwright.formats.sources import BLOCK_SIZE, FilePath, atomic_output, input_name, is_standard
from rankwright.formats.svmlight.formatter import SvmlightStyle, format_lines
from rankwright.formats.svmlight.growing_matrix import GrowingMatrix
from rankwright.formats.svmlight.parser import Absent, Room, SvmlightParser, SvmlightSettings
from rankwright.formats.svmlight.query_file import group_sizes
from rankwright.formats.svmlight.rows import QueryLog, Rows, SizedQueries, dataset_of, size_mismatch, whole_queries
from rankwright.kernels.codes import Omit

CHUNK_SIZE = 16 << 20  # bytes of text for each chunk of a stream
GUESS_MARGIN = 1.05  # room beyond the rows that the first block foretells

OMIT_OF_ABSENT = {"zero": Omit.ZERO, "missing": Omit.MISSING}

logger = logging.getLogger(__name__)

GroupSource = FilePath | Sequence[FilePath] | ArrayLike


def read_svmlight(
    paths: FilePath | Sequence[FilePath],
    *,
    absent: Absent = "zero",
    n_features: int | None = None,
    group: GroupSource | None = None,
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
    settings = SvmlightSettings(absent, n_features, index_base, allow_infinity, threads, block_size)
    files = _as_paths(paths)
    parser, matrix = SvmlightParser(settings), GrowingMatrix()
    text_size = _plain_size(files)

    def room(n_rows: int, n_columns: int) -> Float32Array:
        expected_rows = int(GUESS_MARGIN * text_size / parser.bytes_per_row) - matrix.n_rows
        return matrix.room(n_rows, n_columns, expected_rows)

    pieces = _without_features(files, parser, room, lambda features: matrix.keep(len(features)))
    features = matrix.finish(parser.n_features, parser.absent)
    return dataset_of(features, pieces, _sizes(files, group, pieces))


def stream_svmlight(
    paths: FilePath | Sequence[FilePath],
    take: TakeFeatures,
    *,
    absent: Absent = "zero",
    n_features: int | None = None,
    group: GroupSource | None = None,
    index_base: int = 1,
    allow_infinity: bool = False,
    threads: int | None = None,
    block_size: int = BLOCK_SIZE,
) -> Documents:
    """The documents that `read_svmlight` reads; their features go to `take`, a block of rows at a time.

    The files are read once. Without `n_features` blocks may become wider on the way: the last is as wide as the data.
    """
    settings = SvmlightSettings(absent, n_features, index_base, allow_infinity, threads, block_size)
    files = _as_paths(paths)
    pieces = _without_features(files, SvmlightParser(settings), _ReusedRoom(), take)
    nothing = np.empty((sum(map(len, pieces)), 0), FEATURE_DTYPE)
    return Documents(dataset_of(nothing, pieces, _sizes(files, group, pieces)))


def iter_svmlight(
    paths: FilePath | Sequence[FilePath],
    *,
    absent: Absent = "zero",
    n_features: int | None = None,
    group: GroupSource | None = None,
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
    settings = SvmlightSettings(absent, n_features, index_base, allow_infinity, threads, block_size)
    files = _as_paths(paths)
    if n_features is not None:
        return _chunks(files, settings, group, _IdTypes())
    if any(is_standard(path) for path in files):
        raise SettingError("standard input can be streamed only where n_features is given: it cannot be read twice")
    parser, id_types = _scan(files, settings)
    return _chunks(files, replace(settings, n_features=parser.n_features), group, id_types)


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
    left_out: set[str] = set()
    n_queries = 0
    with atomic_output(path) as output:
        for chunk in [data] if isinstance(data, RankingDataset) else data:
            for lines in format_lines(chunk, style, first_query=n_queries, mark_width=n_queries == 0):
                output.write(lines)
            n_queries += chunk.n_queries
            left_out |= _left_out(chunk)
    if left_out:
        logger.warning("%s: SVMlight text has no place for %s; left out", os.fspath(path), ", ".join(sorted(left_out)))


def _left_out(data: RankingDataset) -> set[str]:
    """What of a dataset the format cannot hold."""
    found = {
        "feature names": bool(data.feature_names),
        "preferences": data.preferences is not None,
        "query weights": data.query_weights is not None,
        "document weights": data.document_weights is not None,
        "positions": data.positions is not None,
        "queries without documents": bool((data.groups.sizes == 0).any()),
    }
    return {name for name, is_there in found.items() if is_there}


def _as_paths(paths: FilePath | Sequence[FilePath]) -> list[FilePath]:
    files = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not files:
        raise InputError("paths must name at least one file")
    return files


def _plain_size(files: Sequence[FilePath]) -> int:
    """The bytes of text in all files, 0 where it cannot be told without reading them."""
    sizes = 0
    for path in files:
        if is_standard(path) or compression_of_name(os.fspath(path)) is not None or not Path(path).is_file():
            return 0
        sizes += Path(path).stat().st_size
    return sizes


def _rows(files: Sequence[FilePath], parser: SvmlightParser, room: Room, *, together: bool) -> Iterator[Rows]:
    """The rows of all files, either all with query ids or all without, and no query in two places.

    The same id in two files may mean one query cut in two or two queries numbered alike: only the user knows.
    """
    log = QueryLog(together=together) if together or len(files) > 1 else None
    had_queries = None
    for path in files:
        for rows in parser.parse_file(path, room):
            has_queries = rows.run_ids is not None
            if had_queries not in (None, has_queries):
                raise FileFormatError(input_name(path), "some files have query ids and some have none")
            had_queries = has_queries
            run = log.returning_run(rows) if log is not None and has_queries else None
            if run is not None:
                raise _returning_query(input_name(path), rows, run, parser, together)
            yield rows
        if log is not None:
            log.end_file()


def _without_features(files: Sequence[FilePath], parser: SvmlightParser, room: Room, take: TakeFeatures) -> list[Rows]:
    """The rows of all files without their features, which go to `take`."""
    pieces = []
    for rows in _rows(files, parser, room, together=False):
        take(rows.features)
        pieces.append(rows.without_features())
    return pieces


class _ReusedRoom:
    """Room for one block after another in the same memory, which fresh memory's clearing would slow down."""

    def __init__(self) -> None:
        self._values: Float32Array = np.empty(0, FEATURE_DTYPE)

    def __call__(self, n_rows: int, n_columns: int) -> Float32Array:
        if len(self._values) < n_rows * n_columns:
            self._values = np.empty(n_rows * n_columns, FEATURE_DTYPE)
        return self._values[: n_rows * n_columns].reshape(n_rows, n_columns)


def _returning_query(name: str, rows: Rows, run: int, parser: SvmlightParser, together: bool) -> FileFormatError:
    assert rows.run_ids is not None
    wanted = "wanted its rows together in one file" + (
        "" if together else " (in any order), or all files as one stream"
    )
    return FileFormatError(
        name,
        f"query {rows.run_ids[run]} comes back after it had ended; {wanted}",
        parser.line_of(int(rows.run_sizes[:run].sum())),
    )


def _sizes(files: Sequence[FilePath], group: GroupSource | None, pieces: Sequence[Rows]) -> IntArray | None:
    """The documents of each query where the lines have no query ids."""
    if pieces[0].run_ids is not None:
        _refuse_group(files, group)
        return None
    sizes = group_sizes(files, group)
    n_docs = sum(len(piece) for piece in pieces)
    if sizes.sum() != n_docs:
        raise size_mismatch(int(sizes.sum()), str(n_docs))
    return sizes


def _refuse_group(files: Sequence[FilePath], group: GroupSource | None) -> None:
    if group is not None:
        raise InputError(f"{input_name(files[0])} has query ids, so that group must not be given")


@dataclass(frozen=True, slots=True)
class _IdTypes:
    """What a scan found the ids of all chunks to be; without one, text is the safe guess."""

    queries_are_text: bool = True
    documents_are_text: bool = True
    has_documents: bool = False


def _scan(files: Sequence[FilePath], settings: SvmlightSettings) -> tuple[SvmlightParser, _IdTypes]:
    """A parser that has seen all files, and the types of their ids."""
    parser = SvmlightParser(settings)
    queries_are_text = documents_are_text = has_documents = False
    for rows in _rows(files, parser, lambda n_rows, _: np.empty((n_rows, 0), FEATURE_DTYPE), together=True):
        queries_are_text |= rows.run_ids is not None and rows.run_ids.dtype != np.int64
        documents_are_text |= rows.document_ids is None or rows.document_ids.dtype != np.int64
        has_documents |= rows.document_ids is not None
    return parser, _IdTypes(queries_are_text, documents_are_text, has_documents)


def _chunks(
    files: Sequence[FilePath], settings: SvmlightSettings, group: GroupSource | None, id_types: _IdTypes
) -> Iterator[RankingDataset]:
    parser = SvmlightParser(settings)
    sized: SizedQueries | None = None

    def rows_with_queries() -> Iterator[Rows]:
        nonlocal sized
        for rows in _rows(files, parser, lambda *shape: np.empty(shape, FEATURE_DTYPE), together=True):
            if rows.run_ids is not None:
                _refuse_group(files, group)
                yield rows
            else:
                sized = sized or SizedQueries(group_sizes(files, group))
                yield sized.assign(rows)

    for pieces in whole_queries(rows_with_queries()):
        features = np.concatenate([piece.features for piece in pieces]) if len(pieces) > 1 else pieces[0].features
        data = dataset_of(features, pieces)
        yield _with_id_types(data, id_types, has_queries=sized is None)
    if sized is not None:
        sized.check_end()


def _with_id_types(data: RankingDataset, id_types: _IdTypes, *, has_queries: bool) -> RankingDataset:
    queries: IdArray | None = data.query_ids if has_queries else None
    documents = data.document_ids
    if documents is None and id_types.has_documents:
        documents = np.zeros(data.n_docs, np.dtypes.StringDType())
    if queries is not None and id_types.queries_are_text:
        queries = text_ids(queries)
    if documents is not None and id_types.documents_are_text:
        documents = text_ids(documents)
    return replace(data, query_ids=queries, document_ids=documents)
