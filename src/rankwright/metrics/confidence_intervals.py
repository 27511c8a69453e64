"""The 95 % intervals of a mean over queries: how far it may lie from the mean over all queries there could be."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array

COVERAGE = 0.95
HALF_WIDTH = 1.959963984540054  # standard deviations that hold 95 % of a normal distribution, to each side


class Interval(NamedTuple):
    """The ends of an interval; NaN where there are too few queries to tell."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f}"

    def to_dict(self) -> dict[str, float | None]:
        """The ends in types JSON can hold."""
        return {"low": none_unless_finite(self.low), "high": none_unless_finite(self.high)}


def none_unless_finite(number: float) -> float | None:
    """The number, or None where JSON cannot hold it."""
    return number if math.isfinite(number) else None


def weighted_mean(values: Float64Array, weights: Float64Array) -> float:
    """The mean of `values`, each counted `weights` times, whatever their order; NaN if there are none."""
    total = _sum(weights)
    return _sum(weights * values) / total if total > 0 else math.nan


def _sum(values: Float64Array) -> float:
    """The sum, with the same rounding for any order of the values."""
    return float(np.sort(values).sum())


def bootstrap_interval(
    values: Float64Array, weights: Float64Array, *, resamples: int, seed: int, threads: int
) -> Interval:
    """The middle 95 % of the means of queries drawn anew, with replacement, as many as there are."""
    if len(values) == 0:
        return Interval(math.nan, math.nan)
    means = np.empty(resamples)
    order = np.lexsort((weights, values))  # the order of the queries shall not matter
    kernels.bootstrap_means(values[order], weights[order], kernel_seed(seed), means, threads)
    low, high = np.quantile(means, [(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
    return Interval(float(low), float(high))


def normal_interval(values: Float64Array, weights: Float64Array) -> Interval:
    """The mean less and plus 1.96 standard errors; where queries have weights, the errors are those of a ratio."""
    n = len(values)
    if n < 2:
        return Interval(math.nan, math.nan)
    mean = weighted_mean(values, weights)
    spread = _sum((weights * (values - mean)) ** 2)
    error = math.sqrt(spread * n / (n - 1)) / _sum(weights)
    return Interval(mean - HALF_WIDTH * error, mean + HALF_WIDTH * error)


def kernel_seed(seed: int) -> int:
    """A 64-bit number in which every bit depends on the whole seed."""
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
