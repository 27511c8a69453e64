"""Several systems on the same data: one table of metrics, and whether the others differ from the best by chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.metrics.convention import DEFAULT, Convention
from rankwright.metrics.evaluation import DEFAULT_METRICS, RESAMPLES, Evaluation, evaluate
from rankwright.metrics.significance import RANDOMISATIONS, PairedTest, paired_test, wilcoxon_p_value

ALPHA = 0.05
BEST, BY_RANDOMISATION, BY_WILCOXON = "*", "r", "w"
LEGEND = (
    f"{BEST} the best; {BY_RANDOMISATION}, {BY_WILCOXON}: worse than the best by the paired randomisation test, by "
    "Wilcoxon's signed-rank test, p < {alpha:g} after Holm's correction"
)


class Scorer(Protocol):
    """Anything that scores documents: a trained ranker."""

    def predict(self, X: Any) -> Float64Array:
        """A score for each document, in the caller's row order."""


@dataclass(frozen=True, slots=True)
class AgainstBest:
    """How a system differs from the best one in a metric; p-values are Holm's, over all systems of the table."""

    paired: PairedTest
    wilcoxon: float
    randomisation_holm: float
    wilcoxon_holm: float

    def to_dict(self) -> dict[str, Any]:
        """The test as JSON has it."""
        return self.paired.to_dict() | {
            "wilcoxon_p_value": self.wilcoxon,
            "p_value_holm": self.randomisation_holm,
            "wilcoxon_p_value_holm": self.wilcoxon_holm,
        }


@dataclass(frozen=True, slots=True, eq=False)
class SystemComparison:
    """The evaluations of systems, by name, and for each metric the best of them and how each other differs from it."""

    evaluations: Mapping[str, Evaluation]
    best: Mapping[str, str]  # by metric
    against_best: Mapping[str, Mapping[str, AgainstBest]]  # by metric, then by system
    alpha: float

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""
        return list(self.best)

    @property
    def headline(self) -> str:
        """What must stand beside every number."""
        return next(iter(self.evaluations.values())).headline

    @property
    def legend(self) -> str:
        """What the marks of the table mean."""
        return LEGEND.format(alpha=self.alpha)

    def marks(self, system: str, metric: str) -> str:
        """The marks of a cell: the best, or by which tests it is worse."""
        if self.best[metric] == system:
            return BEST
        against = self.against_best[metric][system]
        tests = {BY_RANDOMISATION: against.randomisation_holm, BY_WILCOXON: against.wilcoxon_holm}
        return "".join(mark for mark, p_value in tests.items() if p_value < self.alpha)

    def table(self) -> list[list[str]]:
        """A row a system, the best by the first metric first: its name, and each metric's mean, interval and marks."""
        return [
            [system, *(self._cell(system, self.evaluations[system], metric) for metric in self.metrics)]
            for system in self.ordered()
        ]

    def ordered(self) -> list[str]:
        """The systems' names, the best by the first metric first; those of equal means as they were given."""
        results = {system: evaluation[self.metrics[0]] for system, evaluation in self.evaluations.items()}
        means = np.array([result.mean for result in results.values()])
        higher = next(iter(results.values())).measure.higher_is_better
        names = list(results)
        return [names[place] for place in np.argsort(-means if higher else means, kind="stable").tolist()]

    def _cell(self, system: str, evaluation: Evaluation, metric: str) -> str:
        result = evaluation[metric]
        marks = self.marks(system, metric).ljust(2)
        return f"{result.mean:.4f} ({result.interval.low:.4f} to {result.interval.high:.4f}) {marks}"

    def per_query(self) -> dict[str, Any]:
        """A table with a row a query: its id, its number of documents, each system's value of each metric."""
        first = next(iter(self.evaluations.values()))
        values = {
            f"{system}:{metric}": evaluation[metric].values
            for system, evaluation in self.evaluations.items()
            for metric in self.metrics
        }
        return {"query": first.query_ids, "documents": first.groups.sizes} | values

    def to_dict(self) -> dict[str, Any]:
        """The comparison as `rankwright compare --json` prints it."""
        first = next(iter(self.evaluations.values())).to_dict()
        shared = {name: value for name, value in first.items() if name != "metrics"}
        return shared | {
            "alpha": self.alpha,
            "best": dict(self.best),
            "systems": {
                system: {
                    metric: result.to_dict() | self._tests_of(system, metric)
                    for metric, result in evaluation.results.items()
                }
                for system, evaluation in self.evaluations.items()
            },
        }

    def _tests_of(self, system: str, metric: str) -> dict[str, Any]:
        against = self.against_best[metric].get(system)
        return {"marks": self.marks(system, metric), "against_best": None if against is None else against.to_dict()}

    def __str__(self) -> str:
        rows = [["", *self.metrics], *self.table()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([self.headline, *lines, self.legend])


def compare(
    systems: Mapping[str, ArrayLike | Scorer],
    data: RankingDataset,
    metrics: Sequence[str] = DEFAULT_METRICS,
    convention: str | Convention = DEFAULT,
    *,
    alpha: float = ALPHA,
    randomisations: int = RANDOMISATIONS,
    threads: int | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> SystemComparison:
    """The comparison of systems, by name, on `data`: each a trained ranker, or scores in the caller's row order."""
    evaluations = {}
    for name, system in systems.items():
        try:
            scores = system.predict(data) if hasattr(system, "predict") else system
            evaluations[name] = evaluate(
                scores, data, metrics, convention, threads=threads, seed=seed, resamples=resamples
            )
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    return compare_evaluations(evaluations, alpha=alpha, randomisations=randomisations)


def compare_evaluations(
    evaluations: Mapping[str, Evaluation], *, alpha: float = ALPHA, randomisations: int = RANDOMISATIONS
) -> SystemComparison:
    """The comparison of evaluations, by the name of what was evaluated: of the same queries, counted the same way."""
    require(0 < alpha < 1, f"alpha must lie between 0 and 1, got {alpha}")
    if len(evaluations) < 2:
        raise InputError(f"a comparison needs two systems or more, got {len(evaluations)}")
    names = list(evaluations)
    for name in names[1:]:
        _check_same(names[0], evaluations[names[0]], name, evaluations[name])
    best, against = {}, {}
    for metric in evaluations[names[0]].results:
        results = {name: evaluation[metric] for name, evaluation in evaluations.items()}
        means = np.array([result.mean for result in results.values()])
        if np.isnan(means).all():
            raise InputError(f"no query counts for {metric}: there is nothing to compare")
        higher = next(iter(results.values())).measure.higher_is_better
        best[metric] = names[int(np.nanargmax(means if higher else -means))]
        others = [name for name in names if name != best[metric]]
        tests = [paired_test(results[best[metric]], results[name], randomisations=randomisations) for name in others]
        wilcoxon = [wilcoxon_p_value(results[best[metric]], results[name]) for name in others]
        corrected = holm([test.p_value for test in tests]), holm(wilcoxon)
        against[metric] = {
            name: AgainstBest(test, p_value, float(by_random), float(by_ranks))
            for name, test, p_value, by_random, by_ranks in zip(others, tests, wilcoxon, *corrected, strict=True)
        }
    return SystemComparison(dict(evaluations), best, against, alpha)


def holm(p_values: Sequence[float]) -> Float64Array:
    """The p-values of several tests, corrected for how many they are (Holm 1979)."""
    given = np.asarray(p_values, np.float64)
    order = np.argsort(given, kind="stable")
    corrected = np.empty_like(given)
    corrected[order] = np.minimum(np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1)), 1.0)
    return corrected


def _check_same(first: str, one: Evaluation, second: str, other: Evaluation) -> None:
    """Raise where two evaluations are not of the same queries, or are counted differently."""
    if one.convention != other.convention:
        raise InputError(
            f"{first} was evaluated under convention {one.convention.name}, {second} under {other.convention.name}: "
            f"only numbers of one convention can be compared"
        )
    if list(one.results) != list(other.results):
        raise InputError(f"{first} has the metrics {', '.join(one.results)}, {second} has {', '.join(other.results)}")
    if one.n_queries != other.n_queries:
        raise InputError(f"{first} was evaluated on {one.n_queries} queries, {second} on {other.n_queries}")
    same = np.asarray(one.query_ids) == np.asarray(other.query_ids)
    same &= one.groups.sizes == other.groups.sizes
    if not same.all():
        query = int(np.flatnonzero(~same)[0])
        raise InputError(
            f"{first} and {second} were evaluated on different data: query number {query} is {one.query_ids[query]} "
            f"with {one.groups.sizes[query]} documents for one, {other.query_ids[query]} with "
            f"{other.groups.sizes[query]} for the other"
        )
    if one.nothing_relevant != other.nothing_relevant:
        raise InputError(
            f"{first} and {second} were evaluated on different labels: {one.nothing_relevant} and "
            f"{other.nothing_relevant} queries have nothing relevant"
        )
