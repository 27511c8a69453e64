"""L-BFGS: a smooth function is minimised by steps, and earlier ones tell how it bends (Nocedal and Wright, 2006)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.linear_algebra import inner, length

REMEMBERED_STEPS = 10
LEAST_DECREASE = 1e-4  # of what the slope promises: Armijo's rule
SHORTEST_STEP = 2.0**-20
SMALLEST_SLOPE = 1e-5  # in each direction: there the search ends
SMALLEST_GAIN = 2e-9  # of a step, against the value

Cost = Callable[[Float64Array], tuple[float, Float64Array]]  # a value and its derivatives
Bend = tuple[Float64Array, Float64Array, float]  # a step, how it changed the derivatives, the product of both


def least_cost(cost: Cost, start: Float64Array, *, most_steps: int) -> Float64Array:
    """Where the cost is least nearby, from `start` on."""
    at, (value, slopes) = start, cost(start)
    bends: deque[Bend] = deque(maxlen=REMEMBERED_STEPS)
    for _ in range(most_steps):
        if np.abs(slopes).max(initial=0.0) <= SMALLEST_SLOPE:
            break
        direction = _direction(slopes, bends)
        found = _search(cost, at, value, direction, inner(slopes, direction))
        if found is None:
            break
        after, value_after, slopes_after = found
        step, change = after - at, slopes_after - slopes
        product = inner(step, change)
        if product > np.finfo(float).eps * inner(change, change):
            bends.append((step, change, product))
        gain = value - value_after
        at, value, slopes = after, value_after, slopes_after
        if gain <= SMALLEST_GAIN * max(abs(value), 1.0):
            break
    return at


def _direction(slopes: Float64Array, bends: deque[Bend]) -> Float64Array:
    """Downhill, in the metric of the steps that are remembered; the first step has a length of 1."""
    if not bends:
        return -slopes / max(length(slopes), 1.0)
    rest, shares = -slopes, list[float]()
    for step, change, product in reversed(bends):
        shares.append(inner(step, rest) / product)
        rest = rest - shares[-1] * change
    _, change, product = bends[-1]
    rest = rest * (product / inner(change, change))
    for (step, change, product), share in zip(bends, reversed(shares), strict=True):
        rest = rest + (share - inner(change, rest) / product) * step
    return rest


def _search(
    cost: Cost, at: Float64Array, value: float, direction: Float64Array, promise: float
) -> tuple[Float64Array, float, Float64Array] | None:
    """The longest of the steps 1, ½, ¼, … that lowers the cost enough."""
    share = 1.0
    while share >= SHORTEST_STEP and promise < 0:
        after = at + share * direction
        value_after, slopes = cost(after)
        if value_after <= value + LEAST_DECREASE * share * promise:
            return after, value_after, slopes
        share *= 0.5
    return None
