"""Twins of the kernels on sparse features and codes: each makes all values or codes, and does what others do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import (
    BoolArray,
    CodeArray,
    Float32Array,
    Float64Array,
    Int32Array,
    IntArray,
    Uint32Array,
    Uint64Array,
)
from rankwright.kernels.naive.features import hash_rows
from rankwright.kernels.naive.forests import bin_features, find_thresholds
from rankwright.kernels.naive.tree_grower import grow_tree, score_tree
from rankwright.kernels.records import (
    Exchange,
    GrowthScratch,
    SparseCodes,
    SparseTable,
    SplitColumns,
    TreeNodes,
    TreeSettings,
)

SAMPLED_ROWS = 2**16  # on which bundles are tried
BUNDLES_TO_TRY = 16  # the latest ones
MOST_PLACES = 2**16 - 1  # of a bundle


def _all_values(features: SparseTable) -> Float32Array:
    n_rows = len(features.starts) - 1
    values = np.full((n_rows, features.n_columns), features.absent, np.float32)
    rows = np.repeat(np.arange(n_rows), np.diff(features.starts))
    values[rows, features.columns] = features.values
    return values


def _codes_of(values: Float32Array, edges: Float32Array, offsets: IntArray, categorical: BoolArray) -> IntArray:
    codes = np.empty((values.shape[1], len(values), 1), np.uint16)
    bin_features(values, np.empty(0, np.int64), edges, offsets, categorical, 0, codes, 1)
    return codes[:, :, 0].T.astype(np.int64)


def _all_codes(codes: SparseCodes) -> CodeArray:
    by_feature = np.repeat(codes.usual.astype(np.uint16)[:, None], codes.n_rows, axis=1)
    for row in range(codes.n_rows):
        listed = codes.listed[codes.starts[row] : codes.starts[row + 1]]
        bundled = (codes.bases + codes.bundled[row])[codes.bundled[row] > 0]
        for place in np.concatenate([listed, bundled]).astype(np.int64):
            owner = (codes.first <= place) & (place < codes.first.astype(np.int64) + codes.n_places)
            feature = int(np.flatnonzero(owner)[0])
            code = int(place - codes.first[feature])
            by_feature[feature, row] = code + (code >= codes.usual[feature])
    return by_feature[:, :, None]


def hash_sparse_rows(features: SparseTable, out: Uint64Array, threads: int) -> None:
    """Fill `out` with the hash of each row's values."""
    hash_rows(_all_values(features), out, threads)


def find_sparse_thresholds(
    features: SparseTable,
    rows: IntArray,
    max_bins: int,
    offsets: IntArray,
    thresholds: Float32Array,
    n_thresholds: IntArray,
    threads: int,
) -> None:
    """Fill `thresholds`, from `offsets[f]` on, with those between the bins of feature f, found from the given rows."""
    found = np.empty((features.n_columns, max_bins - 1), np.float32)
    find_thresholds(_all_values(features), rows, max_bins, found, n_thresholds, threads)
    for feature, n in enumerate(n_thresholds):
        thresholds[offsets[feature] : offsets[feature] + n] = found[feature, :n]


def count_sparse_codes(
    features: SparseTable,
    edges: Float32Array,
    offsets: IntArray,
    categorical: BoolArray,
    usual: Uint32Array,
    n_set: IntArray,
    any_missing: BoolArray,
    threads: int,
) -> None:
    """Fill the code of absent values, in how many rows another one is set, and whether one of these is missing."""
    absent = np.full((1, features.n_columns), features.absent, np.float32)
    usual[:] = _codes_of(absent, edges, offsets, categorical)[0]
    codes = _codes_of(_all_values(features), edges, offsets, categorical)
    is_set = codes != usual
    n_set[:] = is_set.sum(axis=0)
    any_missing[:] = (is_set & (codes == np.diff(offsets) + ~categorical)).any(axis=0)


def bundle_features(
    features: SparseTable,
    edges: Float32Array,
    offsets: IntArray,
    categorical: BoolArray,
    usual: Uint32Array,
    n_set: IntArray,
    n_places: Uint32Array,
    bundle: Int32Array,
    threads: int,
) -> int:
    """Fill the bundle of each feature, -1 for none, and return how many there are: see the compiled kernel."""
    is_set = _codes_of(_all_values(features), edges, offsets, categorical) != usual
    n_rows = len(is_set)
    n_sampled = min(n_rows, SAMPLED_ROWS)
    sampled = is_set[n_rows * np.arange(n_sampled) // max(n_sampled, 1)]
    bundle[:] = -1
    taken: list[tuple[BoolArray, int]] = []  # of each bundle: rows of the sample, and places
    for feature in np.flatnonzero((n_set > 0) & (n_places <= MOST_PLACES)):
        own, places = sampled[:, feature], int(n_places[feature])
        tried = range(len(taken) - 1, max(-1, len(taken) - 1 - BUNDLES_TO_TRY), -1)
        fits = [n for n in tried if taken[n][1] + places <= MOST_PLACES and not (taken[n][0] & own).any()]
        number = fits[0] if fits else len(taken)
        rows, before = taken[number] if fits else (np.zeros(n_sampled, bool), 0)
        taken[number : number + 1] = [(rows | own, before + places)]
        bundle[feature] = number
    n_kept = _keep_full(n_rows, len(taken), n_set, bundle)
    for number in range(n_kept):
        members = np.flatnonzero(bundle == number)
        together = np.cumsum(is_set[:, members], axis=1) > 1
        bundle[members[(together & is_set[:, members]).any(axis=0)]] = -1
    return _keep_full(n_rows, n_kept, n_set, bundle)


def _keep_full(n_rows: int, n_bundles: int, n_set: IntArray, bundle: Int32Array) -> int:
    """Number the bundles that are set in half of the rows or more."""
    full = [number for number in range(n_bundles) if 2 * n_set[bundle == number].sum() >= n_rows]
    bundle[:] = [full.index(number) if number in full else -1 for number in bundle.tolist()]
    return len(full)


def count_listed(
    features: SparseTable,
    order: IntArray,
    edges: Float32Array,
    offsets: IntArray,
    categorical: BoolArray,
    first: Uint32Array,
    usual: Uint32Array,
    bundle: Int32Array,
    bases: Uint32Array,
    counts: IntArray,
    threads: int,
) -> None:
    """Fill how many codes of each row are set in features without a bundle."""
    codes = _codes_of(_all_values(features), edges, offsets, categorical)
    counts[:] = ((codes[order] if len(order) else codes) != usual)[:, bundle < 0].sum(axis=1)


def pack_sparse_codes(
    features: SparseTable,
    order: IntArray,
    edges: Float32Array,
    offsets: IntArray,
    categorical: BoolArray,
    first: Uint32Array,
    usual: Uint32Array,
    bundle: Int32Array,
    bases: Uint32Array,
    starts: IntArray,
    bundled: NDArray[np.uint16],
    listed: Uint32Array,
    threads: int,
) -> None:
    """Fill the bundles and the lists of all rows, in the given order."""
    codes = _codes_of(_all_values(features), edges, offsets, categorical)
    bundled[:] = 0
    for row, own in enumerate(codes[order] if len(order) else codes):
        is_set = np.flatnonzero(own != usual)
        places = first[is_set] + own[is_set] - (own[is_set] > usual[is_set])
        together = bundle[is_set] >= 0
        numbers = bundle[is_set][together]
        bundled[row, numbers] = places[together] - bases[numbers]
        listed[starts[row] : starts[row + 1]] = np.sort(places[~together])


def grow_sparse_tree(
    codes: SparseCodes,
    columns: SplitColumns,
    quantised: Int32Array,
    gradient: Float32Array,
    curvature: Float32Array,
    rows: Uint32Array,
    all_rows: bool,
    settings: TreeSettings,
    gradient_scale: float,
    curvature_scale: float,
    seed: int,
    scratch: GrowthScratch,
    nodes: TreeNodes,
    begin: IntArray,
    held: IntArray,
    exchange: Exchange | None,
    threads: int,
) -> int:
    """Grow the tree that all codes give."""
    return grow_tree(
        _all_codes(codes), columns, quantised, gradient, curvature, rows, all_rows, settings, gradient_scale,
        curvature_scale, seed, scratch, nodes, begin, held, exchange, threads,
    )  # fmt: skip


def score_sparse_tree(
    codes: SparseCodes, n_bins: IntArray, nodes: TreeNodes, scores: Float64Array, threads: int
) -> None:
    """Add to each document's score the value of the leaf that its codes lead to."""
    score_tree(_all_codes(codes), n_bins, nodes, scores, threads)
