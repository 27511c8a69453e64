"""Runs or segments made into one segment: the same bytes, however the documents were cut into runs.

Everything is read in parts, so that memory holds the terms, a few numbers for each document, and one part.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Int32Array, IntArray, Uint32Array
from rankwright.clicks.logs.log_blocks import Codes
from rankwright.errors import ContainerError, InputError
from rankwright.kernels.records import Texts
from rankwright.progress.stages import announce
from rankwright.text.index.array_files import ArrayFiles, ArrayFolder
from rankwright.text.index.layout import POSTINGS_IN_BLOCK, field_files
from rankwright.text.index.runs import sorted_texts

ENTRIES_AT_A_TIME = 1 << 20
SHARE_OF_POSTINGS = 12  # of the memory, what one part of the postings may take as it is read

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class MergeSettings:
    """What a merge may use."""

    n_text_fields: int
    n_number_fields: int
    memory: int
    threads: int


def merge(sources: Sequence[ArrayFiles], folder: ArrayFolder, settings: MergeSettings) -> ArrayFolder:
    """Write the arrays of a segment that has the documents of all sources, in their order."""
    announce("merging")
    n_documents = [source.length("id_starts") - 1 for source in sources]
    terms, ranks = _merged_terms(sources)
    _write_texts(folder, "term", terms)
    lengths = _merge_streams(sources, folder, ranks, settings)
    _Postings(sources, n_documents, ranks, len(terms.starts) - 1, lengths, settings).write(folder)
    _merge_ids(sources, folder)
    for name in field_files("numbers", settings.n_number_fields):
        _copy(sources, folder, name)
    _join_starts(sources, folder, "link_starts")
    _copy(sources, folder, "target_bytes")
    _join_starts(sources, folder, "target_starts")
    _copy(sources, folder, "stored_bytes")
    _join_starts(sources, folder, "stored_starts")
    _join_starts(sources, folder, "stored_first")
    return folder


def _merged_terms(sources: Sequence[ArrayFiles]) -> tuple[Texts, list[Uint32Array]]:
    """All terms in order, and for each source the numbers that its terms get."""
    seen = Codes(source="the index")
    numbers = [seen.of_encoded(read_texts(source, "term")) for source in sources]
    terms, rank = sorted_texts(seen.encoded())
    return terms, [rank[own] for own in numbers]


def read_texts(source: ArrayFiles, name: str) -> Texts:
    """The texts of that name, in memory."""
    return Texts(source.read(f"{name}_bytes"), source.read(f"{name}_starts"))


def _write_texts(folder: ArrayFolder, name: str, texts: Texts) -> None:
    folder.write(f"{name}_bytes", texts.bytes)
    folder.write(f"{name}_starts", texts.starts)


def in_order(function: Callable[[Task], Result], tasks: Iterable[Task], threads: int) -> Iterator[Result]:
    """The results in the order of the tasks; threads work ahead, but no further than there are threads."""
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for task in tasks:
                waiting.append(pool.submit(function, task))
                if len(waiting) > threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _parts(sources: Sequence[ArrayFiles], name: str) -> Iterator[tuple[int, int, int]]:
    """Source, start and stop of the parts of that array."""
    for number, source in enumerate(sources):
        length = source.length(name)
        for start in range(0, length, ENTRIES_AT_A_TIME):
            yield number, start, min(start + ENTRIES_AT_A_TIME, length)


def _copy(sources: Sequence[ArrayFiles], folder: ArrayFolder, name: str) -> None:
    with folder.writing(name, sources[0].dtype(name)) as writer:
        for number, start, stop in _parts(sources, name):
            writer.append(sources[number].read(name, start, stop))
    _drop(sources, name)


def _drop(sources: Sequence[ArrayFiles], name: str) -> None:
    for source in sources:
        source.drop(name)


def _join_starts(sources: Sequence[ArrayFiles], folder: ArrayFolder, name: str) -> None:
    """Write where things begin, each source's after those of the one before."""
    with folder.writing(name, np.int64) as writer:
        base = 0
        writer.append(np.zeros(1, np.int64))
        for source in sources:
            starts = source.read(name)
            writer.append(starts[1:] + base)
            base += int(starts[-1])


def _merge_streams(
    sources: Sequence[ArrayFiles], folder: ArrayFolder, ranks: Sequence[Uint32Array], settings: MergeSettings
) -> list[Int32Array]:
    """Write the streams of all fields with the new numbers of terms; returns the lengths of fields."""
    lengths = []
    n_fields = settings.n_text_fields
    for starts_name, tokens_name in zip(
        field_files("stream_starts", n_fields), field_files("stream_tokens", n_fields), strict=True
    ):
        _join_starts(sources, folder, starts_name)
        lengths.append(np.concatenate([np.diff(source.read(starts_name)) for source in sources]).astype(np.int32))

        def renumbered(part: tuple[int, int, int], name: str = tokens_name) -> Uint32Array:
            number, start, stop = part
            try:
                found: Uint32Array = ranks[number][sources[number].read(name, start, stop)]
                return found
            except IndexError:
                told = "a stream has a term that is not there"
                raise ContainerError(os.fspath(sources[number].path / name), told) from None

        with folder.writing(tokens_name, np.uint32) as writer:
            for tokens in in_order(renumbered, _parts(sources, tokens_name), settings.threads):
                writer.append(tokens)
        _drop(sources, tokens_name)
    return lengths


def _merge_ids(sources: Sequence[ArrayFiles], folder: ArrayFolder) -> None:
    _copy(sources, folder, "id_bytes")
    _join_starts(sources, folder, "id_starts")
    ids = read_texts(folder.files(), "id")
    order, repeated = np.empty(len(ids.starts) - 1, np.int64), np.empty(1, np.int64)
    kernels.sort_texts(ids, order, repeated)
    if repeated[0] >= 0:
        number = int(order[repeated[0]])
        twice = ids.bytes[ids.starts[number] : ids.starts[number + 1]].tobytes().decode("utf-8", "replace")
        raise InputError(f"two documents have the id {twice!r}")
    folder.write("id_order", order)


class _Postings:
    """The postings of all sources, put together in parts of neighbouring terms."""

    def __init__(
        self,
        sources: Sequence[ArrayFiles],
        n_documents: Sequence[int],
        ranks: Sequence[Uint32Array],
        n_terms: int,
        lengths: Sequence[Int32Array],
        settings: MergeSettings,
    ) -> None:
        self._sources, self._ranks, self._lengths, self._settings = sources, ranks, lengths, settings
        self._first = np.concatenate([[0], np.cumsum(n_documents)])
        self._starts = [source.read("posting_starts") for source in sources]
        sizes = np.zeros(n_terms, np.int64)
        for starts, own in zip(self._starts, ranks, strict=True):
            sizes[own] += np.diff(starts)
        self._sizes = sizes
        names = field_files("counts", settings.n_text_fields)
        self._count_types = [
            max((source.dtype(name) for source in sources), key=lambda one: one.itemsize) for name in names
        ]

    def write(self, folder: ArrayFolder) -> None:
        """Write postings, statistics and bounds of all terms."""
        n_blocks = -(-self._sizes // POSTINGS_IN_BLOCK)
        folder.write("posting_starts", _starts_of(self._sizes))
        folder.write("block_starts", _starts_of(n_blocks))
        bounds = self._bounds()
        with folder.writing("posting_documents", np.uint32) as writer:
            for first, last in pairwise(bounds):
                writer.append(self._part(first, last, "posting_documents", np.dtype(np.uint32)))
        _drop(self._sources, "posting_documents")
        for field in range(self._settings.n_text_fields):
            self._write_field(folder, field, bounds)

    def _bounds(self) -> list[int]:
        """Where parts begin: a part has as many postings as memory allows, or one term."""
        width = 4 + max(kind.itemsize for kind in self._count_types)
        most = max(self._settings.memory // (SHARE_OF_POSTINGS * width), 1)
        ends = np.cumsum(self._sizes)
        bounds = [0]
        while bounds[-1] < len(ends):
            before = int(ends[bounds[-1] - 1]) if bounds[-1] else 0
            bounds.append(max(int(np.searchsorted(ends, before + most, side="right")), bounds[-1] + 1))
        return bounds

    def _part(self, first: int, last: int, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        """That array for the terms from `first` to before `last`."""
        cursors = _starts_of(self._sizes[first:last])
        placed = np.empty(int(cursors[-1]), dtype)
        is_documents = name == "posting_documents"
        for source, starts, ranks, base in zip(self._sources, self._starts, self._ranks, self._first, strict=False):
            low, high = np.searchsorted(ranks, [first, last]).tolist()
            own = starts[low : high + 1]
            rows = source.read(name, int(own[0]), int(own[-1])).astype(dtype, copy=False)
            terms = ranks[low:high] - np.uint32(first)
            added = int(base) if is_documents else 0
            kernels.place_rows(own - own[0], rows, cursors[terms], added, placed, self._settings.threads)
            cursors[terms] += np.diff(own)
        return placed

    def _write_field(self, folder: ArrayFolder, field: int, bounds: Sequence[int]) -> None:
        dtype = self._count_types[field]
        files = folder.files()
        names = ("counts", "frequencies", "occurrences", "block_most", "block_least")
        kinds: tuple[Any, ...] = (dtype, np.int64, np.int64, np.uint32, np.uint32)
        n_done = 0
        with ExitStack() as stack:
            writers = [
                stack.enter_context(folder.writing(f"{name}.{field}", kind))
                for name, kind in zip(names, kinds, strict=True)
            ]
            for first, last in pairwise(bounds):
                announce("merging", first, len(self._sizes), unit="terms")
                counts = self._part(first, last, f"counts.{field}", dtype)
                documents = files.read("posting_documents", n_done, n_done + len(counts))
                n_done += len(counts)
                pieces: tuple[NDArray[Any], ...] = (counts, *self._summary(first, last, documents, counts, field))
                for writer, piece in zip(writers, pieces, strict=True):
                    writer.append(piece)
        _drop(self._sources, f"counts.{field}")

    def _summary(
        self, first: int, last: int, documents: Uint32Array, counts: NDArray[Any], field: int
    ) -> tuple[IntArray, IntArray, Uint32Array, Uint32Array]:
        sizes = self._sizes[first:last]
        block_starts = _starts_of(-(-sizes // POSTINGS_IN_BLOCK))
        frequencies, occurrences = np.empty(last - first, np.int64), np.empty(last - first, np.int64)
        most, least = np.empty(block_starts[-1], np.uint32), np.empty(block_starts[-1], np.uint32)
        kernels.summarise_postings(
            _starts_of(sizes),
            documents,
            counts,
            self._lengths[field],
            POSTINGS_IN_BLOCK,
            block_starts,
            frequencies,
            occurrences,
            most,
            least,
            self._settings.threads,
        )
        return frequencies, occurrences, most, least


def _starts_of(sizes: IntArray) -> IntArray:
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts
