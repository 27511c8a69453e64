"""Fingerprints of what trees learn from, made from a hash of each query: whoever has some of the queries can hash them.

Workers that have a part of the data each send a few bytes for each query, and the whole has the fingerprint that it
would have in memory. Validation data counts in its own order, training data in that of its keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Float32Array, IntArray, Uint64Array, thread_count
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.kernels.records import SparseCodes
from rankwright.training.digest import digest_of
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.binning import BinMapper

BY_QUERY = "by-query-"  # how these fingerprints begin


class QueryHashes(NamedTuple):
    """A hash for each query, of what its documents have of each kind; None where they have none."""

    codes: Uint64Array
    labels: Uint64Array | None
    document_weights: Uint64Array | None
    initial_scores: Uint64Array | None
    side: Uint64Array | None = None


def query_hashes(data: BinnedDataset, threads: int | None = None) -> QueryHashes:
    """The hashes of the data's queries."""
    columns = (data.labels, data.document_weights, data.initial_scores)
    # Of sparse features, the values themselves count: a hash of all codes would have to visit the usual ones.
    sparse = isinstance(data.codes, SparseCodes)
    words = data.codes.row_hashes.reshape(1, -1, 1) if sparse else data.codes.view(np.uint64)
    codes = _hashed(words, data.groups, threads)
    labels, weights, starts = (None if own is None else _hashed(_words(own), data.groups, threads) for own in columns)
    side = [_words(column) for _, column in sorted((data.side or {}).items())]
    of_side = _hashed(np.concatenate(side), data.groups, threads) if side else None
    return QueryHashes(codes, labels, weights, starts, of_side)


def _words(values: NDArray[Any]) -> Uint64Array:
    """A word for each number: its bits."""
    bits = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}")
    return bits.astype(np.uint64).reshape(1, -1, 1)


def _hashed(words: Uint64Array, groups: Groups, threads: int | None) -> Uint64Array:
    hashes = np.empty(groups.n_queries, np.uint64)
    kernels.hash_queries(words, groups.offsets, hashes, thread_count(threads))
    return hashes


def joined_hashes(parts: Sequence[QueryHashes], numbers: Sequence[IntArray]) -> QueryHashes:
    """The hashes of all queries, of which each part has some; `numbers` are those of its queries among all."""
    codes, *rest = (_joined(kind, numbers) for kind in zip(*parts, strict=True))
    assert codes is not None
    return QueryHashes(codes, *rest)


def _joined(parts: Sequence[Uint64Array | None], numbers: Sequence[IntArray]) -> Uint64Array | None:
    """The hashes of one kind; None where no query has it."""
    given = [(own, places) for own, places in zip(parts, numbers, strict=True) if len(places)]
    if given and all(own is None for own, _ in given):
        return None
    joined = np.zeros(sum(len(places) for places in numbers), np.uint64)
    for own, places in given:
        if own is not None:
            joined[places] = own
    return joined


def fingerprint(
    hashes: QueryHashes,
    mapper: BinMapper,
    sizes: IntArray,
    query_weights: Float32Array | None,
    preferences: Preferences | None = None,
) -> str:
    """The fingerprint of data whose queries, in their order, have these hashes, sizes and weights."""
    parts: list[NDArray[Any] | None] = [mapper.edges, mapper.offsets, sizes, *hashes[:-1], query_weights]
    parts += [] if hashes.side is None else [hashes.side]
    if preferences is not None:
        parts += [preferences.better, preferences.worse, preferences.probability, preferences.weight]
    return BY_QUERY + digest_of(parts)


def binned_digest(data: BinnedDataset, threads: int | None = None) -> str:
    """The fingerprint of data in memory."""
    hashes = query_hashes(data, threads)
    return fingerprint(hashes, data.mapper, data.groups.sizes, data.query_weights, data.preferences)
