"""What several topics of twins share.

These are the parts of a ragged array, random numbers made from counters, the float32 nearest to a number's text, and
functions that round as the kernels do.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import factorial, frexp, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.arrays import CodeArray, Float32Array, IntArray

UIntArray = NDArray[np.uint64]


def slices(offsets: IntArray) -> list[slice]:
    """The rows of each part, where part k has the rows `offsets[k]` to `offsets[k + 1]`."""
    return [slice(start, stop) for start, stop in pairwise(offsets.tolist())]


def or_ones(weights: NDArray[Any], length: int) -> NDArray[Any]:
    """The weights; where none are given, all are 1."""
    return weights if len(weights) else np.ones(length)


def texts_of(joined: NDArray[np.uint8], starts: IntArray) -> list[bytes]:
    """The texts that lie one after another in `joined`."""
    return [joined[own].tobytes() for own in slices(starts)]


def codes_by_row(codes: CodeArray) -> CodeArray:
    """The codes with a row per document and a column per feature."""
    return codes.swapaxes(0, 1).reshape(codes.shape[1], codes.shape[0] * codes.shape[2])


def mix(values: UIntArray) -> UIntArray:
    """SplitMix64's finaliser, of arrays: NumPy's integers wrap around in arrays without a warning."""
    x = values + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def stream_of(key: ArrayLike, numbers: ArrayLike) -> UIntArray:
    """The random numbers, or the keys of streams, that `numbers` stand for under `key`."""
    keys, which = np.atleast_1d(np.asarray(key, np.uint64)), np.atleast_1d(np.asarray(numbers, np.uint64))
    return mix(mix(keys) ^ which)


def below(random: UIntArray, n: ArrayLike) -> UIntArray:
    """Whole numbers from 0 to n - 1."""
    return ((random >> np.uint64(32)) * np.asarray(n, np.uint64)) >> np.uint64(32)


def unit_interval(random: UIntArray) -> NDArray[np.float64]:
    """Numbers in [0, 1)."""
    return (random >> np.uint64(11)).astype(np.float64) / 2.0**53


def about_normal(random: UIntArray) -> NDArray[np.float64]:
    """Numbers of mean 0 and variance 1, about normal: sums of the four 16-bit parts of random ones."""
    parts = random[..., None] >> np.arange(0, 64, 16, dtype=np.uint64) & np.uint64(0xFFFF)
    sums: NDArray[np.float64] = parts.sum(axis=-1).astype(np.float64)
    return (sums - 131070.0) / sqrt((2.0**32 - 1) / 3)


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


FLOAT32_DIGITS = 24  # binary ones
SMALLEST_FLOAT32_EXPONENT = -149  # of the smallest number above 0


@lru_cache(maxsize=1 << 16)
def nearest_float32(text: bytes) -> np.float32:
    """The float32 nearest to a number's text, ties to even.

    Around a number, float32 are the multiples of a power of two. Rounding the nearest double to such a multiple is
    right, except where it lies halfway between two: then the text itself says on which side the number is.
    """
    double = float("nan" if text.lower() == b"null" else text)
    if not math.isfinite(double) or double == 0:
        return np.float32(double)
    exponent = max(math.frexp(double)[1] - FLOAT32_DIGITS, SMALLEST_FLOAT32_EXPONENT)
    units = math.ldexp(double, -exponent)
    is_halfway = units - math.floor(units) == 0.5
    multiple = round(Fraction(text.decode()) / Fraction(2) ** exponent if is_halfway else units)
    size = abs(math.ldexp(multiple, exponent))
    return np.float32(math.copysign(math.inf if size >= 2.0**128 else size, double))


ATANH_TERMS = 17
DOUBLE_LN2_HIGH, DOUBLE_LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # ln 2 in two parts


def log_of(x: float) -> float:
    """The natural logarithm of a positive number, by a power of two and the series of atanh."""
    mantissa, exponent = frexp(x)  # mantissa from ½ up to 1
    rest, whole = 2.0 * mantissa - 1.0, float(exponent - 1)
    t = rest / (2.0 + rest)
    series = 1.0 / (2 * ATANH_TERMS - 1)
    for k in range(ATANH_TERMS - 2, -1, -1):
        series = 1.0 / (2 * k + 1) + t * t * series
    return whole * DOUBLE_LN2_HIGH + (whole * DOUBLE_LN2_LOW + (t + t) * series)
