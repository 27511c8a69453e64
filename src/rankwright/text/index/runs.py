"""A run: some documents, analysed and inverted, as arrays in a folder. Runs are merged into segments."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray
from rankwright.kernels.records import Texts
from rankwright.text.analysis import Analyser, TermStreams, encoded_safely
from rankwright.text.collections.documents import DocumentBatch
from rankwright.text.index.array_files import ArrayFolder
from rankwright.text.index.layout import (
    CHARACTERS_IN_STORED_BLOCK,
    DOCUMENTS_IN_STORED_BLOCK,
    IndexLayout,
    field_files,
)

COMPRESSION = 1  # of stored texts: more takes several times as long and saves a tenth


@dataclass(slots=True)
class RunDocuments:
    """Documents that are to become a run, and where their stored texts are cut into blocks."""

    layout: IndexLayout
    ids: list[str] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list)
    numbers: list[list[Float64Array]] = field(default_factory=list)
    links: list[list[str]] = field(default_factory=list)
    cuts: list[int] = field(default_factory=lambda: [0])
    n_characters: int = 0
    _in_block: int = 0

    def __post_init__(self) -> None:
        self.texts = [[] for _ in self.layout.texts]
        self.numbers = [[] for _ in self.layout.numbers]

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, batch: DocumentBatch, start: int, most_characters: int) -> int:
        """Take documents from `start` on until there are enough; returns the first that was not taken.

        A run ends where a block of stored texts does, so that these do not depend on how long runs are.
        """
        columns = [batch.texts.get(name, []) for name in self.layout.texts]
        stop = start
        while stop < len(batch.ids):
            size = sum(len(column[stop]) for column in columns if column)
            self.n_characters += size
            self._in_block += size
            stop += 1
            n_documents = len(self.ids) + stop - start
            is_full = n_documents - self.cuts[-1] >= DOCUMENTS_IN_STORED_BLOCK
            if is_full or self._in_block >= CHARACTERS_IN_STORED_BLOCK:
                self.cuts.append(n_documents)
                self._in_block = 0
                if self.n_characters >= most_characters:
                    break
        self._take(batch, columns, slice(start, stop))
        return stop

    @property
    def is_at_cut(self) -> bool:
        """Whether the last document ends a block of stored texts."""
        return self.cuts[-1] == len(self.ids)

    def _take(self, batch: DocumentBatch, columns: Sequence[list[str]], own: slice) -> None:
        n_documents = own.stop - own.start
        self.ids += batch.ids[own]
        for taken, column in zip(self.texts, columns, strict=True):
            taken += column[own] if column else [""] * n_documents
        for values, name in zip(self.numbers, self.layout.numbers, strict=True):
            found = batch.numbers.get(name)
            values.append(np.full(n_documents, np.nan) if found is None else found[own])
        self.links += batch.links[own] if batch.links is not None else [[]] * n_documents


def runs_of(batches: Iterable[DocumentBatch], layout: IndexLayout, most_characters: int) -> Iterator[RunDocuments]:
    """The documents, cut into runs of about so many characters."""
    run = RunDocuments(layout)
    for batch in batches:
        start = 0
        while start < len(batch.ids):
            start = run.add(batch, start, most_characters)
            if run.n_characters >= most_characters and run.is_at_cut:
                yield run
                run = RunDocuments(layout)
    if len(run):
        yield run


def write_run(run: RunDocuments, analyser: Analyser, folder: ArrayFolder) -> ArrayFolder:
    """Analyse and invert the documents, and write the arrays of their run to the folder."""
    starts, tokens, terms = _streams(run, analyser)
    _write_texts(folder, "term", terms)
    _write_postings(folder, starts, tokens, len(terms.starts) - 1)
    n_fields = len(run.texts)
    for name, tokens_name, own in zip(
        field_files("stream_starts", n_fields), field_files("stream_tokens", n_fields), starts, strict=True
    ):
        folder.write(name, own - own[0])
        folder.write(tokens_name, tokens[own[0] : own[-1]])
    _write_texts(folder, "id", encoded_safely(run.ids))
    for name, values in zip(field_files("numbers", len(run.numbers)), run.numbers, strict=True):
        folder.write(name, np.concatenate(values))
    folder.write("link_starts", _ends([len(own) for own in run.links]))
    _write_texts(folder, "target", encoded_safely([target for own in run.links for target in own]))
    _write_stored(folder, run)
    return folder


def _streams(run: RunDocuments, analyser: Analyser) -> tuple[NDArray[np.int64], NDArray[np.uint32], Texts]:
    """Where each document's terms begin, a row a field; the terms of all fields; and the terms in order."""
    fields: list[TermStreams] = [analyser.streams(texts) for texts in run.texts]
    number_of: dict[str, int] = {}
    for streams in fields:
        for term in streams.vocabulary:
            number_of.setdefault(term, len(number_of))
    terms, rank = sorted_texts(encoded_safely(list(number_of)))
    parts, starts, n_tokens = [], np.empty((len(fields), len(run) + 1), np.int64), 0
    for row, streams in zip(starts, fields, strict=True):
        own = rank[np.array([number_of[term] for term in streams.vocabulary], np.int64)]
        parts.append(own[streams.tokens])
        row[:] = streams.offsets + n_tokens
        n_tokens += len(streams.tokens)
    return starts, np.concatenate(parts), terms


def sorted_texts(texts: Texts) -> tuple[Texts, NDArray[np.uint32]]:
    """Distinct texts in the order of their bytes, and the place of each in it."""
    n = len(texts.starts) - 1
    order, repeated = np.empty(n, np.int64), np.empty(1, np.int64)
    kernels.sort_texts(texts, order, repeated)
    rank = np.empty(n, np.uint32)
    rank[order] = np.arange(n, dtype=np.uint32)
    return texts_in_order(texts, order), rank


def texts_in_order(texts: Texts, order: IntArray) -> Texts:
    """The texts of these numbers, one after another."""
    lengths = np.diff(texts.starts)
    starts = _ends(lengths[order])
    joined = np.empty(int(starts[-1]), np.uint8)
    places = np.empty(len(lengths), np.int64)
    places[order] = starts[:-1]
    kernels.place_rows(texts.starts, texts.bytes, places, 0, joined, 1)
    return Texts(joined, starts)


def narrowest(most: int) -> type[np.unsignedinteger[Any]]:
    """The type with the fewest bytes that holds counts up to that one."""
    return next(kind for kind in (np.uint8, np.uint16, np.uint32) if most <= np.iinfo(kind).max)


def _write_postings(folder: ArrayFolder, starts: NDArray[np.int64], tokens: NDArray[np.uint32], n_terms: int) -> None:
    posting_starts, documents = np.empty(n_terms + 1, np.int64), np.empty(len(tokens), np.uint32)
    counts = np.empty((len(starts), len(tokens)), np.uint32)
    kernels.invert_streams(starts, tokens, posting_starts, documents, counts)
    n_postings = int(posting_starts[-1])
    folder.write("posting_starts", posting_starts)
    folder.write("posting_documents", documents[:n_postings])
    for name, own in zip(field_files("counts", len(starts)), counts, strict=True):
        folder.write(name, own[:n_postings].astype(narrowest(int(own[:n_postings].max(initial=0)))))


def _write_texts(folder: ArrayFolder, name: str, texts: Texts) -> None:
    folder.write(f"{name}_bytes", texts.bytes)
    folder.write(f"{name}_starts", texts.starts)


def _write_stored(folder: ArrayFolder, run: RunDocuments) -> None:
    cuts = run.cuts if run.is_at_cut else [*run.cuts, len(run)]
    blocks = [compressed([texts[start:stop] for texts in run.texts]) for start, stop in itertools.pairwise(cuts)]
    folder.write("stored_bytes", np.frombuffer(b"".join(blocks), np.uint8))
    folder.write("stored_starts", _ends([len(block) for block in blocks]))
    folder.write("stored_first", np.array(cuts, np.int64))


def compressed(columns: Sequence[Sequence[str]]) -> bytes:
    """The texts of some documents in few bytes: the lengths of all, field by field, then the texts in that order."""
    parts = [text.encode("utf-8", "replace") for column in columns for text in column]
    lengths = np.array([len(part) for part in parts], "<u4")
    return zlib.compress(lengths.tobytes() + b"".join(parts), COMPRESSION)


def _ends(lengths: Sequence[int] | IntArray) -> IntArray:
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    return starts
