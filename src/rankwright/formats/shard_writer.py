"""A dataset written as a folder of files, a few queries in memory at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import numpy as np

from rankwright.arrays import IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, UnknownNameError, require
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import is_standard

SUFFIX_OF = {"parquet": ".parquet", "svmlight": ".letor"}
AHEAD = 2  # chunks that wait for each file to be written
MOST_SHARDS = 1024


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
    if is_standard(folder):
        raise SettingError("shards are files of a folder: name one, not standard output")
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
                    raise InputError(
                        f"there are queries for {int((n_docs > 0).sum())} files only, and {len(n_docs)} were asked for"
                    )
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
                if self._failed.is_set():
                    raise InputError("another file could not be written")
                yield chunk

        try:
            self._write(chunks(), self._paths[number])
        except BaseException:
            self._failed.set()
            while queue.get() is not None:
                pass
            raise
