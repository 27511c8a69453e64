"""Thresholds of other tools as ours: float32, and a value that is at most the threshold goes left.

Features are float32. So a threshold in double precision, or one that values must be below, has an exact twin among the
float32 numbers: the largest of them that goes left.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array


def at_most(threshold: NDArray[np.floating]) -> Float32Array:
    """The largest float32 number that is at most each threshold."""
    wide = np.asarray(threshold, np.float64)
    with np.errstate(over="ignore"):
        near = wide.astype(np.float32)
    return np.where(near > wide, _before(near), near)


def below(threshold: NDArray[np.floating]) -> Float32Array:
    """The largest float32 number below each threshold; nothing is below -∞, which `always_false` finds."""
    wide = np.asarray(threshold, np.float64)
    near = at_most(wide)
    return np.where(near == wide, _before(near), near)


def above(threshold: Float32Array) -> Float32Array:
    """The float32 number that follows each threshold: a value is at most the one where it is below the other."""
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(threshold, np.float32(np.inf))


def always_false(threshold: Float64Array) -> BoolArray:
    """Whether no value is below the threshold."""
    return np.isneginf(threshold)


def _before(values: Float32Array) -> Float32Array:
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(values, np.float32(-np.inf))
