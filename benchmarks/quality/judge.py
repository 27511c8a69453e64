"""What a difference between two systems is worth: paired by query, sets weighing alike, with what chance could do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.metrics.significance import holm, randomisation_p_value

RESAMPLES = 10_000
ByQuery = Mapping[str, Float64Array]  # of each set: a value for each query


@dataclass(frozen=True, slots=True)
class Verdict:
    """A mean difference, its standard error, its 95 % interval, and how often chance alone does as much."""

    difference: float
    error: float
    low: float
    high: float
    p_value: float


def differences(ours: ByQuery, other: ByQuery) -> dict[str, Float64Array]:
    """Our value less the other's, query by query, in the sets that both have."""
    return {name: np.nan_to_num(ours[name] - other[name]) for name in ours if name in other}


def judge_set(gaps: Float64Array) -> Verdict:
    """The verdict on one set, by a bootstrap over its queries and Fisher's randomisation test."""
    means = _bootstrap(gaps)
    low, high = np.quantile(means, [0.025, 0.975])
    error = float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    return Verdict(float(gaps.mean()), error, float(low), float(high), randomisation_p_value(gaps))


def judge_pooled(gaps: Mapping[str, Float64Array]) -> Verdict:
    """The verdict on the mean over sets: queries are drawn within each set, and p comes from the same draws."""
    means = np.mean([_bootstrap(values, number) for number, values in enumerate(gaps.values())], axis=0)
    low, high = np.quantile(means, [0.025, 0.975])
    share_below = (1 + float((means <= 0).sum())) / (1 + len(means))
    error = float(np.sqrt(np.sum([values.var(ddof=1) / len(values) for values in gaps.values()]))) / len(gaps)
    middle = float(np.mean([values.mean() for values in gaps.values()]))
    return Verdict(middle, error, float(low), float(high), min(1.0, 2 * min(share_below, 1 - share_below)))


def corrected(verdicts: Sequence[Verdict]) -> list[float]:
    """The p-values after Holm's correction for so many comparisons."""
    return [float(value) for value in holm([verdict.p_value for verdict in verdicts])]


def _bootstrap(gaps: Float64Array, seed: int = 0) -> Float64Array:
    rng = np.random.default_rng([17, seed])
    counts = rng.multinomial(len(gaps), np.full(len(gaps), 1 / len(gaps)), size=RESAMPLES)
    return np.asarray(counts @ gaps / len(gaps))
