"""What features add to a comparator's output for two documents.

From both documents in the middle between the two, where neither is preferred, they move apart to where they are. Along
the way the output rises by what each feature's moving adds to it: the integral of its derivative.
"""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.comparators.net import ComparatorNet

POINTS = 16  # along the way
STEP = 0.02  # of a feature's move, over which a derivative is taken: outputs are single precision


def compared(
    net: ComparatorNet, first: Float64Array, second: Float64Array, *, threads: int = 1
) -> tuple[Float64Array, float]:
    """What each feature adds, and the whole output: by how much the input of N≻ is above that of N≺."""
    apart = (first - second) / 2
    moved = np.flatnonzero(apart)
    values = np.zeros(len(first))
    places, weights = np.polynomial.legendre.leggauss(POINTS)
    for place, weight in zip(((1 + places) / 2).tolist(), (weights / 2).tolist(), strict=True):
        values[moved] += weight * _slopes(net, (first + second) / 2, apart, place, moved, threads)
    return values, float(_margins(net, first[None], second[None], threads)[0])


def _slopes(
    net: ComparatorNet, middle: Float64Array, apart: Float64Array, place: float, moved: IntArray, threads: int
) -> Float64Array:
    """How fast the output rises as each feature alone moves on, in units of its whole way."""
    ways = np.repeat((place * apart)[None], 2 * len(moved), axis=0)
    numbers = np.arange(len(moved))
    ways[numbers, moved] += STEP / 2 * apart[moved]
    ways[len(moved) + numbers, moved] -= STEP / 2 * apart[moved]
    margins = _margins(net, middle + ways, middle - ways, threads)
    return np.asarray((margins[: len(moved)] - margins[len(moved) :]) / STEP)


def _margins(net: ComparatorNet, left: Float64Array, right: Float64Array, threads: int) -> Float64Array:
    rows = np.concatenate([left, right]).astype(np.float32)
    numbers = np.arange(len(left))
    inputs = net.margins(rows, numbers, len(left) + numbers, threads=threads).astype(np.float64)
    return np.asarray(inputs[:, 0] - inputs[:, 1])
