"""Labels by rules that look at each pair alone: the mean, the median and the majority of its grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from rankwright.arrays import Float64Array


def mean_labels(counts: Float64Array, scale: Float64Array) -> Float64Array:
    """The mean grade; `counts` is how often each pair got each grade of the scale. NaN where there is none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(counts @ scale / counts.sum(axis=1), np.float64)


def median_labels(counts: Float64Array, scale: Float64Array) -> Float64Array:
    """The middle grade, or the mean of the two middle ones."""
    totals, passed = counts.sum(axis=1), np.cumsum(counts, axis=1)
    lower = (passed < ((totals + 1) // 2)[:, None]).sum(axis=1)
    upper = (passed < (totals // 2 + 1)[:, None]).sum(axis=1)
    last = len(scale) - 1
    middle = (scale[np.minimum(lower, last)] + scale[np.minimum(upper, last)]) / 2
    return np.where(totals > 0, middle, np.nan)


def majority_labels(counts: Float64Array, scale: Float64Array) -> Float64Array:
    """The most frequent grade, or the mean of those that are equally frequent."""
    most = counts == counts.max(axis=1, keepdims=True)
    found = most @ scale / most.sum(axis=1)
    return np.where(counts.sum(axis=1) > 0, found, np.nan)


SIMPLE_LABELS: Mapping[str, Callable[[Float64Array, Float64Array], Float64Array]] = {
    "mean": mean_labels,
    "median": median_labels,
    "majority": majority_labels,
}
