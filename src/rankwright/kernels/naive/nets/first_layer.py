"""Twins of the kernels of a net's first layer, which standardises features on the way. NaN means missing."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.naive.features.standardise import standardise_rows
from rankwright.kernels.records import StandardisedRows


def standardised(inputs: StandardisedRows, rows: IntArray) -> Float64Array:
    """The given rows as `standardise_rows` fills them, in double precision."""
    values = np.empty((len(rows), inputs.features.shape[1]), np.float32)
    standardise_rows(inputs, rows, values, 1)
    return values.astype(np.float64)


def first_layer(
    inputs: StandardisedRows, rows: IntArray, weights: Float32Array, out: Float32Array, threads: int
) -> None:
    """Fill `out[k, unit]` with the scalar product of standardised row `rows[k]` and `weights[unit]`."""
    out[:] = standardised(inputs, rows) @ weights.T.astype(np.float64)


def first_layer_gradient(
    inputs: StandardisedRows, rows: IntArray, forces: Float32Array, gradient: Float32Array, threads: int
) -> None:
    """Fill `gradient[unit]` with the sum of the standardised rows, row k times `forces[k, unit]`."""
    gradient[:] = forces.T.astype(np.float64) @ standardised(inputs, rows)
