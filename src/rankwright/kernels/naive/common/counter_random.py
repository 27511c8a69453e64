"""Twin of the core's stateless random numbers: each is a function of a key and of a number."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

UIntArray = NDArray[np.uint64]


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
