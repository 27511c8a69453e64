"""Lists of a log laid out as matrices of the pairs that a click model knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from rankwright.arrays import BoolArray, IdArray, Int32Array, IntArray, text_ids
from rankwright.clicks.logs.click_log import ClickLog

LISTS_AT_A_TIME = 1 << 16  # that are laid out as matrices
NOWHERE = 2**31 - 1  # the place of an id that is not known

Lookup: TypeAlias = Callable[[Int32Array, Int32Array], IntArray]  # from queries and documents of a log to pairs


class KnownPairs(NamedTuple):
    """Pairs of a query and a document in ascending order, as places among the ids."""

    queries: Int32Array
    documents: Int32Array
    query_ids: IdArray
    document_ids: IdArray

    def lookup(self, log: ClickLog) -> Lookup:
        """A function from queries and documents of a log to pairs, -1 for what is not known."""
        keys = self.queries.astype(np.int64) << 32 | self.documents
        query_of, document_of = _matched(log.query_ids, self.query_ids), _matched(log.document_ids, self.document_ids)

        def number_of(queries: Int32Array, documents: Int32Array) -> IntArray:
            wanted = query_of[queries] << 32 | document_of[documents]
            place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            return np.where(keys[place] == wanted, place, -1)

        return number_of


class Laid(NamedTuple):
    """Some lists as matrices: (lists, ranks); what is beyond the end of a list is not `there`."""

    pairs: IntArray
    clicked: BoolArray
    there: BoolArray
    lists: slice


def laid_out(log: ClickLog, known: KnownPairs) -> Iterator[Laid]:
    """The lists of a log as matrices, some at a time; pairs that are not known are -1."""
    number_of = known.lookup(log)
    for start in range(0, len(log.queries), LISTS_AT_A_TIME):
        lists = slice(start, min(start + LISTS_AT_A_TIME, len(log.queries)))
        offsets = log.offsets[start : lists.stop + 1]
        sizes = np.diff(offsets)
        there = np.arange(int(sizes.max(initial=1))) < sizes[:, None]
        rows = slice(offsets[0], offsets[-1])
        pairs, clicked = np.full(there.shape, -1, np.int64), np.zeros(there.shape, np.bool_)
        pairs[there] = number_of(np.repeat(log.queries[lists], sizes), log.documents[rows])
        clicked[there] = log.clicked[rows]
        yield Laid(pairs, clicked, there, lists)


def _matched(ids: IdArray, known: IdArray) -> IntArray:
    """The place of each id among known ones, which are sorted; `NOWHERE` where it is new."""
    if ids.dtype == known.dtype == np.int64:
        place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        return np.where(known[place] == ids, place, NOWHERE).astype(np.int64)
    # NumPy's search among texts goes wrong where two arrays hold texts of more than 15 bytes.
    place_of = {text: place for place, text in enumerate(text_ids(known).tolist())}
    return np.array([place_of.get(text, NOWHERE) for text in text_ids(ids).tolist()], np.int64)
