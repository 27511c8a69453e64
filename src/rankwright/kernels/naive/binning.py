"""Twins of the binning kernels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright.arrays import BoolArray, CodeArray, Float32Array, IntArray


def find_thresholds(
    features: Float32Array,
    rows: IntArray,
    max_bins: int,
    thresholds: Float32Array,
    n_thresholds: IntArray,
    threads: int,
) -> None:
    """Fill row f of `thresholds` with the thresholds between the bins of feature f, found from the given rows."""
    for feature in range(features.shape[1]):
        values = features[rows, feature]
        distinct, counts = np.unique(values[~np.isnan(values)] + np.float32(0), return_counts=True)
        ends = list(_ends_of_bins(counts, max_bins))
        thresholds[feature, : len(ends)] = [_between(distinct[end], distinct[end + 1]) for end in ends]
        n_thresholds[feature] = len(ends)


def _between(a: np.float32, b: np.float32) -> np.float32:
    """A number t with a <= t < b, in the middle where rounding allows."""
    with np.errstate(invalid="ignore"):  # the middle of minus and plus infinity
        middle = np.float32((np.float64(a) + np.float64(b)) / 2)
    return middle if middle < b else a


def _ends_of_bins(counts: IntArray, max_bins: int) -> Iterator[int]:
    """The largest value of each bin but the last; `counts` has the number of rows of each distinct value."""
    if len(counts) <= max_bins:
        yield from range(len(counts) - 1)
        return
    heavy, rows_left, bins_left = _heavy_values(counts, max_bins)
    held = 0  # rows of light values in the bin being filled
    for i in range(len(counts) - 1):
        if heavy[i]:
            rows_left -= held  # light values that are too few for a bin of their own join this one
        else:
            held += int(counts[i])
            full = held * bins_left >= rows_left
            half_full_before_heavy = heavy[i + 1] and bins_left > 1 and 2 * held * bins_left >= rows_left
            if not full and not half_full_before_heavy:
                continue
            rows_left -= held
            bins_left -= 1
        held = 0
        yield i


def _heavy_values(counts: IntArray, max_bins: int) -> tuple[BoolArray, int, int]:
    """Which values fill a bin alone, and how many rows and bins remain for the other values."""
    heavy = np.zeros(len(counts), bool)
    rows_left, bins_left = int(counts.sum()), max_bins
    while (more := ~heavy & (counts * bins_left >= rows_left)).any():
        heavy |= more
        rows_left -= int(counts[more].sum())
        bins_left -= int(more.sum())
    return heavy, rows_left, bins_left


def bin_features(
    features: Float32Array,
    order: IntArray,
    edges: Float32Array,
    offsets: IntArray,
    categorical: BoolArray,
    first_row: int,
    codes: CodeArray,
    threads: int,
) -> None:
    """Fill the codes of rows from `first_row` on: how many edges are smaller or, for a category, which one is equal.

    Row `order[0]` of the features comes first; where `order` is empty, rows come as they are.
    """
    features = features[order] if len(order) else features
    by_row = np.zeros((len(features), codes.shape[0] * codes.shape[2]), codes.dtype)
    for feature in range(features.shape[1]):
        own = edges[offsets[feature] : offsets[feature + 1]]
        values = features[:, feature]
        code = np.searchsorted(own, values, side="left")
        if categorical[feature]:
            known = np.isin(values, own)
            by_row[:, feature] = np.where(known, code, len(own))
        else:
            by_row[:, feature] = np.where(np.isnan(values), len(own) + 1, code)
    codes[:, first_row : first_row + len(features)] = by_row.reshape(len(features), *codes.shape[::2]).swapaxes(0, 1)


def codes_by_row(codes: CodeArray) -> CodeArray:
    """The codes with a row per document and a column per feature."""
    return codes.swapaxes(0, 1).reshape(codes.shape[1], codes.shape[0] * codes.shape[2])
