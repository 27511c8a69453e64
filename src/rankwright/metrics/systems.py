"""Comparisons of systems on the same data: a table of metrics, and tests of the others against the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array
from rankwright.data.tabular import Tabular
from rankwright.errors import InputError, InputTypeError, require, require_type
from rankwright.metrics.convention import DEFAULT, Convention
from rankwright.metrics.evaluation import DEFAULT_METRICS, RESAMPLES, Evaluation, MetricResult, evaluate, scored_by
from rankwright.metrics.given.judged_input import judgments_of
from rankwright.metrics.given.scorers import ScoringSystem
from rankwright.metrics.registry import Metrics
from rankwright.metrics.significance import RANDOMISATIONS, PairedTest, paired_test, wilcoxon_p_value
from rankwright.tables.text import ShownTable

ALPHA = 0.05
BEST, BY_RANDOMISATION, BY_WILCOXON = "*", "r", "w"
LEGEND = (
    f"{BEST} the best; {BY_RANDOMISATION}, {BY_WILCOXON}: worse than the best by the paired randomisation test, by "
    "Wilcoxon's signed-rank test, p < {alpha:g} after Holm's correction"
)


@dataclass(frozen=True, slots=True)
class AgainstBest:
    """How a system differs from the best one in a metric.

    Attributes
    ----------
    paired : PairedTest
        The difference, its interval and the p-value of the randomisation test.
    wilcoxon : float
        The p-value of Wilcoxon's signed-rank test.
    randomisation_holm, wilcoxon_holm : float
        The two p-values after Holm's correction for how many systems are compared.
    """

    paired: PairedTest
    wilcoxon: float
    randomisation_holm: float
    wilcoxon_holm: float

    def to_dict(self) -> dict[str, Any]:
        """Return the tests as a dictionary for JSON.

        Returns
        -------
        dict
            The entries of the paired test, and the other three p-values.
        """
        return self.paired.to_dict() | {
            "wilcoxon_p_value": self.wilcoxon,
            "p_value_holm": self.randomisation_holm,
            "wilcoxon_p_value_holm": self.wilcoxon_holm,
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SystemComparison(Tabular):
    """Systems on the same data: their evaluations, the best by each metric, and how the others differ from it.

    `compare` and `compare_evaluations` make it. Print it for a table.

    Attributes
    ----------
    evaluations : mapping of str to Evaluation
        The evaluation of each system, by its name.
    best : mapping of str to str
        For each metric, the name of the best system.
    against_best : mapping of str to mapping of str to AgainstBest
        For each metric, how each other system differs from the best.
    alpha : float
        The level below which a p-value is marked.
    metrics : list of str
        The names of the metrics.
    headline, legend : str
        The lines that belong above and below the table.
    conclusion : str
        One sentence: which system is the best by the first metric, by how much, how sure that is, on how many queries.
    """

    evaluations: Mapping[str, Evaluation]
    best: Mapping[str, str]
    against_best: Mapping[str, Mapping[str, AgainstBest]]
    alpha: float

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""
        return list(self.best)

    @property
    def headline(self) -> str:
        """One line that belongs beside every number: the convention, and how many queries have nothing relevant."""
        return next(iter(self.evaluations.values())).headline

    @property
    def legend(self) -> str:
        """The meaning of the marks in the table."""
        return LEGEND.format(alpha=self.alpha)

    def marks(self, system: str, metric: str) -> str:
        """Return the marks of a cell of the table.

        Parameters
        ----------
        system, metric : str
            The names of the system and of the metric.

        Returns
        -------
        str
            `*` for the best system; for others `r` and `w` where the randomisation test and Wilcoxon's test find them
            worse, or nothing.
        """
        if self.best[metric] == system:
            return BEST
        against = self.against_best[metric][system]
        tests = {BY_RANDOMISATION: against.randomisation_holm, BY_WILCOXON: against.wilcoxon_holm}
        return "".join(mark for mark, p_value in tests.items() if p_value < self.alpha)

    def table(self) -> list[list[str]]:
        """Return the table as text.

        Returns
        -------
        list of list of str
            One row for each system, the best by the first metric first: its name, then the mean, the interval and the
            marks of each metric.
        """
        return [[system, *(self._cell(system, metric) for metric in self.metrics)] for system in self.ordered()]

    def ordered(self) -> list[str]:
        """Return the names of the systems, the best by the first metric first.

        Returns
        -------
        list of str
            Systems of equal means keep the order in which they were given.
        """
        return _best_first({system: evaluation[self.metrics[0]] for system, evaluation in self.evaluations.items()})

    def _cell(self, system: str, metric: str) -> str:
        result = self.evaluations[system][metric]
        marks = self.marks(system, metric).ljust(2)
        return f"{result.mean:.4f} ({result.interval.low:.4f} to {result.interval.high:.4f}) {marks}"

    def per_query(self) -> dict[str, Any]:
        """Return a table with one row for each query.

        Returns
        -------
        dict
            Columns by name: `query`, `documents`, and `system:metric` for each system and metric.
        """
        first = next(iter(self.evaluations.values()))
        values = {
            f"{system}:{metric}": evaluation[metric].values
            for system, evaluation in self.evaluations.items()
            for metric in self.metrics
        }
        return {"query": first.query_ids, "documents": first.groups.sizes} | values

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dictionary for JSON, as `rankwright compare --json` prints it.

        Returns
        -------
        dict
            What the evaluations share, `alpha`, `best`, and `systems` with the results and tests of each.
        """
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

    @property
    def conclusion(self) -> str:
        """One sentence: which system is the best by the first metric, by how much, how sure that is, on what."""
        return conclusion_of(self)

    def shown(self) -> ShownTable:
        """Return the table as people read it."""
        notes = [self.legend, self.conclusion]
        return ShownTable(self.headline, ["system", *self.metrics], self.table(), (), notes)

    def columns(self) -> dict[str, list[Any]]:
        """Return the means, and how each system differs from the best.

        Returns
        -------
        dict of str to list
            Columns by name, with a row for each system and metric: `system`, `metric`, `mean`, `low`, `high`,
            `queries`, `difference` from the best, and the p-values `p_value` and `wilcoxon_p_value` after Holm's
            correction; the last three are NaN for the best.
        """
        rows = [
            (system, metric, result.mean, *result.interval, result.n_queries, *self._against(system, metric))
            for system in self.ordered()
            for metric, result in self.evaluations[system].results.items()
        ]
        names = ("system", "metric", "mean", "low", "high", "queries", "difference", "p_value", "wilcoxon_p_value")
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))

    def _against(self, system: str, metric: str) -> tuple[float, float, float]:
        against = self.against_best[metric].get(system)
        if against is None:
            return (np.nan, np.nan, np.nan)
        return against.paired.difference, against.randomisation_holm, against.wilcoxon_holm


def conclusion_of(comparison: SystemComparison) -> str:
    """One plain sentence on the first metric of a comparison."""
    metric, (first, second, *_) = comparison.metrics[0], comparison.ordered()
    against = comparison.against_best[metric]
    test, p_value = against[second].paired, against[second].randomisation_holm
    on = f"on {test.queries:,} {'query' if test.queries == 1 else 'queries'}"
    if test.difference == 0:
        return f"{first} and {second} are equal in {metric} {on}."
    low, high = sorted(abs(end) if end * test.difference > 0 else -abs(end) for end in test.interval)
    by = f"by {abs(test.difference):.4f} {metric} (95 % interval {low:.4f} to {high:.4f})"
    if p_value >= comparison.alpha:
        return f"{first} is ahead of {second} {by}, but {on} that may be chance: p = {p_value:.2g}."
    sure = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"
    beaten = sum(one.randomisation_holm < comparison.alpha for one in against.values())
    of_all = f", as it is better than {beaten} of the {len(against)} others" if len(against) > 1 else ""
    return f"{first} is better than {second} {by} {on}{of_all}; that is hardly chance: {sure}."


def compare(
    systems: Mapping[str, ArrayLike | ScoringSystem],
    data: Any,
    metrics: Metrics = DEFAULT_METRICS,
    convention: str | Convention = DEFAULT,
    *,
    alpha: float = ALPHA,
    randomisations: int = RANDOMISATIONS,
    threads: int | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> SystemComparison:
    """Compare systems on the same data.

    Parameters
    ----------
    systems : mapping of str to ranker or array-like
        The systems by name, two or more: each a trained ranker, a live model of another library (a LightGBM or XGBoost
        booster, CatBoost, any object with `predict`), or scores in the row order of the data's source.
    data : RankingDataset, frame or path
        The queries with their labels.
    metrics : str, function, or a sequence of them, default ("ndcg@5", "ndcg@10", "map", "mrr")
        What to count. Systems are tested against the best by each metric; the first one orders the table.
    convention : str or Convention, default "standard"
        The rules for metrics that name no convention.
    alpha : float, default 0.05
        The level below which a corrected p-value is marked, between 0 and 1.
    randomisations : int, default 10000
        How many random swaps the randomisation test makes, 1 or more.
    threads : int, optional
        How many threads to use; `OMP_NUM_THREADS` or every core by default. It never changes the result.
    seed : int, default 0
        The seed of the intervals and of the randomisation test.
    resamples : int, default 1000
        How many times the bootstrap draws the queries anew, 1 or more.

    Returns
    -------
    SystemComparison
        Means with intervals, the best system by each metric, and tests of the others against it.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(30, seed=0)
    >>> comparison = rw.compare({"first": data.features[:, 0], "labels": data.labels}, data, ["ndcg@10"])
    >>> comparison.best
    {'ndcg@10': 'labels'}
    """
    if not isinstance(systems, Mapping):
        raise InputTypeError(f"systems must be a mapping of names to rankers or scores, got {type(systems).__name__}")
    data = judgments_of(data, with_features=any(hasattr(system, "predict") for system in systems.values()))
    evaluations = {}
    for name, system in systems.items():
        try:
            scores = scored_by(system, data, stacklevel=3) if hasattr(system, "predict") else system
            evaluations[name] = evaluate(
                scores, data, metrics, convention, threads=threads, seed=seed, resamples=resamples
            )
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    return compare_evaluations(evaluations, alpha=alpha, randomisations=randomisations)


def compare_evaluations(
    evaluations: Mapping[str, Evaluation], *, alpha: float = ALPHA, randomisations: int = RANDOMISATIONS
) -> SystemComparison:
    """Compare evaluations that were made before, of the same queries and counted the same way.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        The evaluations, two or more, by the name of what was evaluated. Other queries, metrics or conventions are
        refused.
    alpha : float, default 0.05
        The level below which a corrected p-value is marked, between 0 and 1.
    randomisations : int, default 10000
        How many random swaps the randomisation test makes, 1 or more.

    Returns
    -------
    SystemComparison
        Means with intervals, the best system by each metric, and tests of the others against it.
    """
    require_type(evaluations, Mapping, "evaluations", "a mapping of names to evaluations")
    for evaluation in evaluations.values():
        require_type(evaluation, Evaluation, "an evaluation", "what evaluate returned")
    require(0 < alpha < 1, f"alpha must lie between 0 and 1, got {alpha}")
    if len(evaluations) < 2:
        raise InputError(f"a comparison needs two systems or more, got {len(evaluations)}")
    names = list(evaluations)
    for name in names[1:]:
        _check_same(names[0], evaluations[names[0]], name, evaluations[name])
    best, against = {}, {}
    for metric in evaluations[names[0]].results:
        results = {name: evaluation[metric] for name, evaluation in evaluations.items()}
        best[metric] = _best_first(results)[0]
        if np.isnan(results[best[metric]].mean):
            raise InputError(f"no query counts for {metric}: there is nothing to compare")
        others = [name for name in names if name != best[metric]]
        tests = [paired_test(results[best[metric]], results[name], randomisations=randomisations) for name in others]
        wilcoxon = [wilcoxon_p_value(results[best[metric]], results[name]) for name in others]
        corrected = holm([test.p_value for test in tests]), holm(wilcoxon)
        against[metric] = {
            name: AgainstBest(test, p_value, float(by_random), float(by_ranks))
            for name, test, p_value, by_random, by_ranks in zip(others, tests, wilcoxon, *corrected, strict=True)
        }
    return SystemComparison(dict(evaluations), best, against, alpha)


def _best_first(results: Mapping[str, MetricResult]) -> list[str]:
    """The names of the systems by their means, the best first; those for which no query counts come last."""
    means = np.array([result.mean for result in results.values()])
    higher = next(iter(results.values())).measure.higher_is_better
    names = list(results)
    return [names[place] for place in np.argsort(-means if higher else means, kind="stable").tolist()]


def holm(p_values: Sequence[float]) -> Float64Array:
    """The p-values of several tests, corrected for the number of tests (Holm 1979)."""
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
