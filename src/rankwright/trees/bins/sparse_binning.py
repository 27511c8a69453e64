"""Bins and codes of sparse features: the same bins as of all their values, and codes only where they are not usual.

The usual code of a feature is that of the values that are not stored. Features that are never set together share a
column of two bytes a row, a bundle; a list of each row has what is set besides. What is where makes trees faster or
slower, and never different.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, CodeArray, Int32Array, IntArray, Uint32Array, Uint64Array, thread_count
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import InputError
from rankwright.kernels.records import SparseCodes
from rankwright.memory import require_memory
from rankwright.trees.bins.binning import BinMapper, check_bins, frequent_values, mapper_of

MOST_IN_A_WORD = 8191  # rows whose sums fit one word of a histogram


def fit_sparse_bins(
    features: SparseRows,
    *,
    max_bins: int,
    categorical: Sequence[int] = (),
    rows: IntArray | None = None,
    threads: int | None = None,
) -> BinMapper:
    """What `fit_bins` finds for all values."""
    check_bins(max_bins, categorical, features.n_columns)
    rows = np.arange(len(features)) if rows is None else rows
    seen = features if len(rows) == len(features) else features[rows]
    n_stored = np.bincount(seen.columns, minlength=features.n_columns)
    room = np.concatenate([[0], np.cumsum(np.minimum(n_stored, max_bins - 1))])  # so many thresholds at most
    require_memory(4 * int(room[-1]), f"finding {max_bins:,} bins of {features.n_columns:,} features")
    thresholds, n_edges = np.empty(room[-1], np.float32), np.empty(features.n_columns, np.int64)
    kernels.find_sparse_thresholds(
        seen, np.arange(len(seen)), max_bins, room, thresholds, n_edges, thread_count(threads)
    )
    if not len(categorical):
        kept = np.arange(room[-1]) - np.repeat(room[:-1], np.diff(room)) < np.repeat(n_edges, np.diff(room))
        return BinMapper(
            thresholds[kept], np.concatenate([[0], np.cumsum(n_edges)]), np.zeros(features.n_columns, bool)
        )
    edges = [thresholds[start : start + n] for start, n in zip(room[:-1], n_edges, strict=True)]
    for feature in categorical:
        edges[feature] = frequent_values(seen.full_columns(np.array([feature]))[:, 0], max_bins)
    return mapper_of(edges, categorical)


def bin_sparse_rows(
    features: SparseRows,
    mapper: BinMapper,
    *,
    hashes: Uint64Array,
    order: IntArray | None = None,
    threads: int | None = None,
) -> SparseCodes:
    """The codes of every row, in the given order of rows or as they are; `hashes` are those of the rows as they are."""
    if features.n_columns != mapper.n_features:
        raise InputError(f"features must have {mapper.n_features} columns, as the bins have, got {features.n_columns}")
    n_threads, n_features = thread_count(threads), mapper.n_features
    bins = (mapper.edges, mapper.offsets, mapper.categorical)
    usual, n_set = np.empty(n_features, np.uint32), np.empty(n_features, np.int64)
    any_missing = np.empty(n_features, bool)
    kernels.count_sparse_codes(features, *bins, usual, n_set, any_missing, n_threads)
    n_places = _places_of(mapper, usual, n_set, any_missing)
    bundle = np.empty(n_features, np.int32)
    n_bundles = kernels.bundle_features(features, *bins, usual, n_set, n_places, bundle, n_threads)
    first, bases, crowded, n_total = _layout(n_places, n_set, bundle, n_bundles)
    in_order = np.empty(0, np.int64) if order is None else order
    counts = np.empty(len(features), np.int64)
    kernels.count_listed(features, in_order, *bins, first, usual, bundle, bases, counts, n_threads)
    starts = np.concatenate([[0], np.cumsum(counts)])
    n_bytes = 2 * len(features) * n_bundles + 4 * int(starts[-1])
    require_memory(n_bytes, f"the bin codes of {len(features):,} documents")
    bundled, listed = np.empty((len(features), n_bundles), np.uint16), np.empty(starts[-1], np.uint32)
    kernels.pack_sparse_codes(
        features, in_order, *bins, first, usual, bundle, bases, starts, bundled, listed, n_threads
    )
    return SparseCodes(
        first=first,
        n_places=n_places,
        usual=usual,
        bundle=bundle,
        bases=bases,
        bundled=bundled,
        starts=starts,
        listed=listed,
        crowded=crowded,
        n_total_places=n_total,
        row_hashes=hashes if order is None else hashes[order],
    )


def _places_of(mapper: BinMapper, usual: Uint32Array, n_set: IntArray, any_missing: BoolArray) -> Uint32Array:
    """How many places each feature has: one for each code but the usual one, if it is ever set."""
    missing_is_usual = usual == mapper.n_bins
    places = mapper.n_bins - 1 + (any_missing | missing_is_usual)
    return np.where(n_set > 0, places, 0).astype(np.uint32)


def _layout(
    n_places: Uint32Array, n_set: IntArray, bundle: Int32Array, n_bundles: int
) -> tuple[Uint32Array, Uint32Array, Uint32Array, int]:
    """The first place of each feature, the base of each bundle, the runs of crowded places, and how many there are.

    Bundles come first, then features without one; in each, crowded features come before others, so that few runs of
    places are crowded.
    """
    is_crowded = n_set > MOST_IN_A_WORD
    group = np.where(bundle < 0, n_bundles, bundle)
    order = np.lexsort((~is_crowded, group))  # within both in the order of features
    sizes = n_places[order].astype(np.int64)
    bases_before = np.minimum(group[order] + 1, n_bundles)  # the base of each bundle takes a place
    places = np.cumsum(sizes) - sizes + bases_before
    first = np.empty(len(n_places), np.uint32)
    first[order] = places
    n_total = int(sizes.sum()) + n_bundles
    sizes_of_bundles = np.bincount(group, n_places, minlength=n_bundles + 1)[:n_bundles].astype(np.int64)
    bases = (np.cumsum(sizes_of_bundles) - sizes_of_bundles + np.arange(n_bundles)).astype(np.uint32)
    own = order[is_crowded[order]]
    ends = first[own] + n_places[own]
    is_first = np.append(True, first[own][1:] != ends[:-1])[: len(own)]
    begins, stops = first[own][is_first], ends[np.append(is_first[1:], True)[: len(own)]]
    crowded = np.stack([begins, stops], axis=1).reshape(-1).astype(np.uint32)
    return first, bases, crowded, n_total


def first_rows(codes: CodeArray | SparseCodes, n_rows: int) -> CodeArray | SparseCodes:
    """The codes of the first rows alone."""
    if not isinstance(codes, SparseCodes):
        return np.ascontiguousarray(codes[:, :n_rows])
    starts = codes.starts[: n_rows + 1]
    return replace(
        codes,
        bundled=codes.bundled[:n_rows],
        starts=starts,
        listed=codes.listed[: starts[-1]],
        row_hashes=codes.row_hashes[:n_rows],
    )
