"""Tests of whether systems differ by more than chance on the same queries, and how large differences are.

An effect is a mean difference beside its spread over queries; from it follows how small a difference so many queries
could show. There `n` is a number of queries. With unequal weights it is the number of equally weighted ones that would
tell as much: (the sum of the weights)² / the sum of their squares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from rankwright import kernels
from rankwright.arrays import Float64Array
from rankwright.errors import InputError, require, require_input, require_type
from rankwright.metrics.confidence_intervals import (
    Interval,
    bootstrap_interval,
    kernel_seed,
    none_unless_finite,
    weighted_mean,
)
from rankwright.metrics.evaluation import Evaluation, MetricResult

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


def outcome_columns(test: PairedTest) -> dict[str, Any]:
    """The effect, wins, ties and losses by the names that they have as columns of tables."""
    size, counts = test.effect.size, {"wins": test.wins, "ties": test.ties, "losses": test.losses}
    return {"effect_size": size, "effect": word_of(size), **counts, "detectable": test.effect.detectable}


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
    require_input(len(differences) != 0, f"no query counts for {first.measure} in both evaluations")
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


def loss_p_value(first: MetricResult, second: MetricResult, allowed: float, *, randomisations: int) -> float:
    """The one-sided p-value that the second system is worse than the first by no more than `allowed`.

    It is the randomisation test of what each query loses beyond that.
    """
    differences, weights = _differences(first, second)
    losses = -differences if first.measure.higher_is_better else differences
    (beyond, weights), sign = _oriented(losses - allowed, weights)
    how: dict[str, Any] = {"randomisations": randomisations, "seed": first.seed, "threads": first.threads}
    # Random signs make sums that lie symmetrically around 0: each side has half of the two-sided p-value.
    half = max(randomisation_p_value(beyond * weights, **how) / 2, 1 / (1 + randomisations))
    return half if sign * weighted_mean(beyond, weights) > 0 else 1 - half


def noticed_loss(test: PairedTest, allowed: float, level: float) -> float:
    """The true loss that a one-sided test of more than `allowed` finds in 80 % of samples of so many queries."""
    free = test.queries - 1
    return allowed + float(stdtrit(free, 1 - level) + stdtrit(free, POWER)) * test.effect.standard_error


LEVEL = 0.05  # of the t-test that would be made
POWER = 0.8  # how often that test is to find the difference
ROUNDING = 1e-12  # spreads this small, as a share of the largest difference, are taken for 0
MOST_QUERIES = 10**12  # nobody can judge more
# Cohen's words for d_z, each from this value on.
WORDS = ((0.8, "large"), (0.5, "medium"), (0.2, "small"), (0.0, "tiny"))


@dataclass(frozen=True, slots=True)
class PairedEffect:
    """The spread of differences over queries, and what follows from it; NaN where there is a single query.

    Attributes
    ----------
    standard_error : float
        The standard error of the mean difference.
    t_p_value : float
        The two-sided p-value of the paired t-test.
    size : float
        Cohen's d_z: the mean difference in standard deviations of the differences. Infinite where every query differs
        by the same amount.
    detectable : float
        The smallest mean difference that a t-test at the 5 % level finds in 80 % of samples of so many queries.
    needed : int or None
        How many queries such a test needs to find a difference as large as this one; None where there is none.
    """

    standard_error: float
    t_p_value: float
    size: float
    detectable: float
    needed: int | None


def effect_of(differences: Float64Array, weights: Float64Array) -> PairedEffect:
    """The effect that differences by query show, one or more of them, all of weights above 0."""
    mean = weighted_mean(differences, weights)
    shares = weights / weights.sum()
    concentration = float(shares @ shares)
    n = 1 / concentration
    if len(differences) < 2:
        return PairedEffect(math.nan, math.nan, math.nan, math.nan, None)
    variance = float(shares @ (differences - mean) ** 2) / (1 - concentration)
    deviation = math.sqrt(variance) if math.sqrt(variance) > ROUNDING * float(abs(differences).max()) else 0.0
    error = deviation / math.sqrt(n)
    if deviation == 0:
        size = math.copysign(math.inf, mean) if mean else 0.0
        return PairedEffect(0.0, 0.0 if mean else 1.0, size, 0.0, 2 if mean else None)
    p_value = 2 * float(stdtr(n - 1, -abs(mean) / error))
    return PairedEffect(error, p_value, mean / deviation, _multiple(n) * error, queries_needed(mean / deviation))


def queries_needed(size: float) -> int | None:
    """The least number of queries on which the t-test finds an effect of this size; None where there is no effect."""
    if not size or math.isnan(size):
        return None
    enough = 2
    while _multiple(enough) / math.sqrt(enough) > abs(size):
        enough *= 2
        if enough > MOST_QUERIES:
            return None
    few = max(enough // 2, 1)  # too few, unless 2 are enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if _multiple(middle) / math.sqrt(middle) <= abs(size) else (middle, enough)
    return enough


def _multiple(n: float) -> float:
    """How many standard errors a difference must have to be found: the test's threshold, and what its power adds."""
    return float(stdtrit(n - 1, 1 - LEVEL / 2) + stdtrit(n - 1, POWER))


def word_of(size: float) -> str:
    """An effect size in a word: tiny, small, medium or large; nothing where it is unknown."""
    return "" if math.isnan(size) else next(word for least, word in WORDS if abs(size) >= least)


@dataclass(frozen=True, slots=True)
class AgainstBest:
    """How a system differs from the best one in a metric.

    Attributes
    ----------
    paired : PairedTest
        The difference, its interval, the p-value of the randomisation test, the t-test and the effect size.
    wilcoxon : float
        The p-value of Wilcoxon's signed-rank test.
    randomisation_holm, wilcoxon_holm, t_holm : float
        The p-values of the randomisation test, of Wilcoxon's and of the t-test after Holm's correction, over all
        metrics and all systems of the comparison.
    """

    paired: PairedTest
    wilcoxon: float
    randomisation_holm: float
    wilcoxon_holm: float
    t_holm: float

    def to_dict(self) -> dict[str, Any]:
        """Return the tests as a dictionary for JSON.

        Returns
        -------
        dict
            The entries of the paired test, and the other p-values.
        """
        return self.paired.to_dict() | {
            "wilcoxon_p_value": self.wilcoxon,
            "p_value_holm": self.randomisation_holm,
            "wilcoxon_p_value_holm": self.wilcoxon_holm,
            "t_p_value_holm": none_unless_finite(self.t_holm),
        }

    def columns(self) -> dict[str, Any]:
        """Return the tests by the names that they have as columns of tables.

        Returns
        -------
        dict
            The difference and its interval, the corrected p-values, the effect, wins, ties and losses.
        """
        test, needed = self.paired, self.paired.effect.needed
        return {
            "difference": test.difference,
            "p_value": self.randomisation_holm,
            "wilcoxon_p_value": self.wilcoxon_holm,
            "t_p_value": self.t_holm,
            "difference_low": test.interval.low,
            "difference_high": test.interval.high,
            **outcome_columns(test),
            "queries_needed": np.nan if needed is None else needed,
        }


def best_of_each(evaluations: Mapping[str, Evaluation]) -> dict[str, str]:
    """For each metric, the name of the system with the best mean."""
    best = {}
    for metric in next(iter(evaluations.values())).results:
        results = {name: evaluation[metric] for name, evaluation in evaluations.items()}
        best[metric] = best_first(results)[0]
        if np.isnan(results[best[metric]].mean):
            raise InputError(f"no query counts for {metric}: there is nothing to compare")
    return best


def tested_against_best(
    evaluations: Mapping[str, Evaluation], best: Mapping[str, str], randomisations: int
) -> dict[str, dict[str, AgainstBest]]:
    """For each metric, how each other system differs from the best; one family of tests for Holm's correction."""
    pairs = [(metric, name) for metric in best for name in evaluations if name != best[metric]]
    tests, by_ranks = [], []
    for metric, name in pairs:
        first, second = evaluations[best[metric]][metric], evaluations[name][metric]
        tests.append(paired_test(first, second, randomisations=randomisations))
        by_ranks.append(wilcoxon_p_value(first, second))
    p_values = ([test.p_value for test in tests], by_ranks, [test.effect.t_p_value for test in tests])
    corrected = zip(*(holm(own).tolist() for own in p_values), strict=True)
    found: dict[str, dict[str, AgainstBest]] = {metric: {} for metric in best}
    for (metric, name), test, p_value, own in zip(pairs, tests, by_ranks, corrected, strict=True):
        found[metric][name] = AgainstBest(test, p_value, *own)
    return found


def best_first(results: Mapping[str, MetricResult]) -> list[str]:
    """The names of the systems by their means, the best first; those for which no query counts come last."""
    means = np.array([result.mean for result in results.values()])
    higher = next(iter(results.values())).measure.higher_is_better
    names: Sequence[str] = list(results)
    return [names[place] for place in np.argsort(-means if higher else means, kind="stable").tolist()]
