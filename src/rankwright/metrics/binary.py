"""Precision, recall and average precision: metrics of documents that are relevant or not.

A convention's `relevant` rule says which labels are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.metrics.convention import Convention
from rankwright.metrics.discounted import discounted
from rankwright.metrics.metric import (
    BINARY_RULES,
    AtAnyCutoff,
    AtCutoff,
    settle,
    ties_read,
    without_empty,
)
from rankwright.metrics.rules import MapOver, PrecisionOver
from rankwright.ranking.order import Ranking


@dataclass(frozen=True, slots=True)
class AveragePrecision(AtAnyCutoff):
    """The precision at each relevant document of the first `cutoff` ranks, or of all, averaged."""

    family: ClassVar[str] = "map"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES | {"empty_map", "map_over"}

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The average precision of each query's list; relevant documents that it lacks count 0."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        sums, n_relevant = precision_sums(ranking, convention.relevant.of(labels), self.depth, threads)
        over = n_relevant if convention.map_over is MapOver.RELEVANT else np.minimum(n_relevant, self.depth)
        is_empty = n_relevant == 0
        averages = np.divide(sums, over, out=np.zeros_like(sums), where=~is_empty)
        averages[is_empty] = convention.empty_of_map.number
        return averages


@dataclass(frozen=True, slots=True)
class Precision(AtCutoff):
    """The share of the first `cutoff` ranks that hold relevant documents."""

    family: ClassVar[str] = "p"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES | {"precision_over"}

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The share of relevant documents at the top of each query's list."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        hits, most_hits = _hits(ranking, convention.relevant.of(labels), self.cutoff, threads)
        if convention.precision_over is PrecisionOver.LIST:
            shares = hits / np.clip(ranking.n_ranked, 1, self.cutoff)
        else:
            shares = hits / self.cutoff
        return without_empty(shares, most_hits == 0.0, convention)


@dataclass(frozen=True, slots=True)
class Recall(AtCutoff):
    """The share of the relevant documents that stands in the first `cutoff` ranks."""

    family: ClassVar[str] = "recall"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The share of each query's relevant documents that the top of its list has."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        relevant = convention.relevant.of(labels)
        hits, _ = _hits(ranking, relevant, self.cutoff, threads)
        n_relevant = relevant_counts(ranking, relevant, threads)
        shares = np.divide(hits, n_relevant, out=np.zeros_like(hits), where=n_relevant > 0)
        shares[n_relevant == 0] = convention.empty.number
        return shares


def _hits(ranking: Ranking, relevant: BoolArray, cutoff: int, threads: int) -> tuple[Float64Array, Float64Array]:
    """How many relevant documents the first ranks have, and the most they could have: a gain of 1, undiscounted."""
    depth = min(cutoff, int(ranking.groups.sizes.max(initial=0)))
    return discounted(ranking, relevant.astype(np.float64), np.ones(depth), threads)


def precision_sums(ranking: Ranking, relevant: BoolArray, cutoff: int, threads: int) -> tuple[Float64Array, IntArray]:
    """The sum of the precisions at each list's relevant documents above `cutoff`, and how many there are in all."""
    sums, n_relevant = np.empty(ranking.groups.n_queries), np.empty(ranking.groups.n_queries, np.int64)
    kernels.precision_sums(
        relevant,
        ranking.groups.offsets,
        ranking.n_ranked,
        ranking.rows,
        ties_read(ranking),
        cutoff,
        sums,
        n_relevant,
        threads,
    )
    return sums, n_relevant


def relevant_counts(ranking: Ranking, relevant: BoolArray, threads: int = 1) -> IntArray:
    """How many relevant documents each query has, retrieved or not."""
    return precision_sums(ranking, relevant, 0, threads)[1]
