"""A segment of an index: documents that were indexed together, in files that are mapped into memory.

Whatever the files hold, nothing reads beyond them: starts are checked when they are first used, and kernels check the
numbers of documents.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Float64Array, Int32Array, IntArray, Uint32Array
from rankwright.container.checks import file_faults
from rankwright.errors import InputError, require_input
from rankwright.kernels.records import SegmentPostings, Texts
from rankwright.text.analysis import decoded_texts, encoded_safely
from rankwright.text.index.array_files import ArrayFiles
from rankwright.text.index.layout import IndexLayout, field_files
from rankwright.text.index.manifest import SegmentRecord

NO_TERM = np.uint32(2**32 - 1)  # the number of a term that no document has
MOST_STORED = 1 << 31  # bytes of a block of stored texts
NO_ORDER = np.empty(0, np.int64)


class FieldStream(NamedTuple):
    """A field's terms: those of document d are `tokens[offsets[d] : offsets[d + 1]]`."""

    offsets: IntArray
    tokens: Uint32Array


class Segment:
    """Documents that were indexed together.

    Attributes
    ----------
    first : int
        The ordinal of its first document in the index.
    n_documents : int
        How many documents it has.
    """

    def __init__(self, folder: Path, record: SegmentRecord, layout: IndexLayout, first: int) -> None:
        self.path = folder / record.name
        self.first, self.n_documents = first, record.n_documents
        self.files = ArrayFiles(self.path, record.arrays)
        self._layout = layout
        with file_faults(self.path, "index"):
            self._check_lengths(record)
        for name in record.arrays:
            self.files.mapped(name)

    def _check_lengths(self, record: SegmentRecord) -> None:
        """Raise unless every array is there, with the type and the length that it must have."""
        n_documents, n_terms = self.n_documents, self.files.length("term_starts") - 1
        n_postings = self.files.length("posting_documents")
        n_blocks = self.files.length("stored_starts")
        texts, numbers = len(self._layout.texts), len(self._layout.numbers)
        wanted: dict[str, tuple[str, int | None]] = {
            "term_starts": ("<i8", n_terms + 1),
            "posting_starts": ("<i8", n_terms + 1),
            "block_starts": ("<i8", n_terms + 1),
            "posting_documents": ("<u4", n_postings),
            "id_starts": ("<i8", n_documents + 1),
            "id_order": ("<i8", n_documents),
            "link_starts": ("<i8", n_documents + 1),
            "target_starts": ("<i8", None),
            "stored_starts": ("<i8", n_blocks),
            "stored_first": ("<i8", n_blocks),
        }
        wanted |= {f"{name}_bytes": ("|u1", None) for name in ("term", "id", "target", "stored")}
        for kind, form in {
            "stream_starts": ("<i8", n_documents + 1),
            "stream_tokens": ("<u4", None),
            "frequencies": ("<i8", n_terms),
            "occurrences": ("<i8", n_terms),
            "block_most": ("<u4", None),
            "block_least": ("<u4", None),
        }.items():
            wanted |= dict.fromkeys(field_files(kind, texts), form)
        wanted |= dict.fromkeys(field_files("numbers", numbers), ("<f8", n_documents))
        counts = field_files("counts", texts)
        require_input(wanted.keys() | set(counts) == record.arrays.keys(), "the files are not those of the fields")
        require_input(n_terms >= 0, "term_starts must not be empty")
        for name, (dtype, length) in wanted.items():
            found = record.arrays[name]
            fits = found.dtype == dtype and length in (None, found.length)
            told = f"{name} must be {dtype}" + ("" if length is None else f" of {length:,} entries")
            require_input(fits, f"{told}, got {found.dtype} of {found.length:,}")
        for name in counts:
            found = record.arrays[name]
            fits = found.dtype in ("|u1", "<u2", "<u4") and found.length == n_postings
            require_input(fits, f"{name} must be {n_postings:,} counts, got {found.dtype} of {found.length:,}")

    def stream(self, field: str) -> FieldStream:
        """The terms of a field of all documents, in the order of the text.

        Parameters
        ----------
        field : str
            The name of a text field.

        Returns
        -------
        FieldStream
            `offsets` and `tokens`, numbers of this segment's terms; both are mapped into memory.
        """
        number = self._number_of(field, self._layout.texts)
        tokens = self.files.mapped(f"stream_tokens.{number}")
        return FieldStream(self.starts(f"stream_starts.{number}", len(tokens)), tokens)

    def numbers_of(self, terms: Sequence[str]) -> Uint32Array:
        """The numbers of terms in this segment.

        Parameters
        ----------
        terms : sequence of str
            Terms as the analyser gives them.

        Returns
        -------
        array of uint32
            The number of each, `NO_TERM` where no document of the segment has it.
        """
        places = self._find(self.texts("term"), NO_ORDER, terms)
        return np.where(places < 0, NO_TERM, places).astype(np.uint32)

    def places_of(self, ids: Texts, threads: int = 1) -> IntArray:
        """The numbers within this segment of documents, -1 for those it does not have."""
        places = np.empty(len(ids.starts) - 1, np.int64)
        with self.faults():
            kernels.find_texts(self.texts("id"), self.files.mapped("id_order"), ids, places, threads)
        return places

    def ids(self, places: IntArray) -> list[str]:
        """The ids of documents, given by their numbers within this segment."""
        ids = self.texts("id")
        starts, stops = ids.starts[places].tolist(), ids.starts[places + 1].tolist()
        return [
            ids.bytes[start:stop].tobytes().decode("utf-8", "replace")
            for start, stop in zip(starts, stops, strict=True)
        ]

    def numbers(self, field: str) -> Float64Array:
        """A field's numbers, NaN where a document has none."""
        return self.files.mapped(f"numbers.{self._number_of(field, self._layout.numbers)}")

    def lengths(self, field: str) -> Int32Array:
        """How many terms a field of each document has."""
        return self.total_lengths((field,))

    def total_lengths(self, fields: tuple[str, ...]) -> Int32Array:
        """How many terms these fields of each document have together; kept, for every search asks for them."""
        if fields not in self._lengths:
            total = np.zeros(self.n_documents, np.int64)
            for field in fields:
                total += np.diff(self.stream(field).offsets)
            self._lengths[fields] = np.minimum(total, np.iinfo(np.int32).max).astype(np.int32)
        return self._lengths[fields]

    def postings(self, fields: Sequence[str], *, by_field: bool) -> SegmentPostings:
        """The postings in these fields, for a search; lengths are those of each field, or of all together."""
        numbers = [self._number_of(field, self._layout.texts) for field in fields]
        documents = self.files.mapped("posting_documents")
        n_blocks = int(self.files.mapped("block_starts")[-1])
        lengths = [self.lengths(field) for field in fields] if by_field else [self.total_lengths(tuple(fields))]
        return SegmentPostings(
            self.starts("posting_starts", len(documents)),
            documents,
            tuple(self.files.mapped(f"counts.{number}") for number in numbers),
            tuple(lengths),
            self.starts("block_starts", n_blocks),
            tuple(self.files.mapped(f"block_most.{number}") for number in numbers),
            tuple(self.files.mapped(f"block_least.{number}") for number in numbers),
        )

    def frequencies_in(self, terms: Sequence[str], fields: Sequence[str]) -> IntArray:
        """In how many documents one of these fields has each term, counted posting by posting."""
        found = np.zeros(len(terms), np.int64)
        postings = self.postings(fields, by_field=False)
        for place, number in enumerate(self.numbers_of(terms).tolist()):
            if number != NO_TERM:
                own = slice(postings.starts[number], postings.starts[number + 1])
                found[place] = np.count_nonzero(np.any([counts[own] for counts in postings.counts], axis=0))
        return found

    def links(self) -> tuple[IntArray, Texts]:
        """Where the links of each document begin, and the ids that they lead to."""
        targets = self.texts("target")
        return self.starts("link_starts", len(targets.starts) - 1), targets

    def stored(self, place: int) -> dict[str, str]:
        """The texts of a document, given by its number within this segment."""
        first = self.starts("stored_first", self.n_documents)
        block = int(np.searchsorted(first, place, side="right")) - 1
        own = place - int(first[block])
        with self.faults():
            columns = self._stored_block(block, int(first[block + 1] - first[block]))
        return {name: column[own] for name, column in zip(self._layout.texts, columns, strict=True)}

    def _stored_block(self, block: int, n_documents: int) -> list[list[str]]:
        cached = self._last_block
        if cached is None or cached[0] != block:
            content = self.files.mapped("stored_bytes")
            starts = self.starts("stored_starts", len(content))
            found = zlib.decompressobj().decompress(content[starts[block] : starts[block + 1]].tobytes(), MOST_STORED)
            self._last_block = cached = (block, _unpacked(found, n_documents, len(self._layout.texts)))
        return cached[1]

    _last_block: tuple[int, list[list[str]]] | None = None

    def texts(self, name: str) -> Texts:
        """The texts of that name: terms, ids, or targets of links."""
        content = self.files.mapped(f"{name}_bytes")
        return Texts(content, self.starts(f"{name}_starts", len(content)))

    def starts(self, name: str, total: int) -> IntArray:
        """That array of starts, after a check that it rises from 0 to `total`."""
        found = self.files.mapped(name)
        if name not in self._checked:
            with self.faults():
                rises = len(found) > 0 and found[0] == 0 and found[-1] == total and bool((np.diff(found) >= 0).all())
                require_input(rises, f"{name} must rise from 0 to {total:,}")
            self._checked.add(name)
        return found

    @cached_property
    def _checked(self) -> set[str]:
        return set()

    @cached_property
    def _lengths(self) -> dict[tuple[str, ...], Int32Array]:
        return {}

    def faults(self) -> Any:
        """What turns a fault of the files into one line about this segment."""
        return file_faults(self.path, "index")

    def _find(self, known: Texts, order: IntArray, wanted: Sequence[str]) -> IntArray:
        places = np.empty(len(wanted), np.int64)
        with self.faults():
            kernels.find_texts(known, order, encoded_safely(wanted), places, 1)
        return places

    @staticmethod
    def _number_of(field: str, fields: Sequence[str]) -> int:
        if field not in fields:
            raise InputError(f"the index has no such field {field!r}; it has {', '.join(fields) or 'none'}")
        return fields.index(field)


def _unpacked(content: bytes, n_documents: int, n_fields: int) -> list[list[str]]:
    n_texts = n_documents * n_fields
    require_input(len(content) >= 4 * n_texts, "a block of stored texts is too short")
    starts = np.zeros(n_texts + 1, np.int64)
    np.cumsum(np.frombuffer(content, "<u4", n_texts), out=starts[1:])
    rest: NDArray[np.uint8] = np.frombuffer(content, np.uint8, offset=4 * n_texts)
    require_input(int(starts[-1]) == len(rest), "a block of stored texts has another length than its texts")
    texts = decoded_texts(Texts(rest, starts))
    return [texts[start : start + n_documents] for start in range(0, n_texts, n_documents)]
