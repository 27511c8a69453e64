"""The lists that a metric is climbed on, and the metric's value of each query for any scores."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.judged import tells_apart
from rankwright.errors import InputError, require
from rankwright.metrics.metric_table import Measure, parse_metric
from rankwright.ranking.order import Ranking, Ties, rank_checked


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredLists:
    """The judged documents of the queries in which order matters, and the metric that measures orders.

    Values lie from 0 to 1 and more is better; for a metric where less is better, they are 1 minus the metric. Documents
    with equal scores count as if in random order, whatever the convention says: data may come sorted by labels, and a
    constant column must not look like a good one.
    """

    measure: Measure
    rows: IntArray  # of the dataset; other arrays here follow this order
    labels: Float32Array
    groups: Groups
    weights: Float64Array  # one for each query, 1 on average
    queries: IntArray  # of the dataset

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.groups.n_queries

    def of_scores(self, scores: Float64Array, *, threads: int = 1) -> Float64Array:
        """The value of each query, given a score for each of `rows`."""
        ranking = replace(rank_checked(scores, self.groups, None, threads), ties=Ties.AVERAGED)
        return self.of_ranking(ranking, self.labels, threads=threads)

    def of_ranking(self, ranking: Ranking, labels: Float32Array, *, threads: int = 1) -> Float64Array:
        """The value of each list of a ranking, averaged over the orders of ties; its documents have these labels."""
        values = self.measure.metric.per_query(ranking, labels, self.measure.convention, threads)
        values = np.nan_to_num(values, nan=0.0)  # NaN: queries that the convention leaves out
        return values if self.measure.higher_is_better else 1.0 - values


def measured_lists(data: RankingDataset, metric: str, *, name: str) -> MeasuredLists:
    """The lists of `data` that the ranker of that name climbs `metric` on.

    Unjudged documents are left out, and then queries whose documents all have the same label. Metrics weigh queries,
    not documents: a query counts its own weight times the mean weight of its documents.
    """
    if data.labels is None or data.preferences is not None:
        raise InputError(f"{name} climbs {metric}, which needs labels: give y, and no preferences")
    measure = parse_metric(metric)
    require(not measure.metric.name.startswith("dcg"), f"{name} needs a metric between 0 and 1, got {metric}: use ndcg")
    measure = Measure(measure.metric, replace(measure.convention, ties=Ties.AVERAGED))
    judged = np.flatnonzero(~np.isnan(data.labels))
    query_of_row = data.groups.query_of_row
    weights = _query_weights(data)
    queries = np.flatnonzero(tells_apart(data.labels, data.groups) & (weights > 0))
    rows = judged[np.isin(query_of_row[judged], queries)]
    kept = weights[queries]
    return MeasuredLists(
        measure=measure,
        rows=rows,
        labels=data.labels[rows],
        groups=Groups.of_sizes(np.bincount(query_of_row[rows], minlength=data.n_queries)[queries]),
        weights=kept / kept.mean() if len(kept) else kept,
        queries=queries,
    )


def _query_weights(data: RankingDataset) -> Float64Array:
    weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(np.float64)
    if data.document_weights is None:
        return weights
    sums = np.bincount(data.groups.query_of_row, data.document_weights.astype(np.float64), data.n_queries)
    return weights * sums / np.maximum(data.groups.sizes, 1)
