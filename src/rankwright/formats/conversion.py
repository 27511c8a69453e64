"""Files of one format turned into a file of another, or into a folder of files, chunk by chunk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.container.outputs import inputs_kept
from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, InputError, SettingError, UnknownNameError, require, require_input
from rankwright.formats.file_formats import FORMATS, format_named, format_of, format_of_name, suffix_of, write_options
from rankwright.formats.pipeline import read_in_chunks, read_whole
from rankwright.formats.reading import reader_of
from rankwright.formats.sidecars import read_scores
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import Paths, input_name, is_standard, list_of_paths, spooled
from rankwright.formats.trec import Run, qrels_of, run_of, write_qrels, write_run

# Formats that can be written but not read as a dataset, and their endings: TREC files hold no features.
TREC_SUFFIX_OF = {"qrels": ".qrels", "run": ".run"}
WRITE_OPTIONS = ("absent", "index_base", "tag", "threads")  # options of a writer that mean the same as when reading
SUFFIX_OF = {"parquet": ".parquet", "svmlight": ".letor"}
AHEAD = 2  # chunks that wait for each file to be written
MOST_SHARDS = 1024


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was converted.

    Attributes
    ----------
    source_format, target_format : str
        The two formats.
    queries, documents, features : int
        The numbers of queries, documents and features.
    bytes : int or None
        The size of the new file, None where it went to standard output.
    """

    source_format: str
    target_format: str
    queries: int
    documents: int
    features: int
    bytes: int | None

    def as_dict(self) -> dict[str, Any]:
        """The conversion as a plain dictionary, ready for JSON."""
        return asdict(self)


def convert(
    source: Paths,
    target: FilePath,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    scores: FilePath | None = None,
    shards: int | None = None,
    whole: bool = False,
    **options: Any,
) -> Conversion:
    """Turn files of one format into a file of another.

    Memory holds a few chunks of whole queries, however long the files. The target appears complete or not at all.
    Columns are written with their usual names.

    Parameters
    ----------
    source : str, path-like, or a sequence of them
        The file or files to read; `-` is standard input.
    target : str or path-like
        The file to write; `-` is standard output.
    source_format : {"svmlight", "csv", "tsv", "parquet"}, optional
        The format of the source; the default finds it as `read` does.
    target_format : {"svmlight", "csv", "tsv", "parquet", "qrels", "run"}, optional
        The format of the target; the default is shown by the ending of `target`. `qrels` holds the labels alone, `run`
        the scores alone, both as TREC has them.
    scores : str or path-like, optional
        A file of scores, one line for each document, for the target format `run`.
    shards : int, optional
        How many files to write: `target` is then a new or empty folder, which gets them under numbers. Queries are
        dealt to them so that all have about as many documents. Without `target_format` they are Parquet.
    whole : bool, default False
        Whether to read everything at once. Needed where the rows of a query are not next to each other.
    **options : object
        Options of the source format, as in `read`. `absent`, `index_base` and `threads` go to the writer too; `tag`
        is the name of a run.

    Returns
    -------
    Conversion
        The formats, and the numbers of queries, documents, features and bytes.

    Examples
    --------
    >>> import rankwright as rw
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rw.write(rw.synthetic.random_polynomial(20), f"{folder}/train.txt")
    ...     done = rw.convert(f"{folder}/train.txt", f"{folder}/train.csv")
    >>> done.target_format, done.queries, done.documents, done.features
    ('csv', 20, 1000, 50)
    """
    if source_format in TREC_SUFFIX_OF:
        told = f"{source_format} files hold no features and cannot become a dataset; read_{source_format} reads them"
        raise SettingError(told)
    source_format = source_format or format_of(source)
    target_format = target_format_of(target, target_format) if shards is None else target_format or "parquet"
    if (scores is None) == (target_format == "run"):
        raise SettingError("scores and the target format run belong together: give both or neither")
    write = _writer(target_format, scores)
    readable = format_named(source_format).options
    for_reader, for_writer = _shared_out(options, readable, write, f"{source_format} to {target_format}")
    reader = reader_of(source, source_format, for_reader)
    counts = {"queries": 0, "documents": 0, "features": 0}
    read_from = [*list_of_paths(source), *([] if scores is None else [scores])]
    with inputs_kept(read_from), nullcontext(source) if whole and not reader.jumps else spooled(source) as paths:
        chunks = _counted([read_whole(paths, reader)] if whole else read_in_chunks(paths, reader), counts)
        if shards is not None:
            written = write_shards(chunks, target, shards, target_format, partial(write, **for_writer))
            return Conversion(source_format, target_format, **counts, bytes=written)
        write(chunks, target, **for_writer)
    size = None if is_standard(target) else Path(target).stat().st_size
    return Conversion(source_format, target_format, **counts, bytes=size)


def _shared_out(
    options: Mapping[str, Any], readable: Sequence[str], write: Callable[..., None], what: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options for the reader and those for the writer; each option must belong to one of them at least."""
    writable = [name for name in write_options(write) if name in WRITE_OPTIONS]
    unknown = [name for name in options if name not in (*readable, *writable)]
    if unknown:
        known = ", ".join(dict.fromkeys((*readable, *writable)))
        raise SettingError(f"converting {what} has no option {unknown[0]!r}; it has {known}")
    return (
        {name: value for name, value in options.items() if name in readable},
        {name: value for name, value in options.items() if name in writable},
    )


def _counted(chunks: Iterable[RankingDataset], counts: dict[str, int]) -> Iterator[RankingDataset]:
    """The same chunks; their queries and documents are added to `counts`."""
    for chunk in chunks:
        counts["queries"] += chunk.n_queries
        counts["documents"] += chunk.n_docs
        counts["features"] = chunk.n_features
        yield chunk


def target_format_of(target: FilePath, name: str | None) -> str:
    """The format to write a file in: as asked for, or as its ending shows."""
    if name is None:
        suffix = suffix_of(target)
        return next((kind for kind in TREC_SUFFIX_OF if TREC_SUFFIX_OF[kind] == suffix), "") or format_of_name(target)
    if name not in (*FORMATS, *TREC_SUFFIX_OF):
        raise UnknownNameError("format", name, known=(*FORMATS, *TREC_SUFFIX_OF))
    return name


def _writer(target_format: str, scores: FilePath | None) -> Callable[..., None]:
    """The function that writes chunks of a dataset in the target format."""
    if target_format in FORMATS:
        return FORMATS[target_format].write

    def as_qrels(data: Iterable[RankingDataset], path: FilePath) -> None:
        write_qrels((qrels_of(chunk, row) for row, chunk in _first_rows(data)), path)

    def as_run(data: Iterable[RankingDataset], path: FilePath, *, tag: str = "rankwright") -> None:
        assert scores is not None
        write_run(_runs(data, scores), path, tag=tag)

    return as_qrels if target_format == "qrels" else as_run


def _runs(chunks: Iterable[RankingDataset], path: FilePath) -> Iterator[Run]:
    """The run of each chunk, with scores from a file that must have one for each document."""
    scores = read_scores(path)
    stop = 0
    for row, chunk in _first_rows(chunks):
        stop = row + chunk.n_docs
        if stop > len(scores):
            raise FileFormatError(input_name(path), f"has {len(scores)} scores, but the data has more documents")
        yield run_of(chunk, scores[row:stop], row)
    if stop < len(scores):
        raise FileFormatError(input_name(path), f"has {len(scores)} scores, but the data has {stop} documents")


def _first_rows(chunks: Iterable[RankingDataset]) -> Iterator[tuple[int, RankingDataset]]:
    """Each chunk with the number of rows before it."""
    row = 0
    for chunk in chunks:
        yield row, chunk
        row += chunk.n_docs


def write_shards(
    chunks: Iterable[RankingDataset],
    folder: FilePath,
    n_shards: int,
    format: str,
    write: Callable[[Iterable[RankingDataset], FilePath], None],
) -> int:
    """Deal the queries of all chunks to `n_shards` files of about equal length, and return the number of bytes written.

    Each file is written by a thread of its own, which takes chunks as they come. If one fails, all files are removed.
    """
    require(1 <= n_shards <= MOST_SHARDS, f"shards must be from 1 to {MOST_SHARDS}, got {n_shards}")
    if format not in SUFFIX_OF:
        raise UnknownNameError("format of shards", format, known=SUFFIX_OF)
    place = _new_folder(folder)
    digits = len(str(n_shards - 1))
    paths = [place / f"{number:0{digits}}{SUFFIX_OF[format]}" for number in range(n_shards)]
    _Writers(paths, write).deal(chunks)
    return sum(path.stat().st_size for path in paths)


def _new_folder(folder: FilePath) -> Path:
    require(not is_standard(folder), "shards are files of a folder: name one, not standard output")
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InputError(f"{place} is not an empty folder: shards would mix with what is there")
    place.mkdir(parents=True, exist_ok=True)
    return place


class _Writers:
    """A thread for each file, and a queue that leads to it."""

    def __init__(self, paths: list[Path], write: Callable[[Iterable[RankingDataset], FilePath], None]) -> None:
        self._paths, self._write = paths, write
        self._queues: list[Queue[RankingDataset | None]] = [Queue(AHEAD) for _ in paths]
        self._failed = threading.Event()

    def deal(self, chunks: Iterable[RankingDataset]) -> None:
        """Write all chunks."""
        with ThreadPoolExecutor(len(self._paths)) as pool:
            futures = [pool.submit(self._write_file, number) for number in range(len(self._paths))]
            try:
                n_docs = self._give_out(chunks)
                if not self._failed.is_set() and (n_docs == 0).any():
                    filled = int((n_docs > 0).sum())
                    raise InputError(f"there are queries for {filled} files only, and {len(n_docs)} were asked for")
                self._end()
                for future in futures:
                    future.result()  # raises what ended the thread
            except BaseException:
                self._failed.set()
                self._end()
                for future in futures:
                    future.exception()
                for path in self._paths:
                    path.unlink(missing_ok=True)
                raise

    def _give_out(self, chunks: Iterable[RankingDataset]) -> IntArray:
        """Deal each chunk's queries to the files that are shortest so far; returns the documents of each file."""
        n_docs = np.zeros(len(self._paths), np.int64)
        for chunk in chunks:
            owners = np.empty(chunk.n_queries, np.int64)
            for query, size in enumerate(chunk.groups.sizes.tolist()):
                owners[query] = np.argmin(n_docs)
                n_docs[owners[query]] += size
            for number in np.unique(owners).tolist():
                if self._failed.is_set():
                    return n_docs
                self._queues[number].put(chunk.take_queries(np.flatnonzero(owners == number)))
        return n_docs

    def _end(self) -> None:
        for queue in self._queues:
            queue.put(None)

    def _write_file(self, number: int) -> None:
        queue = self._queues[number]

        def chunks() -> Iterator[RankingDataset]:
            while (chunk := queue.get()) is not None:
                require_input(not self._failed.is_set(), "another file could not be written")
                yield chunk

        try:
            self._write(chunks(), self._paths[number])
        except BaseException:
            self._failed.set()
            while queue.get() is not None:
                pass
            raise
