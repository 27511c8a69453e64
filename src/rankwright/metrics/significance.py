"""Tests of whether two systems differ by more than chance on the same queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array
from rankwright.errors import InputError, require, require_type
from rankwright.metrics.evaluation import MetricResult
from rankwright.metrics.intervals import Interval, bootstrap_interval, kernel_seed, weighted_mean

RANDOMISATIONS = 10_000
ROUNDING = 1e-12  # sums this close, as a share of the largest there could be, are taken for equal


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The difference of two systems in one metric, over the queries that count for both.

    Attributes
    ----------
    metric : str
        The name of the metric, with its convention.
    difference : float
        The second system's mean less the first's.
    interval : Interval
        The 95 % bootstrap interval of the difference, by query.
    p_value : float
        The two-sided p-value of Fisher's randomisation test: how often chance alone gives as large a difference.
    wins, losses : int
        On how many queries the second system is better, and worse.
    queries : int
        How many queries count for both.
    """

    metric: str
    difference: float
    interval: Interval
    p_value: float
    wins: int
    losses: int
    queries: int

    def to_dict(self) -> dict[str, Any]:
        """Return the test as a dictionary for JSON.

        Returns
        -------
        dict
            The attributes, with the interval as `low` and `high`.
        """
        return {
            "metric": self.metric,
            "difference": self.difference,
            "low": self.interval.low,
            "high": self.interval.high,
            "p_value": self.p_value,
            "wins": self.wins,
            "losses": self.losses,
            "queries": self.queries,
        }


def standard_error(first: MetricResult, second: MetricResult) -> float:
    """The standard error of two systems' mean difference over the queries that count for both; 0 for a single query."""
    differences, weights = _differences(first, second)
    if len(differences) < 2:
        return 0.0
    shares = weights / weights.sum()
    spread = shares @ (differences - shares @ differences) ** 2
    return float(np.sqrt(spread * (shares @ shares) / (1 - shares @ shares)))


def wilcoxon_p_value(first: MetricResult, second: MetricResult) -> float:
    """The p-value of Wilcoxon's signed-rank test, two-sided, over the queries that count for both.

    Queries with equal values are left out; where all are equal it is 1. Query weights do not count.
    """
    from scipy.stats import wilcoxon

    differences, _ = _differences(first, second)
    differences = differences[np.abs(differences) > ROUNDING]
    return float(wilcoxon(differences).pvalue) if len(differences) else 1.0


def paired_test(first: MetricResult, second: MetricResult, *, randomisations: int = RANDOMISATIONS) -> PairedTest:
    """Test whether two systems differ by more than chance in one metric: the second less the first.

    Parameters
    ----------
    first, second : MetricResult
        The system to start from and the one to compare with it: `difference` is above 0 where the second has the
        larger mean, and `wins` counts the queries for which the second is better. Both are results of the same measure
        over the same queries in the same order, such as `evaluation["ndcg@10"]` of two evaluations.
    randomisations : int, default 10000
        How many random swaps of the two systems Fisher's test makes, 1 or more. The smallest p-value is one over one
        more than this number.

    Returns
    -------
    PairedTest
        The second's mean less the first's, its 95 % bootstrap interval, the p-value, and wins and losses of the second
        by query.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[0.0]] * 4, [1, 0, 1, 0], group=[2, 2])
    >>> first, second = (rw.evaluate(scores, data)["mrr"] for scores in ([0, 1, 0, 1], [1, 0, 0, 1]))
    >>> test = rw.paired_test(first, second)
    >>> test.difference, test.wins, test.losses
    (0.25, 1, 0)
    """
    for result in (first, second):
        require_type(result, MetricResult, "a result", "one of evaluate, such as evaluation['ndcg@10']")
    require(randomisations >= 1, f"randomisations must be 1 or more, got {randomisations}")
    if first.measure != second.measure or len(first.values) != len(second.values):
        raise InputError(
            f"only the same measure over the same queries can be compared, got {first.measure} of "
            f"{len(first.values)} queries and {second.measure} of {len(second.values)}"
        )
    differences, weights = _differences(first, second)
    if len(differences) == 0:
        raise InputError(f"no query counts for {first.measure} in both evaluations")
    better = differences if first.measure.higher_is_better else -differences
    return PairedTest(
        metric=first.measure.name,
        difference=weighted_mean(differences, weights),
        interval=bootstrap_interval(
            differences, weights, resamples=first.resamples, seed=first.seed, threads=first.threads
        ),
        p_value=randomisation_p_value(
            differences * weights, randomisations=randomisations, seed=first.seed, threads=first.threads
        ),
        wins=int((better > 0).sum()),
        losses=int((better < 0).sum()),
        queries=len(differences),
    )


def _differences(first: MetricResult, second: MetricResult) -> tuple[Float64Array, Float64Array]:
    """The second's value less the first's, and the weight, of each query that counts for both."""
    counted = ~np.isnan(first.values) & ~np.isnan(second.values) & (first.weights > 0)
    return (second.values - first.values)[counted], first.weights[counted]


def randomisation_p_value(
    differences: Float64Array, *, randomisations: int = RANDOMISATIONS, seed: int = 0, threads: int = 1
) -> float:
    """The share of random swaps of two systems' values, the real values among them, that differ as much."""
    sums = np.empty(randomisations)
    kernels.random_sign_sums(differences, kernel_seed(seed), sums, threads)
    observed = abs(float(np.cumsum(differences)[-1])) - ROUNDING * float(np.abs(differences).sum())
    return (1 + int((np.abs(sums) >= observed).sum())) / (1 + randomisations)
