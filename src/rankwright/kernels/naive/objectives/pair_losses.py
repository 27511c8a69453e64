"""The forces on a pair of documents: the twin of the core's pair losses.

With φ the loss of "a above b" at the score gap x = s_a - s_b, and p the target probability of that, the cost is
p φ(x) + (1 - p) φ(-x).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float64Array


class PairForces(NamedTuple):
    """Derivative of the cost by s_a, second derivative by either score, and the cost itself."""

    force: Float64Array
    curvature: Float64Array
    cost: Float64Array


PairLoss = Callable[[Float64Array, Float64Array, float], PairForces]


def logistic(gap: Float64Array, target: Float64Array, sigma: float) -> PairForces:
    """RankNet's cross entropy: φ(x) = log(1 + e^-σx)."""
    z = sigma * gap
    up, down = 1.0 / (1.0 + np.exp(np.clip(-z, None, 700))), 1.0 / (1.0 + np.exp(np.clip(z, None, 700)))
    cost = target * np.logaddexp(0.0, -z) + (1.0 - target) * np.logaddexp(0.0, z)
    return PairForces(sigma * ((1.0 - target) * up - target * down), sigma**2 * up * down, cost)


def hinge(gap: Float64Array, target: Float64Array, margin: float) -> PairForces:
    """φ(x) = max(0, margin - x); where it slopes, the curvature counts 1, not the true 0."""
    up, down = target * (gap < margin), (1.0 - target) * (-gap < margin)
    return PairForces(down - up, down + up, up * (margin - gap) + down * (margin + gap))


def spring(gap: Float64Array, target: Float64Array, margin: float) -> PairForces:
    """Burges 2005, Eq. 4-9; on the straight part the curvature counts 1, its slope, not the true 0."""

    def push(x: Float64Array) -> Float64Array:
        return np.where(x < 0, 1.0, np.where(x <= margin, margin - x, 0.0))

    def height(x: Float64Array) -> Float64Array:
        return np.where(x < 0, -x, np.where(x <= margin, 0.5 * x**2 - margin * x, -0.5 * margin**2))

    other = 1.0 - target
    return PairForces(
        other * push(-gap) - target * push(gap),
        target * (gap <= margin) + other * (-gap <= margin),
        target * height(gap) + other * height(-gap),
    )


PAIR_LOSSES: Mapping[str, PairLoss] = {"logistic": logistic, "hinge": hinge, "spring": spring}
