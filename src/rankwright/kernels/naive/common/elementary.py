"""The kernels' own exponential and hyperbolic tangent, operation by operation: twins that use them agree to the bit."""

from __future__ import annotations

from math import factorial

import numpy as np

from rankwright.arrays import Float32Array

LARGEST_EXPONENT = np.float32(87.0)
ROUND_TO_WHOLE = np.float32(12582912.0)  # 1.5 · 2^23: adding it leaves no room for a fraction
LOG2_OF_E = np.float32(1.44269504)
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
EXP_DEGREE = 7


def exp_minus(x: Float32Array) -> Float32Array:
    """e^-x for x ≥ 0, by powers of two and a Taylor series."""
    clamped = np.where(x < LARGEST_EXPONENT, x, LARGEST_EXPONENT)
    shifted = ROUND_TO_WHOLE - clamped * LOG2_OF_E
    whole = shifted - ROUND_TO_WHOLE
    rest = (-clamped - whole * LN2_HIGH) - whole * LN2_LOW
    series = np.full_like(rest, 1.0 / factorial(EXP_DEGREE))
    for n in range(EXP_DEGREE - 1, -1, -1):
        series = np.float32(1.0 / factorial(n)) + rest * series
    return np.asarray(series * np.exp2(whole), np.float32)


def tanh_of(x: Float32Array) -> Float32Array:
    """tanh x, computed from e^-2|x|."""
    size = np.abs(x)
    e = exp_minus(size + size)
    return np.copysign((np.float32(1.0) - e) / (np.float32(1.0) + e), x)
