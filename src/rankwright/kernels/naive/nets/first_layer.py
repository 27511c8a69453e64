"""Twins of the kernels of a net's first layer, which standardises features on the way. NaN means missing."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, IntArray
from rankwright.kernels.naive.features.standardise import standardise_rows


def first_layer(
    features: Float32Array,
    rows: IntArray,
    shift: Float32Array,
    factor: Float32Array,
    weights: Float32Array,
    out: Float32Array,
    threads: int,
) -> None:
    """Fill `out[k, unit]` with the scalar product of standardised row `rows[k]` and `weights[unit]`."""
    inputs = np.empty((len(rows), features.shape[1]), np.float32)
    standardise_rows(features, rows, shift, factor, inputs, threads)
    out[:] = inputs.astype(np.float64) @ weights.T.astype(np.float64)


def first_layer_gradient(
    features: Float32Array,
    rows: IntArray,
    shift: Float32Array,
    factor: Float32Array,
    forces: Float32Array,
    gradient: Float32Array,
    threads: int,
) -> None:
    """Fill `gradient[unit]` with the sum of the standardised rows, row k times `forces[k, unit]`."""
    inputs = np.empty((len(rows), features.shape[1]), np.float32)
    standardise_rows(features, rows, shift, factor, inputs, threads)
    gradient[:] = forces.T.astype(np.float64) @ inputs.astype(np.float64)
