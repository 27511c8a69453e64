"""Evaluations of scores: means, intervals and values by query, always with the convention they were counted under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, Float64Array, IdArray, IntArray, as_scores, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Tabular
from rankwright.data.groups import Groups
from rankwright.data.side_columns import Side
from rankwright.errors import InputError, InputTypeError, require
from rankwright.metrics.confidence_intervals import (
    Interval,
    bootstrap_interval,
    none_unless_finite,
    normal_interval,
    weighted_mean,
)
from rankwright.metrics.convention import DEFAULT, Convention, ScorePrecision, as_convention
from rankwright.metrics.evaluation_inputs import check_no_data, judgments_of, predicted_by, scores_of
from rankwright.metrics.judgment_metrics import JudgmentMetric, Subtopics
from rankwright.metrics.metric import FunctionMetric, settle
from rankwright.metrics.metric_table import Measure, Metrics, as_measure, split_metrics
from rankwright.progress.stages import announce
from rankwright.ranking.order import Ranking, rank_checked
from rankwright.tables.text import ShownTable, counted

DEFAULT_METRICS = ("ndcg@10", "ndcg@5", "map", "mrr")  # the first is what rankers are trained for by default
RESAMPLES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class ScoredLists:
    """Scores and judgments of the same rows, wherever they came from.

    The first `n_ranked` rows of each query were retrieved; all of them where it is None.
    """

    scores: Float64Array
    labels: Float32Array
    groups: Groups
    n_ranked: IntArray | None = None
    document_ids: IdArray | None = None
    query_ids: IdArray | None = None
    query_weights: Float64Array | None = None
    subtopics: Subtopics | None = None
    side: Side | None = None

    @classmethod
    def of_dataset(cls, scores: ArrayLike, data: RankingDataset) -> ScoredLists:
        """Scores in the caller's row order, together with the labels, ids and weights of a dataset."""
        if data.labels is None:
            raise InputError("this data has no labels to evaluate against")
        return cls(
            scores=data.from_source_order(as_scores(scores, length=data.n_docs)),
            labels=data.labels,
            groups=data.groups,
            document_ids=data.document_ids,
            query_ids=data.query_ids,
            query_weights=None if data.query_weights is None else data.query_weights.astype(np.float64),
            side=data.side,
        )

    def ranking(self, precision: ScorePrecision, threads: int) -> Ranking:
        """The lists by score, ties in input order."""
        scores = self.scores
        if precision is ScorePrecision.SINGLE:
            with np.errstate(over="ignore"):  # beyond single precision all are infinite, and tied
                scores = scores.astype(np.float32).astype(np.float64)
        return rank_checked(scores, self.groups, self.n_ranked, threads)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSystems:
    """The scored lists of each system by its name; their queries are the same, in the same order."""

    lists: Mapping[str, ScoredLists]
    data: RankingDataset | None = None
    rankers: Mapping[str, Any] = field(default_factory=dict)  # those systems that score documents by themselves


@dataclass(frozen=True, eq=False, repr=False)
class MetricResult:
    """The values of one metric on many queries.

    Attributes
    ----------
    measure : Measure
        The metric and its convention.
    values : numpy.ndarray
        One value for each query; NaN where the query does not count.
    weights : numpy.ndarray
        The weight of each query in the mean.
    mean, interval, normal_interval, n_queries
        The weighted mean, its 95 % intervals, and how many queries count; computed when first asked for.
    seed, resamples, threads : int
        How the bootstrap interval is computed.
    """

    measure: Measure
    values: Float64Array
    weights: Float64Array
    seed: int
    resamples: int
    threads: int

    @cached_property
    def _counted(self) -> tuple[Float64Array, Float64Array]:
        counts = ~np.isnan(self.values) & (self.weights > 0)
        return self.values[counts], self.weights[counts]

    @property
    def n_queries(self) -> int:
        """The number of queries that count."""
        return len(self._counted[0])

    @cached_property
    def mean(self) -> float:
        """The weighted mean over the queries that count; NaN where none does."""
        return weighted_mean(*self._counted)

    @cached_property
    def interval(self) -> Interval:
        """The 95 % bootstrap interval of the mean."""
        return bootstrap_interval(*self._counted, resamples=self.resamples, seed=self.seed, threads=self.threads)

    @cached_property
    def normal_interval(self) -> Interval:
        """The 95 % interval of the mean under the normal approximation."""
        return normal_interval(*self._counted)

    def __repr__(self) -> str:
        interval = f"95 % interval {self.interval}"
        return f"MetricResult({self.measure}: {self.mean:.4f}, {interval}, {counted(self.n_queries, 'query')})"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON; what cannot be computed is None.

        Returns
        -------
        dict
            `mean`, `low` and `high` of the bootstrap interval, `queries`, and `normal` with the other interval.
        """
        others = {"queries": self.n_queries, "normal": self.normal_interval.to_dict()}
        return {"mean": none_unless_finite(self.mean)} | self.interval.to_dict() | others


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(Tabular):
    """The metrics of one set of scores, and the convention they were counted under.

    `evaluate` makes it. Print it for a table; `evaluation["ndcg@10"]` is the result of one metric.

    Attributes
    ----------
    convention : Convention
        The convention of the metrics that name none of their own.
    results : mapping of str to MetricResult
        The result of each metric, with `mean`, `interval`, `normal_interval`, `values` and `n_queries`. A metric with
        a convention of its own has it in its name.
    groups : Groups
        Where the documents of each query lie.
    query_ids : numpy.ndarray
        The id of each query.
    nothing_relevant : int
        How many queries have no label above 0.
    weighted : bool
        Whether the means use query weights.
    n_queries : int
        How many queries there are.
    headline : str
        One line that belongs beside every number: the convention, and how many queries have nothing relevant.
    """

    convention: Convention
    results: Mapping[str, MetricResult]
    groups: Groups
    query_ids: IdArray
    nothing_relevant: int
    weighted: bool

    @property
    def n_queries(self) -> int:
        """The number of queries."""
        return self.groups.n_queries

    def __getitem__(self, metric: str) -> MetricResult:
        """Return the result of the metric of that name."""
        if metric not in self.results:
            raise KeyError(f"{metric!r} was not evaluated; there are {', '.join(self.results)}")
        return self.results[metric]

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as a dictionary for JSON, as `rankwright evaluate --json` prints it.

        Returns
        -------
        dict
            The convention's name, the numbers of queries and documents, and `metrics` with the result of each metric.
        """
        return {
            "convention": self.convention.name,
            "queries": self.n_queries,
            "documents": self.groups.n_docs,
            "nothing_relevant": self.nothing_relevant,
            "weighted": self.weighted,
            "metrics": {name: result.to_dict() for name, result in self.results.items()},
        }

    def per_query(self) -> dict[str, Any]:
        """Return a table with one row for each query.

        Returns
        -------
        dict
            Columns by name: `query` with the ids, `documents` with the lengths of the lists, and one column for each
            metric, NaN where the query does not count. `pandas.DataFrame(evaluation.per_query())` reads it.
        """
        values = {name: result.values for name, result in self.results.items()}
        return {"query": self.query_ids, "documents": self.groups.sizes} | values

    @property
    def headline(self) -> str:
        """One line that belongs beside every number: the convention, and how many queries have nothing relevant."""
        weights = ", weighted" if self.weighted else ""
        return (
            f"convention {self.convention}: {counted(self.n_queries, 'query')}{weights}, "
            f"{self.nothing_relevant} with nothing relevant; {counted(self.groups.n_docs, 'document')}"
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the means and their 95 % intervals.

        Returns
        -------
        dict of str to list
            Columns by name: `metric`, `mean`, `low`, `high`, `queries`.
        """
        results = self.results.values()
        return {
            "metric": list(self.results),
            "mean": [result.mean for result in results],
            "low": [result.interval.low for result in results],
            "high": [result.interval.high for result in results],
            "queries": [result.n_queries for result in results],
        }

    def shown(self) -> ShownTable:
        """Return the table as people read it."""
        rows = [
            [name, f"{result.mean:.4f}", str(result.interval), str(result.n_queries)]
            for name, result in self.results.items()
        ]
        names = ["metric", "mean", "95 % interval", "queries"]
        return ShownTable(self.headline, names, rows, names[1:])


def evaluate(
    scores: Any,
    data: Any = None,
    metrics: Metrics = DEFAULT_METRICS,
    convention: str | Convention = DEFAULT,
    *,
    labels: Any = None,
    qid: Any = None,
    group: Any = None,
    threads: int | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Evaluation:
    """Evaluate scores against labels.

    Parameters
    ----------
    scores : array-like of shape (n_docs,), ranker, model or str
        One score for each document, in the row order in which the data was given; higher is better. Or what gives
        them: a trained ranker, or a live model of another library with `predict`; or the name of the frame's column
        that has the scores.
    data : RankingDataset, frame or path, optional
        The queries with their labels. Where it has query weights, the means use them. Without it, give `labels` and
        `qid`.
    metrics : str, Metric, Measure, function, or a sequence of them, default ("ndcg@10", "ndcg@5", "map", "mrr")
        What to count. A name may carry a convention of its own, such as `"ndcg@10:letor"`; `rankwright list metrics`
        prints the names. A function is called with the labels and the scores of each query, and returns its value.
    convention : str or Convention, default "standard"
        The rules for metrics that name no convention: `"letor"`, or `"standard(gain=linear)"`. Choose that of the tool
        whose numbers you compare yours with.
    labels : array-like of shape (n_docs,), or str, optional
        A label for each score where there is no `data`, or the name of the frame's column of labels.
    qid : array-like of shape (n_docs,), or str, optional
        The query id of each score, or the name of the frame's column of query ids.
    group : array-like of int, optional
        Instead of `qid`, how many documents each query has, if those of a query are next to each other.
    threads : int, optional
        How many threads to use; `OMP_NUM_THREADS` or every core by default. It never changes the result.
    seed : int, default 0
        The seed of the bootstrap intervals.
    resamples : int, default 1000
        How many times the bootstrap draws the queries anew, 1 or more. More give steadier ends of the intervals.

    Returns
    -------
    Evaluation
        The mean, the 95 % interval and the values by query of each metric.

    Examples
    --------
    >>> import rankwright as rw
    >>> labels, qid = [2, 0, 1, 0, 1], ["a", "a", "a", "b", "b"]
    >>> evaluation = rw.evaluate([0.9, 0.8, 0.1, 0.7, 0.6], labels=labels, qid=qid, metrics=["ndcg@10", "mrr"])
    >>> evaluation["mrr"].values  # the first relevant document is first for one query, second for the other
    array([1. , 0.5])
    >>> round(evaluation["mrr"].mean, 2)
    0.75
    """
    # Before anything is read, so that wrong names are reported first.
    measures = measures_of(metrics, as_convention(convention))
    check_no_data(scores)
    is_ranker = hasattr(scores, "predict")
    judged = judgments_of(data, labels, qid, group, with_features=is_ranker)
    if is_ranker:
        scores = scored_by(scores, judged, stacklevel=3)
    announce("measuring")
    lists = ScoredLists.of_dataset(scores_of(scores, data), judged)
    return evaluate_lists(lists, measures, convention, threads=threads, seed=seed, resamples=resamples)


def scored_by(ranker: Any, data: RankingDataset, *, stacklevel: int = 2) -> Float64Array:
    """A ranker's scores of documents; it warns if it was trained on them."""
    if hasattr(ranker, "warn_if_seen"):
        ranker.warn_if_seen(data, stacklevel=stacklevel)
    scores: Float64Array = predicted_by(ranker, data)
    return scores


def evaluate_lists(
    lists: ScoredLists,
    metrics: Metrics,
    convention: str | Convention,
    *,
    threads: int | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Evaluation:
    """The evaluation of scored lists, which need not come from a dataset."""
    wanted = f"resamples must be 1 or more, got {resamples!r}"
    require(isinstance(resamples, int | np.integer) and resamples >= 1, wanted)
    chosen = as_convention(convention)
    measures = measures_of(metrics, chosen)
    n_threads = thread_count(threads)
    n_queries = lists.groups.n_queries
    weights = np.ones(n_queries) if lists.query_weights is None else lists.query_weights
    values = _all_values(lists, measures, n_threads)
    return Evaluation(
        convention=chosen,
        results={
            measure.metric.name if measure.convention == chosen else measure.name: MetricResult(
                measure, values[measure], weights, seed, resamples, n_threads
            )
            for measure in measures
        },
        groups=lists.groups,
        query_ids=np.arange(n_queries) if lists.query_ids is None else lists.query_ids,
        nothing_relevant=_count_nothing_relevant(lists.labels, lists.groups),
        weighted=lists.query_weights is not None,
    )


def measures_of(metrics: Any, convention: Convention) -> list[Measure]:
    """The measures that are named or given, one or several; a text may name several, separated by commas."""
    if isinstance(metrics, str):
        metrics = split_metrics(metrics)
    elif isinstance(metrics, Measure) or callable(metrics) or hasattr(metrics, "per_query"):
        metrics = [metrics]
    elif not isinstance(metrics, Iterable):
        raise InputTypeError(f"metrics must be names such as 'ndcg@10', got {metrics!r}")
    measures = [as_measure(metric, convention) for metric in metrics]
    require(bool(measures), "metrics names no metric")
    return measures


def _all_values(lists: ScoredLists, measures: Sequence[Measure], threads: int) -> dict[Measure, Float64Array]:
    """The values by query of each measure; measures that see the same lists share the work of making them."""
    rankings: dict[ScorePrecision, Ranking] = {}
    settled: dict[tuple[object, ...], tuple[Ranking, Float32Array]] = {}
    values: dict[Measure, Float64Array] = {}
    for measure in measures:
        rules = measure.convention
        if isinstance(measure.metric, FunctionMetric):
            values[measure] = measure.metric.of_scores(lists.scores, lists.labels, lists.groups, lists.side)
            continue
        if rules.scores not in rankings:
            rankings[rules.scores] = lists.ranking(rules.scores, threads)
        if isinstance(measure.metric, JudgmentMetric):
            known: dict[str, Any] = {
                "document_ids": lists.document_ids,
                "subtopics": lists.subtopics,
                "threads": threads,
            }
            values[measure] = measure.metric.of_judgments(rankings[rules.scores], lists.labels, rules, **known)
            continue
        view = (rules.scores, rules.ties, rules.unjudged)
        if view not in settled:
            settled[view] = settle(
                rankings[rules.scores], lists.labels, rules, document_ids=lists.document_ids, threads=threads
            )
        values[measure] = measure.metric.per_query(*settled[view], rules, threads)
    return values


def _count_nothing_relevant(labels: Float32Array, groups: Groups) -> int:
    starts = groups.offsets[:-1][groups.sizes > 0]
    n_with = int(np.logical_or.reduceat(labels > 0, starts).sum()) if len(starts) else 0
    return groups.n_queries - n_with
