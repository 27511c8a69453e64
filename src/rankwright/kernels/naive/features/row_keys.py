"""Twins of the kernels that find numbers for the content of rows, and put rows in the order of such numbers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankwright.arrays import Float32Array, IntArray, Uint64Array
from rankwright.kernels.naive.common.counter_random import mix


def hash_rows(features: Float32Array, out: Uint64Array, threads: int) -> None:
    """Fill `out` with a hash of each row: the sum, over its features, of a hash of number and value.

    0 adds nothing, so that rows may be cut where only zeros follow, and every NaN adds the same.
    """
    bits = np.where(np.isnan(features), np.float32(np.nan), features).view(np.uint32)
    of_features = mix(np.arange(features.shape[1], dtype=np.uint64))
    out[:] = np.where(features == 0, np.uint64(0), mix(of_features ^ bits)).sum(axis=1, dtype=np.uint64)


def hash_queries(words: Uint64Array, offsets: IntArray, out: Uint64Array, threads: int) -> None:
    """Fill `out` with a hash of the words of each query; `words` are of shape (layers, rows, words of a row).

    Each word has its place among those of the query alone: what other queries there are makes no difference.
    """
    for query, (begin, end) in enumerate(pairwise(offsets)):
        own = words[:, begin:end].reshape(-1)
        out[query] = mix(own ^ mix(np.arange(len(own), dtype=np.uint64))).sum(dtype=np.uint64)


def order_by_key(
    keys: Uint64Array, ties: Uint64Array, offsets: IntArray, queries: IntArray, rows: IntArray, threads: int
) -> None:
    """Fill `rows` with the rows of each of `queries`, in ascending order of `keys` and where these are equal of `ties`.

    Query q owns rows `offsets[q]` to `offsets[q + 1]`; rows that are equal in both stay in order.
    """
    owned = [slice(offsets[q], offsets[q + 1]) for q in queries]
    ordered = [own.start + np.lexsort((ties[own], keys[own])) for own in owned]
    rows[:] = np.concatenate([*ordered, np.empty(0, np.int64)])
