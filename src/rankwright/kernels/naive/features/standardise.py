"""Twins of the kernels that standardise features for nets. NaN means missing."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.records import StandardisedRows

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
    for sums in (count, total, squares):
        sums[:] = 0.0
    for start in range(0, len(features), ROWS_AT_A_TIME):
        parts = np.zeros((3, features.shape[1]))
        for row in features[start : start + ROWS_AT_A_TIME].astype(np.float64):
            known = ~np.isnan(row)
            difference = np.where(known, row - centre, 0.0)
            parts += known, difference, difference * difference
        count += parts[0]
        total += parts[1]
        squares += parts[2]
