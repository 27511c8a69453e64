"""What a model file keeps of an index, so that a text that is in no index can be scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, IntArray
from rankwright.container.checks import MOST, check_between, read_array, read_field, read_integer, read_list
from rankwright.errors import InputError, require, require_input
from rankwright.text.index.reading import Index

COMMONEST_TERMS = 100_000  # that a model keeps unless another number is asked for
ARRAYS = ("terms", "term_starts", "document_frequency", "collection_count", "any_frequency", "tokens", "documents")


class StoredCounts(NamedTuple):
    """How common terms are, by field and in any field."""

    document_frequency: IntArray  # (terms, fields)
    collection_count: IntArray  # (terms, fields)
    any_frequency: IntArray  # (terms,)


class StoredTotals(NamedTuple):
    """How much text there is, by field."""

    n_documents: int
    tokens: IntArray
    documents_with_field: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class TextStatistics:
    """The commonest terms of an index with their counts, and how much text it has.

    Where `is_complete`, other terms are in no document; otherwise they count as if they were in one document, once.
    """

    text_fields: tuple[str, ...]
    field_totals: StoredTotals
    number_of: Mapping[str, int]  # of each term, its row in the counts
    counts: StoredCounts
    is_complete: bool

    @classmethod
    def of_index(cls, index: Index, n_terms: int = COMMONEST_TERMS) -> TextStatistics:
        """What to keep of an index.

        Parameters
        ----------
        index : Index
            The index that features were computed with.
        n_terms : int, default 100,000
            How many terms to keep, the commonest first.

        Returns
        -------
        TextStatistics
            The counts of those terms.
        """
        require(n_terms >= 1, f"at least 1 term must be kept, got {n_terms}")
        terms = _commonest_terms(index, n_terms + 1)
        kept = sorted(terms[:n_terms])
        totals, counts = index.totals(), index.statistics(kept)
        return cls(
            tuple(index.text_fields),
            StoredTotals(int(totals.n_documents), totals.tokens, totals.documents_with_field),
            {term: number for number, term in enumerate(kept)},
            StoredCounts(counts.document_frequency, counts.collection_count, counts.any_frequency),
            len(terms) <= n_terms,
        )

    def totals(self) -> StoredTotals:
        """How much text the index has.

        Returns
        -------
        StoredTotals
            The number of documents, and by field its tokens and the documents that have it.
        """
        return self.field_totals

    def statistics(self, terms: Sequence[str]) -> StoredCounts:
        """How common the terms are.

        Parameters
        ----------
        terms : sequence of str
            Terms, as the analyser gives them.

        Returns
        -------
        StoredCounts
            Their counts.
        """
        numbers = np.array([self.number_of.get(term, -1) for term in terms], np.int64)
        other = 0 if self.is_complete else 1
        return StoredCounts(*(_taken(values, numbers, other) for values in self.counts))

    def to_parts(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays that a file holds.

        Returns
        -------
        tuple of dict and dict
            What `of_parts` takes.
        """
        encoded = [term.encode() for term in self.number_of]
        totals = self.field_totals
        header = {"fields": list(self.text_fields), "n_documents": totals.n_documents, "complete": self.is_complete}
        values: tuple[NDArray[Any], ...] = (
            np.frombuffer(b"".join(encoded), np.uint8),
            np.cumsum([0, *map(len, encoded)], dtype=np.int64),
            *(part.astype(np.int64) for part in (*self.counts, totals.tokens, totals.documents_with_field)),
        )
        return header, dict(zip(ARRAYS, values, strict=True))

    @classmethod
    def of_parts(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TextStatistics:
        """The statistics that a file's header and arrays hold, which are checked.

        Parameters
        ----------
        header : mapping
            What `to_parts` gave first.
        arrays : mapping
            What it gave second.

        Returns
        -------
        TextStatistics
            The same statistics.
        """
        fields, n_documents = read_list(header, "fields", str), read_integer(header, "n_documents")
        starts = read_array(arrays, "term_starts", np.int64, (None,))
        require_input(len(fields) > 0 and len(starts) > 0, "statistics must be of a field at least")
        n, width = len(starts) - 1, len(fields)
        shapes = {"document_frequency": (n, width), "collection_count": (n, width), "any_frequency": (n,),
                  "tokens": (width,), "documents": (width,)}  # fmt: skip
        found = {name: read_array(arrays, name, np.int64, shape) for name, shape in shapes.items()}
        for name, values in found.items():
            is_frequency = name in ("document_frequency", "any_frequency", "documents")
            check_between(name, values, 0, n_documents if is_frequency else MOST)
        terms = _decoded_terms(read_array(arrays, "terms", np.uint8, (None,)), starts)
        return cls(
            tuple(fields),
            StoredTotals(n_documents, found["tokens"], found["documents"]),
            {term: number for number, term in enumerate(terms)},
            StoredCounts(found["document_frequency"], found["collection_count"], found["any_frequency"]),
            read_field(header, "complete", bool),
        )


def _commonest_terms(index: Index, n: int) -> list[str]:
    """The terms that most documents have; of those that are in as many, the first in the order of their bytes."""
    frequencies: dict[bytes, int] = {}
    for segment in index.segments:
        texts, postings = (
            segment.texts("term"),
            segment.starts("posting_starts", segment.files.length("posting_documents")),
        )
        content, starts = texts.bytes.tobytes(), texts.starts.tolist()
        for (begin, end), n_documents in zip(pairwise(starts), np.diff(postings).tolist(), strict=True):
            term = content[begin:end]
            frequencies[term] = frequencies.get(term, 0) + n_documents
    commonest = nsmallest(n, frequencies, key=lambda term: (-frequencies[term], term))
    return [term.decode("utf-8", "replace") for term in commonest]


def _taken(values: IntArray, numbers: IntArray, other: int) -> IntArray:
    """The rows of these numbers; `other` where the number is -1."""
    if not len(values):
        return np.full((len(numbers), *values.shape[1:]), other, np.int64)
    taken = values[np.maximum(numbers, 0)]
    taken[numbers < 0] = other
    return taken


def _decoded_terms(joined: NDArray[np.uint8], starts: IntArray) -> list[str]:
    if starts[0] != 0 or starts[-1] != len(joined) or (np.diff(starts) < 0).any():
        raise InputError(f"term_starts must rise from 0 to {len(joined)}")
    content, places = joined.tobytes(), starts.tolist()
    terms = [content[begin:end].decode() for begin, end in pairwise(places)]
    require_input(len(set(terms)) == len(terms), "a term is there twice")
    return terms
