"""Comparisons of systems on the same data: a table of metrics, and tests of the others against the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.data.frames import Tabular
from rankwright.errors import InputError, InputTypeError, UnknownNameError, require, require_input, require_type
from rankwright.metrics.comparison.comparison_tables import tables_of
from rankwright.metrics.comparison.diff import RankingDiff, diff_lists
from rankwright.metrics.comparison.gate import Gate, check_not_worse
from rankwright.metrics.comparison.slice_comparison import SLICES, SliceComparison, compare_slices
from rankwright.metrics.comparison.verdict import ComparisonVerdict, trained_for
from rankwright.metrics.convention import DEFAULT, Convention
from rankwright.metrics.evaluation import (
    DEFAULT_METRICS,
    RESAMPLES,
    ComparedSystems,
    Evaluation,
    ScoredLists,
    evaluate_lists,
    scored_by,
)
from rankwright.metrics.evaluation_inputs import ScoringSystem, judgments_of, scores_of
from rankwright.metrics.metric_table import Metrics
from rankwright.metrics.significance import RANDOMISATIONS, AgainstBest, best_first, best_of_each, tested_against_best
from rankwright.progress.stages import announce
from rankwright.ranking.fusion import fuse as fuse_scores
from rankwright.tables.text import ShownTables

ALPHA = 0.05
BEST, BY_RANDOMISATION, BY_WILCOXON = "*", "r", "w"
LEGEND = (
    f"{BEST} the best; {BY_RANDOMISATION}, {BY_WILCOXON}: worse than the best by the paired randomisation test, by "
    "Wilcoxon's signed-rank test, p < {alpha:g} after Holm's correction for {tests}"
)


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
    material : ComparedSystems or None
        The lists of each system, which `diff` and `slice_by` look at; None where only evaluations were compared.
    aim : str or None
        The metric that all compared rankers were trained for, if it is among those compared.
    metrics : list of str
        The names of the metrics.
    headline_metric : str
        The metric that orders the table and that the conclusion begins with: `aim`, or else the first one.
    n_tests : int
        How many tests the p-values are corrected for.
    headline, legend : str
        The lines that belong above and below the table.
    verdict : ComparisonVerdict
        What all metrics say together: a headline, a sentence, and in which metrics the best system is not the best.
    conclusion : str
        The verdict's sentence: which system is the best by `headline_metric`, by how much, how sure that is, on how
        many queries, and what the other metrics say.
    """

    evaluations: Mapping[str, Evaluation]
    best: Mapping[str, str]
    against_best: Mapping[str, Mapping[str, AgainstBest]]
    alpha: float
    material: ComparedSystems | None = None
    aim: str | None = None

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics."""
        return list(self.best)

    @property
    def headline_metric(self) -> str:
        """The metric that the compared rankers were trained for, or else the first one."""
        return self.metrics[0] if self.aim is None else self.aim

    @property
    def n_tests(self) -> int:
        """How many tests the p-values are corrected for."""
        return sum(map(len, self.against_best.values()))

    @property
    def headline(self) -> str:
        """One line that belongs beside every number: the convention, and how many queries have nothing relevant."""
        return next(iter(self.evaluations.values())).headline

    @property
    def legend(self) -> str:
        """The meaning of the marks in the table."""
        return LEGEND.format(alpha=self.alpha, tests="one test" if self.n_tests == 1 else f"{self.n_tests} tests")

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
            One row for each system, the best by `headline_metric` first: its name, then the mean, the interval and the
            marks of each metric.
        """
        return [[system, *(self._cell(system, metric) for metric in self.metrics)] for system in self.ordered()]

    def ordered(self, metric: str | None = None) -> list[str]:
        """Return the names of the systems, the best first.

        Parameters
        ----------
        metric : str, optional
            The metric to order by; `headline_metric` by default.

        Returns
        -------
        list of str
            Systems of equal means keep the order in which they were given.
        """
        by = self.headline_metric if metric is None else metric
        return best_first({system: evaluation[by] for system, evaluation in self.evaluations.items()})

    def _cell(self, system: str, metric: str) -> str:
        result = self.evaluations[system][metric]
        return f"{result.mean:.4f} ({result.interval}) {self.marks(system, metric).ljust(2)}"

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
            What the evaluations share, `alpha`, `tests` (how many were corrected together), `best`, `headline_metric`,
            `conclusion`, `conflicts` (the metrics in which another system is better, beyond chance, than the best by
            `headline_metric`), and `systems` with the results and tests of each. Of a test, `p_value` and the
            interval are not corrected, and `p_value_holm` is.
        """
        first = next(iter(self.evaluations.values())).to_dict()
        shared = {name: value for name, value in first.items() if name != "metrics"}
        return shared | {
            "alpha": self.alpha,
            "tests": self.n_tests,
            "best": dict(self.best),
            "headline_metric": self.headline_metric,
            "conclusion": self.conclusion,
            "conflicts": list(self.verdict.worse),
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
    def verdict(self) -> ComparisonVerdict:
        """What all metrics say together."""
        return ComparisonVerdict.of(self)

    @property
    def conclusion(self) -> str:
        """Which system is the best, by how much, how sure that is, on what, and what the other metrics say."""
        return self.verdict.sentence

    def shown(self) -> ShownTables:
        """Return the tables as people read them."""
        return tables_of(self)

    def columns(self) -> dict[str, list[Any]]:
        """Return the means, and how each system differs from the best.

        Returns
        -------
        dict of str to list
            Columns by name, with a row for each system and metric: `system`, `metric`, `mean`, `low`, `high`,
            `queries`, `difference` from the best, the p-values `p_value`, `wilcoxon_p_value` and `t_p_value` after
            Holm's correction, the 95 % interval of the difference `difference_low` and `difference_high`, which is not
            corrected,
            `effect_size` (Cohen's d_z) and `effect` in a word, `wins`, `ties` and `losses`, the smallest `detectable`
            difference, and the `queries_needed` for this one. From `difference` on they are NaN for the best.
        """
        tested = {
            (system, metric): own.columns() for metric, of in self.against_best.items() for system, own in of.items()
        }
        best = dict.fromkeys(next(iter(tested.values())), np.nan) | {"effect": ""}
        means = ("system", "metric", "mean", "low", "high", "queries")
        rows = [
            dict(zip(means, (system, metric, result.mean, *result.interval, result.n_queries), strict=True))
            | tested.get((system, metric), best)
            for system in self.ordered()
            for metric, result in self.evaluations[system].results.items()
        ]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def slice_by(
        self,
        by: str | Sequence[str] | Mapping[str, Any] = ("documents", "relevant"),
        *,
        slices: int = SLICES,
        metrics: str | Sequence[str] | None = None,
    ) -> SliceComparison:
        """Compare the systems on slices of the queries, such as short and long lists.

        Parameters
        ----------
        by : str, sequence of str, or mapping, default ("documents", "relevant")
            What to cut the queries by: `"documents"`, the number of documents; `"relevant"`, the number with a label
            above 0; `"words"`, the number of words in the query's id, where ids are texts; or a feature of the data,
            by its mean over the query's documents. Or values by name: a value for each query, in the order of
            `per_query()["query"]`, a mapping from query ids to values, or None for what is known by the name. Texts
            of more than 12 kinds are cut by their numbers of words.
        slices : int, default 4
            How many slices of about equal size to cut numbers into, 2 or more. Numbers of so few values that each can
            have a slice of its own are not cut.
        metrics : str or sequence of str, optional
            The metrics to compare in; `headline_metric` by default.

        Returns
        -------
        SliceComparison
            In each slice, how each system differs from the one that is the best over all queries. P-values are
            corrected for all slices, systems and metrics together.
        """
        return compare_slices(self, by, slices, self._chosen(metrics))

    def _chosen(self, metrics: str | Sequence[str] | None) -> list[str]:
        """The metrics of those names, which were compared; the headline's where none is named."""
        chosen = [self.headline_metric] if metrics is None else [metrics] if isinstance(metrics, str) else list(metrics)
        for metric in chosen:
            if metric not in self.best:
                raise UnknownNameError("metric of this comparison", metric, self.best)
        return chosen

    def diff(
        self, first: str, second: str, top: int = 20, *, metric: str | None = None, depth: int = 10
    ) -> RankingDiff:
        """Show the queries that changed most from one system to another, and both lists side by side.

        Parameters
        ----------
        first, second : str
            The names of the two systems.
        top : int, default 20
            How many queries to show at most of those that the second system made worse, and of those it made better.
        metric : str, optional
            The metric that says how much a query changed; `headline_metric` by default.
        depth : int, default 10
            How many documents of each list to show.

        Returns
        -------
        RankingDiff
            The lists, the worst losses first. Print it to read them; `to_frame` has a row for each rank of each query.
        """
        for name in (first, second):
            if name not in self.evaluations:
                raise UnknownNameError("system", name, self.evaluations)
        if self.material is None:
            raise InputError("only evaluations were compared: their lists are not known")
        (chosen,) = self._chosen(metric)
        return diff_lists(self.evaluations, self.material, (first, second), chosen, top=top, depth=depth)

    def gate(
        self, allowed: Mapping[Any, float], *, old: str = "old", new: str = "new", randomisations: int = RANDOMISATIONS
    ) -> Gate:
        """Check that a new system is not worse than an old one, as a team's CI does before it takes a new model.

        Parameters
        ----------
        allowed : mapping of metric to float
            For each metric to check, how much of it the new system may lose: 0 or more. The metrics are among those
            compared.
        old, new : str, default "old" and "new"
            The names of the two systems.
        randomisations : int, default 10000
            How many random swaps the test makes, 1 or more.

        Returns
        -------
        Gate
            `passed` is False where the new system loses more than is allowed in any of the metrics, beyond chance: by
            a one-sided randomisation test at the level `alpha`, corrected for the number of metrics checked.
            `conclusion` says how sure that is. So few queries that no loss could be told from chance are refused.

        Examples
        --------
        >>> import rankwright as rw
        >>> data = rw.synthetic.web_search(30, seed=0)
        >>> found = rw.compare({"old": data.labels, "new": data.features[:, 0]}, data, ["ndcg@10"])
        >>> found.gate({"ndcg@10": 0.002}).passed
        False
        """
        for name in (old, new):
            if name not in self.evaluations:
                raise UnknownNameError("system", name, self.evaluations)
        pair = (old, self.evaluations[old]), (new, self.evaluations[new])
        return check_not_worse(*pair, allowed, self.alpha, randomisations)


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
    fuse: str | Sequence[str] = (),
) -> SystemComparison:
    """Compare systems on the same data.

    Parameters
    ----------
    systems : mapping of str to ranker or array-like
        The systems by name, two or more: each a trained ranker, a live model of another library (a LightGBM or XGBoost
        booster, CatBoost, any object with `predict`), or scores in the row order of the data's source.
    data : RankingDataset, frame or path
        The queries with their labels.
    metrics : str, function, or a sequence of them, default ("ndcg@10", "ndcg@5", "map", "mrr")
        What to count. Systems are tested against the best by each metric. The one that all rankers were trained for
        orders the table and is the headline, or else the first one.
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
    fuse : str or sequence of str, default ()
        Methods of fusion, such as `"rrf"`: for each, all systems fused are one more system, called by the method's
        name. `rankwright.fuse` has more options; what it returns can be given as a system.

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
    lists = {}
    for name, system in systems.items():
        try:
            scores = scored_by(system, data, stacklevel=3) if hasattr(system, "predict") else system
            lists[name] = ScoredLists.of_dataset(scores_of(scores, data), data)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
    in_source_order = {name: data.in_source_order(own.scores) for name, own in lists.items()}
    for method in names_of_fusions(fuse, lists):
        fused = data.from_source_order(np.asarray(fuse_scores(in_source_order, method, data=data)))
        lists[method] = replace(next(iter(lists.values())), scores=fused)
    announce("measuring")
    how: dict[str, Any] = {"threads": threads, "seed": seed, "resamples": resamples}
    evaluations = {name: evaluate_lists(own, metrics, convention, **how) for name, own in lists.items()}
    rankers = {name: system for name, system in systems.items() if hasattr(system, "predict")}
    found = compare_evaluations(evaluations, alpha=alpha, randomisations=randomisations)
    aim = trained_for(rankers, next(iter(evaluations.values())))
    return replace(found, material=ComparedSystems(lists, data, rankers), aim=aim)


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
    require_input(len(evaluations) >= 2, f"a comparison needs two systems or more, got {len(evaluations)}")
    names = list(evaluations)
    for name in names[1:]:
        _check_same(names[0], evaluations[names[0]], name, evaluations[name])
    best = best_of_each(evaluations)
    return SystemComparison(dict(evaluations), best, tested_against_best(evaluations, best, randomisations), alpha)


def names_of_fusions(methods: str | Sequence[str], systems: Mapping[str, Any]) -> list[str]:
    """The methods, whose names become those of systems."""
    names = [methods] if isinstance(methods, str) else list(dict.fromkeys(methods))
    taken = [name for name in names if name in systems]
    if taken:
        raise InputError(f"a system is called {taken[0]} already: give it another name, or leave out that fusion")
    return names


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
