"""An index that is open: its documents, their fields, and the statistics of terms."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, Int32Array, IntArray, thread_count
from rankwright.errors import ContainerError, InputError
from rankwright.text.analysis import Analyser, Tokeniser, encoded_safely
from rankwright.text.collections.field_kinds import Field
from rankwright.text.index.manifest import Manifest, read_manifest
from rankwright.text.index.segments import NO_TERM, Segment

ALWAYS_CHECKED = 64 << 20  # bytes of an index that are all read and checked when it is opened: that takes 10 ms
ATTEMPTS = 3  # to open an index that another process replaces meanwhile

Part = TypeVar("Part")


@dataclass(frozen=True, slots=True, eq=False)
class TermStatistics:
    """How common terms are in an index.

    Attributes
    ----------
    document_frequency : array of int64, terms × text fields
        In how many documents the field has the term.
    collection_count : array of int64, terms × text fields
        How often it does in all.
    any_frequency : array of int64
        In how many documents any field has the term.
    """

    document_frequency: NDArray[np.int64]
    collection_count: NDArray[np.int64]
    any_frequency: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class FieldTotals:
    """How much text an index has.

    Attributes
    ----------
    n_documents : int
        The number of documents.
    tokens : array of int64
        The number of terms in each text field, of all documents together.
    documents_with_field : array of int64
        How many documents have a term in the field.
    """

    n_documents: int
    tokens: IntArray
    documents_with_field: IntArray


class Index:
    """Documents that can be searched: opened by `open_index`, and read only.

    Attributes
    ----------
    path : str
        Its folder.
    n_documents : int
        How many documents it has; each has an ordinal, from 0 on.
    fields : tuple of Field
        What documents have besides their ids.
    text_fields : tuple of str
        The fields whose words are indexed: texts and URLs.
    analyser : Analyser
        How texts become terms.
    fingerprint : str
        A text that changes with the documents, the fields and the analyser.
    segments : tuple of Segment
        The parts that the index consists of, each with neighbouring ordinals.
    """

    def __init__(self, path: str | os.PathLike[str], manifest: Manifest) -> None:
        self.path, self._manifest = os.fspath(path), manifest
        self.fields: tuple[Field, ...] = manifest.layout.fields
        self.text_fields = manifest.layout.texts
        self.number_fields = manifest.layout.numbers
        self.analyser: Analyser = manifest.analyser
        self.fingerprint = manifest.fingerprint
        segments, first = [], 0
        for record in manifest.segments:
            segments.append(Segment(Path(path), record, manifest.layout, first))
            first += record.n_documents
        self.segments, self.n_documents = tuple(segments), first
        self._of_all: dict[Hashable, Any] = {}

    def __repr__(self) -> str:
        return f"Index({self.path!r}: {self.n_documents:,} documents, fields {', '.join(self.text_fields)})"

    def n_bytes(self) -> int:
        """The size of the index on the disk.

        Returns
        -------
        int
            Bytes of all segments.
        """
        return sum(segment.files.n_bytes() for segment in self.segments)

    def check(self) -> None:
        """Read every byte of the index, and raise a `ContainerError` where it is not as it was written."""
        for segment in self.segments:
            segment.files.check()

    def require_analyser(self) -> None:
        """Raise unless texts can be analysed as those of the index were."""
        self.analyser.require_tokeniser(f" of {self.path}")

    def ordinals(self, ids: Sequence[str]) -> IntArray:
        """The ordinals of documents.

        Parameters
        ----------
        ids : sequence of str
            Their ids.

        Returns
        -------
        array of int64
            The ordinal of each, -1 where the index has no such document.
        """
        found = np.full(len(ids), -1, np.int64)
        wanted = encoded_safely(ids)
        for segment in self.segments:
            places = segment.places_of(wanted)
            found = np.where(places >= 0, places + segment.first, found)
        return found

    def ids(self, ordinals: IntArray) -> list[str]:
        """The ids of documents.

        Parameters
        ----------
        ordinals : array of int64
            Ordinals of documents.

        Returns
        -------
        list of str
            The id of each.
        """
        return self._gathered(ordinals, lambda segment, places: segment.ids(places))

    def stored(self, ordinals: IntArray) -> list[dict[str, str]]:
        """The texts of documents, as they were indexed.

        Parameters
        ----------
        ordinals : array of int64
            Ordinals of documents.

        Returns
        -------
        list of dict
            The text of each text field, for each document.
        """
        return self._gathered(ordinals, lambda segment, places: [segment.stored(place) for place in places.tolist()])

    def _gathered(self, ordinals: IntArray, of_segment: Callable[[Segment, IntArray], list[Part]]) -> list[Part]:
        """What segments tell of these documents, in the order asked for."""
        asked = np.asarray(ordinals, np.int64)
        if len(asked) and not 0 <= asked.min() <= asked.max() < self.n_documents:
            told = f"an ordinal must lie between 0 and {self.n_documents - 1:,}"
            raise InputError(f"{told}, got {int(asked.min())} to {int(asked.max())}")
        order = np.argsort(asked, kind="stable")
        found: list[Part] = []
        for segment in self.segments:
            low, high = np.searchsorted(asked[order], [segment.first, segment.first + segment.n_documents])
            found += of_segment(segment, asked[order[low:high]] - segment.first)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return [found[place] for place in places.tolist()]

    def kept(self, what: Hashable, compute: Callable[[], Part]) -> Part:
        """What depends on all documents and on nothing else: computed when it is first asked for, and then kept.

        Parameters
        ----------
        what : hashable
            A name for it.
        compute : function
            What computes it.

        Returns
        -------
        object
            What was computed.
        """
        if what not in self._of_all:
            self._of_all[what] = compute()
        found: Part = self._of_all[what]
        return found

    def numbers(self, field: str) -> Float64Array:
        """The numbers or dates of all documents.

        Parameters
        ----------
        field : str
            The name of a field of numbers or dates.

        Returns
        -------
        array of float64
            A number for each document, NaN where it has none; dates are seconds since 1970, in UTC.
        """
        self._require_field(field, self.number_fields, "numbers")
        return _joined([segment.numbers(field) for segment in self.segments], np.float64)

    def lengths(self, field: str) -> Int32Array:
        """The lengths of all documents.

        Parameters
        ----------
        field : str
            The name of a text field.

        Returns
        -------
        array of int32
            How many terms the field of each document has.
        """
        self._require_field(field, self.text_fields, "text")
        return _joined([segment.lengths(field) for segment in self.segments], np.int32)

    def links(self, *, threads: int | None = None) -> tuple[IntArray, IntArray]:
        """The links between documents.

        Parameters
        ----------
        threads : int, optional
            How many threads look up ids; every core by default.

        Returns
        -------
        tuple
            Where the links of each document begin (as many entries as documents and one more), and the ordinals that
            they lead to; links to documents that are not in the index are left out.
        """
        counts, targets = [], []
        for segment in self.segments:
            starts, texts = segment.links()
            found = np.full(len(texts.starts) - 1, -1, np.int64)
            for other in self.segments:
                places = other.places_of(texts, thread_count(threads))
                found = np.where(places >= 0, places + other.first, found)
            known = np.zeros(len(found) + 1, np.int64)
            np.cumsum(found >= 0, out=known[1:])
            counts.append(np.diff(known[starts]))
            targets.append(found[found >= 0])
        offsets = np.zeros(self.n_documents + 1, np.int64)
        np.cumsum(_joined(counts, np.int64), out=offsets[1:])
        return offsets, _joined(targets, np.int64)

    def statistics(self, terms: Sequence[str]) -> TermStatistics:
        """How common terms are.

        Parameters
        ----------
        terms : sequence of str
            Terms as the analyser gives them.

        Returns
        -------
        TermStatistics
            Counts of each term, 0 where no document has it.
        """
        shape = (len(terms), len(self.text_fields))
        frequency, count = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        anywhere = np.zeros(len(terms), np.int64)
        for segment in self.segments:
            numbers = segment.numbers_of(terms)
            known = np.flatnonzero(numbers != NO_TERM)
            own = numbers[known].astype(np.int64)
            for field in range(shape[1]):
                frequency[known, field] += segment.files.mapped(f"frequencies.{field}")[own]
                count[known, field] += segment.files.mapped(f"occurrences.{field}")[own]
            starts = segment.starts("posting_starts", segment.files.length("posting_documents"))
            anywhere[known] += starts[own + 1] - starts[own]
        return TermStatistics(frequency, count, anywhere)

    def totals(self) -> FieldTotals:
        """How much text there is.

        Returns
        -------
        FieldTotals
            Numbers of documents and terms, by text field.
        """
        streams = [[segment.stream(field).offsets for segment in self.segments] for field in self.text_fields]
        tokens = [sum(int(offsets[-1]) for offsets in own) for own in streams]
        having = [sum(int(np.count_nonzero(np.diff(offsets))) for offsets in own) for own in streams]
        return FieldTotals(self.n_documents, np.array(tokens, np.int64), np.array(having, np.int64))

    def _require_field(self, field: str, fields: Sequence[str], what: str) -> None:
        if field not in fields:
            raise InputError(f"{self.path} has no field {field!r} of {what}; it has {', '.join(fields) or 'none'}")


def _joined(parts: Sequence[NDArray[Any]], dtype: type[np.generic]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.empty(0, dtype)


def open_index(path: str | os.PathLike[str], *, tokeniser: Tokeniser | None = None, check: bool = False) -> Index:
    """Open an index; its files are mapped into memory, and only what is looked at is read.

    Parameters
    ----------
    path : path
        The folder of the index.
    tokeniser : function, optional
        The function that split the texts into words, where the index was built with one.
    check : bool, default False
        Whether every byte is read and compared with its checksum; small indexes are always checked.

    Returns
    -------
    Index
        The documents and their terms.
    """
    for attempt in range(ATTEMPTS):
        manifest = read_manifest(path, tokeniser)
        try:
            index = Index(path, manifest)
            break
        except ContainerError:  # another process may have replaced the index since
            if attempt == ATTEMPTS - 1 or read_manifest(path, tokeniser).fingerprint == manifest.fingerprint:
                raise
    if check or index.n_bytes() <= ALWAYS_CHECKED:
        index.check()
    return index
