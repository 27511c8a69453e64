"""Twins of the scaling kernels. NaN means missing: it stays missing and takes no part."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankwright.arrays import Float32Array, IntArray


def scale_by_mean(features: Float32Array, offsets: IntArray, out: Float32Array, threads: int) -> None:
    """Fill `out` with (x - mean) / max|x| over each query's documents; 0 where the maximum is 0."""
    for start, stop in pairwise(offsets):
        values = features[start:stop].astype(np.float64)
        known = ~np.isnan(values)
        total = np.zeros(features.shape[1])
        for row in np.where(known, values, 0.0):
            total += row
        mean = total / np.maximum(known.sum(axis=0), 1)
        largest = np.where(known, np.abs(values), 0.0).max(axis=0, initial=0.0)
        out[start:stop] = (values - mean) / np.where(largest == 0, 1.0, largest)


def scale_by_range(features: Float32Array, offsets: IntArray, out: Float32Array, threads: int) -> None:
    """Fill `out` with (x - min) / (max - min) over each query's documents; 0 where all of them are equal."""
    for start, stop in pairwise(offsets):
        values = features[start:stop].astype(np.float64)
        known = ~np.isnan(values)
        least = values.min(axis=0, initial=np.inf, where=known)
        span = values.max(axis=0, initial=-np.inf, where=known) - least
        least, span = np.where(known.any(axis=0), least, 0.0), np.where(known.any(axis=0), span, 0.0)
        out[start:stop] = (values - least) / np.where(span == 0, 1.0, span)
