"""Where the steps of expectation-maximisation lead to, found with fewer of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from rankwright.arrays import Float64Array, IntArray

State: TypeAlias = list[Float64Array]  # the first array is the one whose changes are watched
Bounds: TypeAlias = Sequence[tuple[Float64Array | IntArray | float, Float64Array | IntArray | float]]

LONGEST = 4.0  # how far a leap may go at first, in steps; it grows where leaps go well


def fixed_point(
    step: Callable[[State, int], State], start: State, bounds: Bounds, *, tolerance: float, most: int
) -> tuple[State, int]:
    """The state that a step no longer changes by more than the tolerance, and how many steps that took.

    After two steps the state leaps in their direction, as far as their difference suggests (SQUAREM, Varadhan and
    Roland 2008), and is kept within the bounds; another step follows. `step` is also told the number of steps before.
    """
    before, n_steps, longest = start, 0, LONGEST
    while True:
        states = [before]
        for _ in range(2):
            states.append(step(states[-1], n_steps))
            n_steps += 1
            if _change(*states[-2:]) < tolerance or n_steps >= most:
                return states[-1], n_steps
        length = _length(states)
        leapt = _leap(states, min(length, longest), bounds)
        after = step(leapt, n_steps)
        n_steps += 1
        if _change(leapt, after) > _change(*states[:2]):  # it led astray: it is taken back
            before, longest = states[-1], max(1.0, longest / 4)
            continue
        if length > longest:
            longest *= 4
        if _change(leapt, after) < tolerance or n_steps >= most:
            return after, n_steps
        before = after


def _change(one: State, other: State) -> float:
    return float(np.abs(one[0] - other[0]).max())


def _length(states: Sequence[State]) -> float:
    """How many steps further the last two of them point."""
    first, second = states[1][0] - states[0][0], states[2][0] - states[1][0]
    bend = float(np.linalg.norm(second - first))
    return max(1.0, float(np.linalg.norm(first)) / bend) if bend > 0 else 1.0


def _leap(states: Sequence[State], length: float, bounds: Bounds) -> State:
    leapt = []
    for (zero, one, two), (low, high) in zip(zip(*states, strict=True), bounds, strict=True):
        first = one - zero
        leapt.append(np.clip(zero + 2 * length * first + length**2 * (two - one - first), low, high))
    return leapt
