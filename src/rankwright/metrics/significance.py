"""Tests of whether two systems differ by more than chance on the same queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array
from rankwright.errors import InputError, require, require_type
from rankwright.metrics.comparison.effects import ROUNDING, PairedEffect, effect_of, word_of
from rankwright.metrics.confidence_intervals import (
    Interval,
    bootstrap_interval,
    kernel_seed,
    none_unless_finite,
    weighted_mean,
)
from rankwright.metrics.evaluation import MetricResult

RANDOMISATIONS = 10_000


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
    effect : PairedEffect
        The paired t-test, the effect size, and how many queries it takes to be sure.
    ties : int
        On how many queries both are equal.
    """

    metric: str
    difference: float
    interval: Interval
    p_value: float
    wins: int
    losses: int
    queries: int
    effect: PairedEffect

    @property
    def ties(self) -> int:
        """On how many queries both are equal."""
        return self.queries - self.wins - self.losses

    def to_dict(self) -> dict[str, Any]:
        """Return the test as a dictionary for JSON.

        Returns
        -------
        dict
            The attributes, with the interval as `low` and `high`, and those of the effect by names of their own. What
            cannot be computed is None.
        """
        effect = self.effect
        return {
            "metric": self.metric,
            "difference": self.difference,
            "low": self.interval.low,
            "high": self.interval.high,
            "p_value": self.p_value,
            "wins": self.wins,
            "losses": self.losses,
            "queries": self.queries,
            "ties": self.ties,
            "standard_error": none_unless_finite(effect.standard_error),
            "t_p_value": none_unless_finite(effect.t_p_value),
            "effect_size": none_unless_finite(effect.size),
            "effect": word_of(effect.size) or None,
            "detectable": none_unless_finite(effect.detectable),
            "queries_needed": effect.needed,
        }


def holm(p_values: Sequence[float]) -> Float64Array:
    """The p-values of several tests, corrected for the number of tests (Holm 1979); a NaN is no test, and stays."""
    given = np.asarray(p_values, np.float64)
    order = np.argsort(given, kind="stable")[: int((~np.isnan(given)).sum())]  # NaN comes last
    corrected = np.full_like(given, np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(given[order] * np.arange(len(order), 0, -1)), 1.0)
    return corrected


def standard_error(first: MetricResult, second: MetricResult) -> float:
    """The standard error of two systems' mean difference over the queries that count for both; 0 for a single query."""
    differences, weights = _differences(first, second)
    return effect_of(differences, weights).standard_error if len(differences) > 1 else 0.0


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
        The second's mean less the first's, its 95 % bootstrap interval, the p-value, wins and losses of the second by
        query, and how large the difference is beside its spread. The order of the queries does not matter, and
        exchanging the two systems flips every sign.

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
    oriented, sign = _oriented(differences, weights)
    found = _tested(first.measure.name, *oriented, first, randomisations)
    wins, losses = (found.wins, found.losses)[:: sign if first.measure.higher_is_better else -sign]
    return replace(found if sign == 1 else _turned(found), wins=wins, losses=losses)


def _turned(test: PairedTest) -> PairedTest:
    """The same test with all signs flipped."""
    low, high = test.interval
    effect = replace(test.effect, size=-test.effect.size)
    return replace(test, difference=-test.difference, interval=Interval(0.0 - high, 0.0 - low), effect=effect)


def _tested(
    metric: str, differences: Float64Array, weights: Float64Array, like: MetricResult, randomisations: int
) -> PairedTest:
    """The test of differences, of which those above 0 are wins; seeds and resamples are those of `like`."""
    how: dict[str, Any] = {"seed": like.seed, "threads": like.threads}
    return PairedTest(
        metric=metric,
        difference=weighted_mean(differences, weights),
        interval=bootstrap_interval(differences, weights, resamples=like.resamples, **how),
        p_value=randomisation_p_value(differences * weights, randomisations=randomisations, **how),
        wins=int((differences > 0).sum()),
        losses=int((differences < 0).sum()),
        queries=len(differences),
        effect=effect_of(differences, weights),
    )


def _differences(first: MetricResult, second: MetricResult) -> tuple[Float64Array, Float64Array]:
    """The second's value less the first's, and the weight, of each query that counts for both."""
    counted = ~np.isnan(first.values) & ~np.isnan(second.values) & (first.weights > 0)
    return (second.values - first.values)[counted], first.weights[counted]


def _oriented(differences: Float64Array, weights: Float64Array) -> tuple[tuple[Float64Array, Float64Array], int]:
    """The differences and weights in sorted order, and the sign, 1 or -1, that they were multiplied by.

    What is drawn and summed then is the same whatever the order of the queries, and whichever system came first.
    """
    there, back = (_sorted(sign * differences, weights) for sign in (1, -1))
    first_apart = np.flatnonzero((there[0] != back[0]) | (there[1] != back[1]))
    if weighted_mean(*there) != weighted_mean(*back):
        forwards = weighted_mean(*there) > weighted_mean(*back)
    elif len(first_apart):
        place = first_apart[0]
        forwards = (there[0][place], there[1][place]) > (back[0][place], back[1][place])
    else:
        forwards = True
    return (there, 1) if forwards else (back, -1)


def _sorted(differences: Float64Array, weights: Float64Array) -> tuple[Float64Array, Float64Array]:
    order = np.lexsort((weights, differences))
    return differences[order] + 0.0, weights[order]  # -0.0 becomes 0.0


def randomisation_p_value(
    differences: Float64Array, *, randomisations: int = RANDOMISATIONS, seed: int = 0, threads: int = 1
) -> float:
    """The share of random swaps of two systems' values, the real values among them, that differ as much."""
    sums = np.empty(randomisations)
    kernels.random_sign_sums(differences, kernel_seed(seed), sums, threads)
    # Sums this close to what was observed are taken for equal to it.
    observed = abs(float(np.cumsum(differences)[-1])) - ROUNDING * float(np.abs(differences).sum())
    return (1 + int((np.abs(sums) >= observed).sum())) / (1 + randomisations)
