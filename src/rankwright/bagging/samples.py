"""How many bags there are, which queries each one draws, and how those that it never sees are scored.

What bag b draws depends only on the seed and on b, so bags can be trained in any order, at once or at another time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray, seed_number
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import as_measure

SAMPLE_STREAM = 0x6261  # added to the seed: these draws must not depend on those of a bag's training
SEED_STREAM = 0x6773


@dataclass(frozen=True, slots=True, eq=False)
class QuerySample:
    """How often a bag has each query."""

    counts: IntArray

    @property
    def queries(self) -> IntArray:
        """The queries the bag is trained on, ascending."""
        return np.flatnonzero(self.counts)

    @property
    def others(self) -> IntArray:
        """The queries it never sees, ascending: out of the bag."""
        return np.flatnonzero(self.counts == 0)

    @property
    def repeated(self) -> IntArray:
        """The queries of the bag, each as often as it was drawn."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @property
    def is_everything(self) -> bool:
        """Whether the bag has every query exactly once, as if nothing was drawn."""
        return bool((self.counts == 1).all())


@dataclass(frozen=True, slots=True, kw_only=True)
class BagPlan:
    """The number of bags, and how each draws its queries: with replacement (`bootstrap`) or without.

    With `overfit` a bag keeps all its steps; else validation data, or queries out of the bag, choose how many.
    """

    n_bags: int
    bag_fraction: float = 1.0
    bootstrap: bool = True
    overfit: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.n_bags >= 1, f"n_bags must be 1 or more, got {self.n_bags}")
        require(0 < self.bag_fraction <= 1, f"bag_fraction must lie above 0 and be at most 1, got {self.bag_fraction}")
        seed_number(self.seed)

    def sample(self, bag: int, n_queries: int) -> QuerySample:
        """The queries of bag number `bag`."""
        size = max(1, round(self.bag_fraction * n_queries))
        rng = np.random.default_rng([self.seed, SAMPLE_STREAM, bag])
        drawn = rng.choice(n_queries, size=size, replace=self.bootstrap)
        return QuerySample(np.bincount(drawn, minlength=n_queries))

    def seed_of(self, bag: int) -> int:
        """The seed of a bag's training; that of the first bag is the plan's own, as for a ranker without bags."""
        if bag == 0:
            return self.seed
        return int(np.random.default_rng([self.seed, SEED_STREAM, bag]).integers(2**31))


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
    judged: dict[str, Any] = {"labels": chosen.labels, "groups": chosen.groups, "side": chosen.side}
    lists = ScoredLists(scores=scores[rows] + start, **judged)
    evaluation = evaluate_lists(lists, [measure], measure.convention, threads=threads)
    mean = next(iter(evaluation.results.values())).mean
    return mean if isfinite(mean) else None


def can_choose(documents: RankingDataset, queries: IntArray, metric: str | Callable[..., Any], *, threads: int) -> bool:
    """Whether `metric` can be measured on these queries."""
    return measure_queries(documents, queries, np.zeros(documents.n_docs), metric, threads=threads) is not None
