"""Tests of every system against the best one, in every metric, corrected together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.errors import InputError
from rankwright.metrics.confidence_intervals import none_unless_finite
from rankwright.metrics.evaluation import Evaluation, MetricResult
from rankwright.metrics.significance import PairedTest, holm, paired_test, wilcoxon_p_value


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
