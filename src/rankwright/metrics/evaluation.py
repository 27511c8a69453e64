"""Evaluate scores: means, intervals and per-query values, always with the convention they were counted under."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, Float64Array, IdArray, IntArray, as_scores, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require
from rankwright.metrics.convention import DEFAULT, Convention, as_convention
from rankwright.metrics.intervals import Interval, bootstrap_interval, normal_interval, weighted_mean
from rankwright.metrics.metric import Metric, settle
from rankwright.metrics.registry import Measure, parse_metric
from rankwright.metrics.rules import ScorePrecision
from rankwright.ranking.order import Ranking, rank_checked

DEFAULT_METRICS = ("ndcg@5", "ndcg@10", "map", "mrr")
RESAMPLES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class ScoredLists:
    """Scores and judgments of the same rows, from wherever they came.

    `n_ranked` says how many rows of each query, its first ones, were retrieved: all of them where it is None.
    """

    scores: Float64Array
    labels: Float32Array
    groups: Groups
    n_ranked: IntArray | None = None
    document_ids: IdArray | None = None
    query_ids: IdArray | None = None
    query_weights: Float64Array | None = None

    @classmethod
    def of_dataset(cls, scores: ArrayLike, data: RankingDataset) -> ScoredLists:
        """Scores in the caller's row order, beside what the dataset says of the same rows."""
        if data.labels is None:
            raise InputError("this data has no labels to evaluate against")
        return cls(
            scores=data.from_source_order(as_scores(scores, length=data.n_docs)),
            labels=data.labels,
            groups=data.groups,
            document_ids=data.document_ids,
            query_ids=data.query_ids,
            query_weights=None if data.query_weights is None else data.query_weights.astype(np.float64),
        )

    def ranking(self, precision: ScorePrecision, threads: int) -> Ranking:
        """The lists by score, ties in input order."""
        scores = self.scores
        if precision is ScorePrecision.SINGLE:
            with np.errstate(over="ignore"):  # beyond single precision all are infinite, and tied
                scores = scores.astype(np.float32).astype(np.float64)
        return rank_checked(scores, self.groups, self.n_ranked, threads)


@dataclass(frozen=True, eq=False)
class MetricResult:
    """One metric over many queries."""

    measure: Measure
    values: Float64Array  # one a query; NaN where the query does not count
    weights: Float64Array  # one a query
    seed: int
    resamples: int
    threads: int

    @cached_property
    def _counted(self) -> tuple[Float64Array, Float64Array]:
        counts = ~np.isnan(self.values) & (self.weights > 0)
        return self.values[counts], self.weights[counts]

    @property
    def n_queries(self) -> int:
        """How many queries count."""
        return len(self._counted[0])

    @cached_property
    def mean(self) -> float:
        """The mean over the queries that count, by their weights; NaN where none does."""
        return weighted_mean(*self._counted)

    @cached_property
    def interval(self) -> Interval:
        """The 95 % bootstrap interval of the mean, computed when first asked for."""
        return bootstrap_interval(*self._counted, resamples=self.resamples, seed=self.seed, threads=self.threads)

    @cached_property
    def normal_interval(self) -> Interval:
        """The 95 % interval of the mean under the normal approximation."""
        return normal_interval(*self._counted)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON has it; what cannot be told is null."""
        return {
            "mean": _or_none(self.mean),
            "low": _or_none(self.interval.low),
            "high": _or_none(self.interval.high),
            "queries": self.n_queries,
            "normal": {"low": _or_none(self.normal_interval.low), "high": _or_none(self.normal_interval.high)},
        }


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What metrics say of one set of scores, and the convention they were counted under."""

    convention: Convention
    results: Mapping[str, MetricResult]  # by name; a metric with a convention of its own carries it in the name
    groups: Groups
    query_ids: IdArray
    nothing_relevant: int  # queries without a label above 0
    weighted: bool  # whether means go by the queries' weights

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.groups.n_queries

    def __getitem__(self, metric: str) -> MetricResult:
        """The result of the metric of that name."""
        if metric not in self.results:
            raise KeyError(f"{metric!r} was not evaluated; there are {', '.join(self.results)}")
        return self.results[metric]

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as `rankwright evaluate --json` prints it."""
        return {
            "convention": self.convention.name,
            "queries": self.n_queries,
            "documents": self.groups.n_docs,
            "nothing_relevant": self.nothing_relevant,
            "weighted": self.weighted,
            "metrics": {name: result.to_dict() for name, result in self.results.items()},
        }

    def per_query(self) -> dict[str, Any]:
        """A table with a row a query: its id, its number of documents, each metric (NaN where it does not count)."""
        values = {name: result.values for name, result in self.results.items()}
        return {"query": self.query_ids, "documents": self.groups.sizes} | values

    @property
    def headline(self) -> str:
        """What must stand beside every number: the convention, and how many queries had nothing relevant."""
        weights = ", weighted" if self.weighted else ""
        return (
            f"convention {self.convention}: {self.n_queries} queries{weights}, "
            f"{self.nothing_relevant} with nothing relevant; {self.groups.n_docs} documents"
        )

    def __str__(self) -> str:
        width = max(map(len, self.results), default=0)
        lines = [
            f"{name:{width}}  {result.mean:7.4f}  {result.interval.low:7.4f} to {result.interval.high:.4f}"
            f"  {result.n_queries:8d}"
            for name, result in self.results.items()
        ]
        return "\n".join([self.headline, f"{'':{width}}     mean   95 % interval      queries", *lines])


def evaluate(
    scores: ArrayLike,
    data: RankingDataset,
    metrics: Sequence[str | Metric | Measure] = DEFAULT_METRICS,
    convention: str | Convention = DEFAULT,
    *,
    threads: int | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Evaluation:
    """The evaluation of `scores`, one a row in the caller's order, against the labels of `data`.

    A metric's name may carry a convention of its own, as `ndcg@10:letor`. Means go by the dataset's query weights where
    it has them. `seed` and `resamples` are the bootstrap's.
    """
    lists = ScoredLists.of_dataset(scores, data)
    return evaluate_lists(lists, metrics, convention, threads=threads, seed=seed, resamples=resamples)


def evaluate_lists(
    lists: ScoredLists,
    metrics: Sequence[str | Metric | Measure],
    convention: str | Convention,
    *,
    threads: int | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Evaluation:
    """The evaluation of scored lists that need not come from a dataset."""
    require(resamples >= 1, f"resamples must be 1 or more, got {resamples}")
    chosen = as_convention(convention)
    measures = [as_measure(metric, chosen) for metric in metrics]
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


def as_measure(metric: str | Metric | Measure, convention: Convention) -> Measure:
    """The measure that `metric` names or is; one without a convention of its own gets `convention`."""
    if isinstance(metric, Measure):
        return metric
    return parse_metric(metric, convention) if isinstance(metric, str) else Measure(metric, convention)


def _all_values(lists: ScoredLists, measures: Sequence[Measure], threads: int) -> dict[Measure, Float64Array]:
    """The per-query values of each measure; those that see the same lists share the work of making them."""
    rankings: dict[ScorePrecision, Ranking] = {}
    settled: dict[tuple[object, ...], tuple[Ranking, Float32Array]] = {}
    values: dict[Measure, Float64Array] = {}
    for measure in measures:
        rules = measure.convention
        if rules.scores not in rankings:
            rankings[rules.scores] = lists.ranking(rules.scores, threads)
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


def _or_none(number: float) -> float | None:
    return None if math.isnan(number) else number
