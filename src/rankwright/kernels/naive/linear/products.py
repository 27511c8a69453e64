"""Twins of the products that linear models take with a feature matrix; no value in it may be missing."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array


def linear_scores(features: Float32Array, weights: Float64Array, out: Float64Array, threads: int) -> None:
    """Fill in the scalar product of each row and the weights."""
    for row, values in enumerate(features):  # one at a time: how a matrix product rounds may depend on its rows
        out[row] = values.astype(np.float64) @ weights


def sum_rows(features: Float32Array, factors: Float64Array, out: Float64Array, threads: int) -> None:
    """Fill in the sum of all rows, each times its factor."""
    out[:] = factors @ features.astype(np.float64)


def gram_matrix(features: Float32Array, factors: Float64Array, out: Float64Array, threads: int) -> None:
    """Fill in the sum over rows of factor · row · rowᵀ."""
    matrix = features.astype(np.float64)
    out[:] = matrix.T @ (factors[:, None] * matrix)
