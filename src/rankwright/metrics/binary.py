"""Precision, recall and average precision: metrics of documents that are relevant or not.

A convention's `relevant` rule says which labels are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.metrics.convention import Convention
from rankwright.metrics.discounted import discounted
from rankwright.metrics.metric import (
    BINARY_RULES,
    AtAnyCutoff,
    AtCutoff,
    lists_of,
    settle,
    without_empty,
)
from rankwright.metrics.rules import MapOver, PrecisionOver
from rankwright.metrics.swaps import (
    SwapMetric,
    discounts_of,
    no_discount,
    query_sums,
    reciprocal_discount,
    relevance,
    shares_of,
)
from rankwright.ranking.order import Ranking


@dataclass(frozen=True, slots=True)
class AveragePrecision(AtAnyCutoff):
    """The precision at each relevant document of the first `cutoff` ranks, or of all, averaged."""

    family: ClassVar[str] = "map"
    kind: ClassVar[str] = "average-precision"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES | {"empty_map", "map_over"}
    discount = reciprocal_discount

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The average precision of each query's list; relevant documents that it lacks count 0."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        sums, n_relevant = precision_sums(ranking, convention.relevant.of(labels), self.depth, threads)
        is_empty = n_relevant == 0
        averages = np.divide(sums, self._over(n_relevant, convention), out=np.zeros_like(sums), where=~is_empty)
        averages[is_empty] = convention.empty_of_map.number
        return averages

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """For relevant documents, one over the number that the average divides by."""
        relevant = relevance(labels, convention)
        return shares_of(relevant, self._over(query_sums(relevant, groups), convention), groups)

    def _over(self, n_relevant: Float64Array | IntArray, convention: Convention) -> Float64Array | IntArray:
        return n_relevant if convention.map_over is MapOver.RELEVANT else np.minimum(n_relevant, self.depth)


@dataclass(frozen=True, slots=True)
class Precision(AtCutoff):
    """The share of the first `cutoff` ranks that hold relevant documents."""

    family: ClassVar[str] = "p"
    kind: ClassVar[str] = "discounted-gain"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES | {"precision_over"}
    discount = no_discount

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The share of relevant documents at the top of each query's list."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        hits, most_hits = _hits(self, ranking, convention.relevant.of(labels), convention, threads)
        return without_empty(hits / self._over(ranking.n_ranked, convention), most_hits == 0.0, convention)

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """For relevant documents, one over the number that precision divides by."""
        return shares_of(relevance(labels, convention), self._over(groups.sizes, convention), groups)

    def _over(self, n_ranked: IntArray, convention: Convention) -> IntArray:
        within = np.clip(n_ranked, 1, self.cutoff)
        return within if convention.precision_over is PrecisionOver.LIST else np.full_like(within, self.cutoff)


@dataclass(frozen=True, slots=True)
class Recall(AtCutoff):
    """The share of the relevant documents that stands in the first `cutoff` ranks."""

    family: ClassVar[str] = "recall"
    kind: ClassVar[str] = "discounted-gain"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    discount = no_discount

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The share of each query's relevant documents that the top of its list has."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        relevant = convention.relevant.of(labels)
        hits, _ = _hits(self, ranking, relevant, convention, threads)
        n_relevant = relevant_counts(ranking, relevant, threads)
        shares = np.divide(hits, n_relevant, out=np.zeros_like(hits), where=n_relevant > 0)
        shares[n_relevant == 0] = convention.empty.number
        return shares

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """The share that each relevant document is of those of its query."""
        relevant = relevance(labels, convention)
        return shares_of(relevant, query_sums(relevant, groups), groups)


def _hits(
    metric: SwapMetric, ranking: Ranking, relevant: BoolArray, convention: Convention, threads: int
) -> tuple[Float64Array, Float64Array]:
    """How many relevant documents the first ranks have, and the most they could have: a gain of 1, undiscounted."""
    return discounted(ranking, relevant.astype(np.float64), discounts_of(metric, ranking.groups, convention), threads)


def precision_sums(ranking: Ranking, relevant: BoolArray, cutoff: int, threads: int) -> tuple[Float64Array, IntArray]:
    """The sum of the precisions at each list's relevant documents above `cutoff`, and how many there are in all."""
    sums, n_relevant = np.empty(ranking.groups.n_queries), np.empty(ranking.groups.n_queries, np.int64)
    kernels.precision_sums(relevant, *lists_of(ranking), cutoff, sums, n_relevant, threads)
    return sums, n_relevant


def relevant_counts(ranking: Ranking, relevant: BoolArray, threads: int = 1) -> IntArray:
    """How many relevant documents each query has, retrieved or not."""
    return precision_sums(ranking, relevant, 0, threads)[1]
