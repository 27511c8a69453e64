"""Twins of the kernels on postings: streams of terms inverted, rows put together, bounds of blocks of postings."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Int32Array, IntArray, Uint32Array
from rankwright.kernels.naive.common import slices

CountArray = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.uint32]  # as narrow as the largest entry allows


def invert_streams(
    starts: NDArray[np.int64],
    tokens: Uint32Array,
    posting_starts: IntArray,
    documents: Uint32Array,
    counts: NDArray[np.uint32],
) -> None:
    """The documents of each term, in order, and how often each field of them has it.

    `starts` has a row for each field: where the terms of each document begin in `tokens`, and where the last one's end.
    `counts` has a row for each field, with room for as many postings as there are tokens.
    """
    n_terms = len(posting_starts) - 1
    if len(tokens) and tokens.max() >= n_terms:
        raise ValueError("a stream has a term that is not there")
    found: list[dict[int, Counter[int]]] = [{} for _ in range(n_terms)]
    for document in range(starts.shape[1] - 1):
        for field, own in enumerate(starts):
            for term in tokens[own[document] : own[document + 1]].tolist():
                found[term].setdefault(document, Counter())[field] += 1
    posting_starts[:] = np.cumsum([0, *map(len, found)])
    postings = [posting for term in found for posting in term.items()]
    for place, (document, times) in enumerate(postings):
        documents[place] = document
        counts[:, place] = [times[field] for field in range(len(starts))]


def place_rows(
    starts: IntArray, rows: CountArray, places: IntArray, added: int, placed: CountArray, threads: int
) -> None:
    """Copy each row to its place, with a number added to each of its entries."""
    for own, place in zip(slices(starts), places.tolist(), strict=True):
        placed[place : place + own.stop - own.start] = rows[own] + rows.dtype.type(added)


def summarise_postings(
    posting_starts: IntArray,
    documents: Uint32Array,
    counts: CountArray,
    lengths: Int32Array,
    block: int,
    block_starts: IntArray,
    frequencies: IntArray,
    occurrences: IntArray,
    most: Uint32Array,
    least: Uint32Array,
    threads: int,
) -> None:
    """Of each term, how many documents have it in a field, and how often it occurs there.

    Of each block of so many postings of a term, the largest count, and the least length of the documents that have the
    term in the field; where none has, the largest length there is.
    """
    for term, own in enumerate(slices(posting_starts)):
        frequencies[term] = np.count_nonzero(counts[own])
        occurrences[term] = counts[own].sum(dtype=np.int64)
        for number, start in enumerate(range(own.start, own.stop, block), int(block_starts[term])):
            part = slice(start, min(start + block, own.stop))
            most[number] = counts[part].max()
            having = lengths[documents[part][counts[part] > 0]]
            least[number] = having.min(initial=np.iinfo(np.int32).max)
