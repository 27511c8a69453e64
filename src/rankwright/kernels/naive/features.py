"""Twins of the kernels on matrices of features: keys of rows and their order, scaling, and standardising."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray, Uint64Array
from rankwright.kernels.naive.common import mix, slices
from rankwright.kernels.records import StandardisedRows


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
    for query, rows in enumerate(slices(offsets)):
        own = words[:, rows].reshape(-1)
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


def scale_by_mean(features: Float32Array, offsets: IntArray, out: Float32Array, threads: int) -> None:
    """Fill `out` with (x - mean) / max|x| over each query's documents; 0 where the maximum is 0."""
    for own in slices(offsets):
        values = features[own].astype(np.float64)
        known = ~np.isnan(values)
        total = np.zeros(features.shape[1])
        for row in np.where(known, values, 0.0):
            total += row
        mean = total / np.maximum(known.sum(axis=0), 1)
        largest = np.where(known, np.abs(values), 0.0).max(axis=0, initial=0.0)
        out[own] = (values - mean) / np.where(largest == 0, 1.0, largest)


def scale_by_range(features: Float32Array, offsets: IntArray, out: Float32Array, threads: int) -> None:
    """Fill `out` with (x - min) / (max - min) over each query's documents; 0 where all of them are equal."""
    for own in slices(offsets):
        values = features[own].astype(np.float64)
        known = ~np.isnan(values)
        least = values.min(axis=0, initial=np.inf, where=known)
        span = values.max(axis=0, initial=-np.inf, where=known) - least
        least, span = np.where(known.any(axis=0), least, 0.0), np.where(known.any(axis=0), span, 0.0)
        out[own] = (values - least) / np.where(span == 0, 1.0, span)


def scale_by_rank(features: Float32Array, offsets: IntArray, out: Float32Array, threads: int) -> None:
    """Fill `out` with the place of x among the query's values of its feature, from -1 for the smallest to 1.

    Equal values share the mean of their places; 0 where all of them are equal.
    """
    for own in slices(offsets):
        for feature in range(features.shape[1]):
            values = features[own, feature].astype(np.float64)
            known = values[~np.isnan(values)]
            places = [np.sum(known < one) + np.sum(known <= one) - 1 for one in values]  # twice the mean place
            scaled = [place / (len(known) - 1) - 1 if len(known) > 1 else 0.0 for place in places]
            out[own, feature] = np.where(np.isnan(values), np.nan, scaled)


ROWS_AT_A_TIME = 4096  # rows are summed in pieces of this many, and the pieces one after another


def standardise_rows(inputs: StandardisedRows, rows: IntArray, out: Float32Array, threads: int) -> None:
    """Fill row k of `out` with (x - shift) · factor of row `rows[k]`; 0 where x is missing."""
    values = inputs.features[rows]
    with np.errstate(over="ignore"):
        out[: len(rows)] = np.where(np.isnan(values), np.float32(0), (values - inputs.shift) * inputs.factor)


def sum_moments(
    features: Float32Array,
    centre: Float64Array,
    count: Float64Array,
    total: Float64Array,
    squares: Float64Array,
    threads: int,
) -> None:
    """Fill how many values of each feature are known, and the sums of (x - centre) and of its square over them."""
    sums = np.zeros((3, features.shape[1]))
    for start in range(0, len(features), ROWS_AT_A_TIME):
        parts = np.zeros((3, features.shape[1]))
        for row in features[start : start + ROWS_AT_A_TIME].astype(np.float64):
            known = ~np.isnan(row)
            difference = np.where(known, row - centre, 0.0)
            parts += known, difference, difference * difference
        sums += parts
    count[:], total[:], squares[:] = sums
