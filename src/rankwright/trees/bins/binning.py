"""From feature values to bin codes, and back to thresholds.

A number's code is how many of its feature's edges are smaller than it, so `value <= edges[b]` and `code <= b` agree for
every float32: a tree grown on codes sends each document to the leaf that scoring its raw values does. NaN has a code of
its own after the last bin. A category's code is the place of its value among the feature's edges; a category without an
edge (rare, or not seen) shares the code of NaN.

Codes lie in memory as histograms want them: `codes[group, row, slot]` is the code of feature `group * slots + slot`,
16 bytes of a row together. `codes_by_row` gives the plain matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, CodeArray, Float32Array, IntArray, as_features, thread_count
from rankwright.errors import InputError, require
from rankwright.memory import require_memory

MAX_BINS = 255  # as many as a byte can tell apart besides missing values
MAX_WIDE_BINS = 32_767  # with two-byte codes
GROUP_BYTES = 16  # how many bytes of a row's codes lie together


@dataclass(frozen=True, slots=True, eq=False)
class BinMapper:
    """How each feature's values become codes: feature f owns `edges[offsets[f]:offsets[f + 1]]`, in ascending order."""

    edges: Float32Array
    offsets: IntArray
    categorical: BoolArray

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.categorical)

    @property
    def n_bins(self) -> IntArray:
        """How many bins each feature has, not counting missing values; also the code of missing values."""
        return np.diff(self.offsets) + ~self.categorical

    @property
    def code_dtype(self) -> type[np.uint8] | type[np.uint16]:
        """The smallest type that holds every code."""
        return np.uint8 if self.n_features == 0 or int(self.n_bins.max()) <= MAX_BINS else np.uint16

    @property
    def n_groups(self) -> int:
        """How many groups of features the codes of a row fill."""
        return -(-self.n_features // slots_of(self.code_dtype))

    def edges_of(self, feature: int) -> Float32Array:
        """The thresholds between a feature's bins, or its categories."""
        return self.edges[self.offsets[feature] : self.offsets[feature + 1]]

    @property
    def category_values(self) -> Float32Array:
        """The categories of all categorical features, one feature after another."""
        if not self.categorical.any():
            return self.edges[:0].copy()
        return self.edges[np.repeat(self.categorical, np.diff(self.offsets))]

    def thresholds(self, features: IntArray, bins: IntArray) -> Float32Array:
        """The raw thresholds that cut number features after the given bins; after the last bin, infinity."""
        places = self.offsets[features] + bins
        inside = places < self.offsets[features + 1]
        found = np.full(len(places), np.inf, np.float32)
        found[inside] = self.edges[places[inside]]
        return found


def slots_of(dtype: type[np.uint8] | type[np.uint16]) -> int:
    """How many features share a group, given the type of codes."""
    return GROUP_BYTES // np.dtype(dtype).itemsize


def fit_bins(
    features: Float32Array,
    *,
    max_bins: int = MAX_BINS,
    categorical: Sequence[int] = (),
    rows: IntArray | None = None,
    threads: int | None = None,
) -> BinMapper:
    """The bins of every feature, found from the given rows, or from all.

    Up to `max_bins` distinct values get a bin each; more share bins of about equal numbers of rows. A categorical
    feature keeps its `max_bins` most frequent values.
    """
    matrix = as_features(features)
    n_features = matrix.shape[1]
    check_bins(max_bins, categorical, n_features)
    rows = np.arange(len(matrix)) if rows is None else rows
    require_memory(4 * n_features * max_bins, f"finding {max_bins:,} bins of {n_features:,} features")
    thresholds = np.empty((n_features, max_bins - 1), np.float32)
    n_edges = np.empty(n_features, np.int64)
    kernels.find_thresholds(matrix, rows, max_bins, thresholds, n_edges, thread_count(threads))
    edges = [thresholds[feature, : n_edges[feature]] for feature in range(n_features)]
    for feature in categorical:
        edges[feature] = frequent_values(matrix[rows, feature], max_bins)
    return mapper_of(edges, categorical)


def check_bins(max_bins: int, categorical: Sequence[int], n_features: int) -> None:
    """Raise unless there can be so many bins, and categories in these features."""
    require(2 <= max_bins <= MAX_WIDE_BINS, f"max_bins must lie between 2 and {MAX_WIDE_BINS}, got {max_bins}")
    for feature in categorical:
        require(0 <= feature < n_features, f"categorical features must be from 0 to {n_features - 1}, got {feature}")


def mapper_of(edges: Sequence[Float32Array], categorical: Sequence[int]) -> BinMapper:
    """The bins of features that have these edges."""
    return BinMapper(
        np.concatenate([*edges, np.zeros(0, np.float32)]),
        np.concatenate([[0], np.cumsum([len(own) for own in edges], dtype=np.int64)]),
        np.isin(np.arange(len(edges)), categorical),
    )


def joined_bins(parts: Sequence[BinMapper]) -> BinMapper:
    """The bins of the features of all parts, those of the first before those of the second."""
    n_edges = np.concatenate([np.diff(part.offsets) for part in parts])
    return BinMapper(
        np.concatenate([part.edges for part in parts]),
        np.concatenate([[0], np.cumsum(n_edges, dtype=np.int64)]),
        np.concatenate([part.categorical for part in parts]),
    )


def frequent_values(values: Float32Array, most: int) -> Float32Array:
    """The values that most rows have, in ascending order: so many at most."""
    distinct, counts = np.unique(values[~np.isnan(values)] + np.float32(0), return_counts=True)
    kept = np.argsort(-counts, kind="stable")[:most]
    return np.sort(distinct[kept])


def bin_columns(
    features: Float32Array, mapper: BinMapper, *, order: IntArray | None = None, threads: int | None = None
) -> CodeArray:
    """The codes of every row of `features`, in the given order of rows or as they are."""
    matrix = as_features(features)
    codes = empty_codes(len(matrix), mapper)
    bin_rows(matrix, mapper, codes, first_row=0, order=order, threads=threads)
    return codes


def empty_codes(n_rows: int, mapper: BinMapper) -> CodeArray:
    """Room for the codes of `n_rows` rows, to be filled by `bin_rows`."""
    shape = (mapper.n_groups, n_rows, slots_of(mapper.code_dtype))
    require_memory(np.dtype(mapper.code_dtype).itemsize * prod(shape), f"the bin codes of {n_rows:,} documents")
    return np.empty(shape, mapper.code_dtype)


def bin_rows(
    features: Float32Array,
    mapper: BinMapper,
    codes: CodeArray,
    *,
    first_row: int,
    order: IntArray | None = None,
    threads: int | None = None,
) -> None:
    """Fill the codes of rows `first_row`, `first_row + 1`, … with those of a chunk of features, in the given order."""
    matrix = as_features(features)
    if matrix.shape[1] != mapper.n_features:
        raise InputError(f"features must have {mapper.n_features} columns, as the bins have, got {matrix.shape[1]}")
    if not 0 <= first_row <= codes.shape[1] - len(matrix):
        raise InputError(
            f"{len(matrix)} rows from row {first_row} on do not fit into the codes of {codes.shape[1]} rows"
        )
    in_order = np.empty(0, np.int64) if order is None else order
    kernels.bin_features(
        matrix, in_order, mapper.edges, mapper.offsets, mapper.categorical, first_row, codes, thread_count(threads)
    )


def codes_by_row(codes: CodeArray, n_features: int) -> CodeArray:
    """Codes as a plain matrix with a row per document and a column per feature."""
    return codes.swapaxes(0, 1).reshape(codes.shape[1], codes.shape[0] * codes.shape[2])[:, :n_features]
