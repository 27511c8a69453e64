"""The scores of queries by bags not trained on them: an honest test that costs no data."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import as_measure


class OutOfBag:
    """The mean score of each training document over the bags that never saw its query."""

    def __init__(self, documents: RankingDataset) -> None:
        self.documents = documents
        self._sums = np.zeros(documents.n_docs)
        self._n_bags = np.zeros(documents.n_queries, np.int64)

    def add(self, queries: IntArray, scores: Float64Array) -> None:
        """Add a bag's scores of the documents of `queries`, one query after another."""
        self._sums[self.documents.groups.rows_of(queries)] += scores
        self._n_bags[queries] += 1

    @property
    def queries(self) -> IntArray:
        """The queries that some bag never saw."""
        return np.flatnonzero(self._n_bags)

    def scores(self) -> Float64Array:
        """A score for each document, NaN where every bag saw its query."""
        n_bags = np.repeat(self._n_bags, self.documents.groups.sizes)
        return np.where(n_bags > 0, self._sums / np.maximum(n_bags, 1), np.nan)

    def measure(self, metric: str | Callable[..., Any], *, threads: int) -> float | None:
        """The mean of `metric` over those queries, None where none of them counts."""
        return measure_queries(self.documents, self.queries, self.scores(), metric, threads=threads)


def measure_queries(
    documents: RankingDataset,
    queries: IntArray,
    scores: Float64Array,
    metric: str | Callable[..., Any],
    *,
    threads: int,
) -> float | None:
    """The mean of `metric` over some of the queries, None where nothing in them can be measured.

    `scores` has a value for each document of the whole data; initial scores of the data count.
    """
    if documents.labels is None or len(queries) == 0:
        return None
    measure, chosen, rows = as_measure(metric), documents.take_queries(queries), documents.groups.rows_of(queries)
    assert chosen.labels is not None
    start = 0.0 if chosen.initial_scores is None else chosen.initial_scores
    lists = ScoredLists(scores=scores[rows] + start, labels=chosen.labels, groups=chosen.groups)
    evaluation = evaluate_lists(lists, [measure], measure.convention, threads=threads)
    mean = next(iter(evaluation.results.values())).mean
    return mean if isfinite(mean) else None


def can_choose(documents: RankingDataset, queries: IntArray, metric: str | Callable[..., Any], *, threads: int) -> bool:
    """Whether `metric` can be measured on these queries."""
    return measure_queries(documents, queries, np.zeros(documents.n_docs), metric, threads=threads) is not None
