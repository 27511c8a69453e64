"""An order of documents and queries that follows from what they hold, not from where they stand.

A document's key is a hash of its features; documents with the same features are told apart by their labels, weights,
initial scores, positions and preferences. A query's key is made from those of its documents. Training puts queries, and
the documents of each, in the order of their keys before it draws, sums or breaks ties, so that the same data in another
order gives the same model. Documents that no key tells apart are alike in all of this: which comes first makes no
difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, IntArray, Uint64Array, thread_count
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.data.sparse_rows import SparseRows
from rankwright.kernels.naive.common import mix, stream_of

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset

PREFERENCE_ROUNDS = 2  # documents alike in themselves are told apart by their partners, and by the partners of these


@dataclass(frozen=True, slots=True, eq=False)
class KeyOrder:
    """The queries, and the rows of all of them, in the order of their keys."""

    queries: IntArray
    rows: IntArray
    keys: Uint64Array  # the first key of each query, in the order that the data has

    @property
    def changes_nothing(self) -> bool:
        """Whether queries and rows are in this order already."""
        return bool((self.rows == np.arange(len(self.rows))).all())


def row_hashes(features: Float32Array | SparseRows, threads: int | None = None) -> Uint64Array:
    """A hash of the features of each row."""
    hashes = np.empty(len(features), np.uint64)
    if isinstance(features, SparseRows):
        kernels.hash_sparse_rows(features, hashes, thread_count(threads))
        return hashes
    kernels.hash_rows(np.ascontiguousarray(features), hashes, thread_count(threads))
    return hashes


def widened(hashes: Uint64Array, width: int, new_width: int, value: float) -> Uint64Array:
    """The hashes of the same rows with more features, all of that value."""
    more = np.full((1, new_width), value, np.float32)
    return hashes + row_hashes(more, 1) - row_hashes(more[:, :width].copy(), 1)


def query_sums(values: Uint64Array, groups: Groups) -> Uint64Array:
    """The sum of the values of each query's rows, modulo 2⁶⁴."""
    sums = np.zeros(groups.n_docs + 1, np.uint64)
    np.cumsum(values, out=sums[1:])
    return np.diff(sums[groups.offsets])


def key_order(data: RankingDataset, hashes: Uint64Array | None = None, threads: int | None = None) -> KeyOrder:
    """The order of the data's keys; `hashes` are those of the features where the data does not hold them."""
    hashes = row_hashes(data.features, threads) if hashes is None else hashes
    ties = _judgment_keys(data, hashes)
    first, second = query_keys(data, hashes, ties)
    queries = np.lexsort((second, first))
    rows = np.empty(data.n_docs, np.int64)
    kernels.order_by_key(hashes, ties, data.groups.offsets, queries, rows, thread_count(threads))
    return KeyOrder(queries, rows, first)


def feature_keys(hashes: Uint64Array, groups: Groups) -> Uint64Array:
    """A key of each query, made from the hashes of its rows in any order."""
    return stream_of(query_sums(mix(hashes), groups), groups.sizes)


def query_keys(
    data: RankingDataset, hashes: Uint64Array, ties: Uint64Array | None = None
) -> tuple[Uint64Array, Uint64Array]:
    """Two keys of each query: of its documents' features, and of all else, which tells alike ones apart."""
    ties = _judgment_keys(data, hashes) if ties is None else ties
    first, second = (feature_keys(keys, data.groups) for keys in (hashes, ties))
    return first, second if data.query_weights is None else stream_of(second, _bits(data.query_weights))


def _judgment_keys(data: RankingDataset, hashes: Uint64Array) -> Uint64Array:
    """Keys of documents that depend on everything known of them."""
    keys = hashes
    for values in (data.labels, data.document_weights, data.initial_scores, data.positions, data.propensities):
        if values is not None:
            keys = stream_of(keys, _bits(values))
    for name in sorted(data.side or {}):
        keys = stream_of(keys, _bits((data.side or {})[name]))
    if data.preferences is not None:
        for _ in range(PREFERENCE_ROUNDS):
            keys = _with_partners(keys, data.preferences)
    return keys


def _with_partners(keys: Uint64Array, pairs: Preferences) -> Uint64Array:
    """Keys that also depend on those of a document's partners, and on which of them is the better one."""
    sums = np.zeros(len(keys), np.uint64)
    content = stream_of(_bits(pairs.probability), _bits(pairs.weight))
    for side, (own, other) in enumerate([(pairs.better, pairs.worse), (pairs.worse, pairs.better)]):
        np.add.at(sums, own, stream_of(keys[other] + np.uint64(side), content))
    return stream_of(keys, sums)


def _bits(values: Any) -> Uint64Array:
    """The bits of the numbers as integers: equal where the numbers are, with -0 as 0 and every NaN the same."""
    as_double = np.asarray(values, np.float64) + 0.0
    return np.where(np.isnan(as_double), np.nan, as_double).view(np.uint64)
