"""Discounted cumulative gain and what is made from it.

DCG@k sums, over the first k ranks p = 1, 2, …, the gain of the document there times the discount of p. NDCG@k is that
sum as a share of the most that any order of the query's documents reaches (Järvelin and Kekäläinen 2002; paper 2,
section 2, prints the gain 2^l - 1 and the discount 1/log(1 + p) of the standard convention).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.groups import Groups
from rankwright.metrics.convention import Convention
from rankwright.metrics.metric import (
    GRADED_RULES,
    AtAnyCutoff,
    AtCutoff,
    lists_of,
    settle,
    without_empty,
)
from rankwright.metrics.rules import Short
from rankwright.metrics.swaps import SwapMetric, convention_discount, discounts_of, shares_of
from rankwright.ranking.gains import ideal_gains
from rankwright.ranking.order import Ranking


@dataclass(frozen=True, slots=True)
class DCG(AtCutoff):
    """Discounted cumulative gain of the first `cutoff` ranks."""

    family: ClassVar[str] = "dcg"
    kind: ClassVar[str] = "discounted-gain"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = GRADED_RULES
    discount = convention_discount

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The discounted gain of each query's list."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        found, ideal = _found_and_ideal(self, ranking, labels, convention, threads)
        return without_empty(found, ideal == 0.0, convention)

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """The gain of each label."""
        return convention.gain(labels, threads)


@dataclass(frozen=True, slots=True)
class NDCG(AtAnyCutoff):
    """Discounted gain of the first `cutoff` ranks, or of all, as a share of the best possible."""

    family: ClassVar[str] = "ndcg"
    kind: ClassVar[str] = "discounted-gain"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = GRADED_RULES | {"short"}
    discount = convention_discount

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The share each query's list has of the discounted gain it could have."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        found, ideal = _found_and_ideal(self, ranking, labels, convention, threads)
        is_empty = ideal == 0.0
        shares = np.minimum(np.divide(found, ideal, out=np.zeros_like(found), where=~is_empty), 1.0)  # rounding aside
        if convention.short is Short.ZERO and self.cutoff is not None:
            shares[ranking.n_ranked < self.cutoff] = 0.0
        shares[is_empty] = convention.empty.number
        return shares

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:
        """The gain of each label as a share of its query's ideal discounted gain."""
        gains = convention.gain(labels, threads)
        return shares_of(gains, ideal_gains(gains, groups, discounts_of(self, groups, convention), threads), groups)


@dataclass(frozen=True, slots=True)
class MeanNDCG:
    """The mean of NDCG@p over p = 1, 2, …, n, where n is the length of the list: LETOR's MeanNDCG."""

    name: ClassVar[str] = "mean-ndcg"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = GRADED_RULES

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The mean share each query's list has, over all its depths."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        means = np.empty(ranking.groups.n_queries)
        gains = convention.gain(labels, threads)
        discounts = convention.discount.table(int(ranking.n_ranked.max(initial=0)))
        kernels.mean_gain_shares(gains, *lists_of(ranking), discounts, means, threads)
        return np.where(np.isnan(means), convention.empty.number, np.minimum(means, 1.0))


def _found_and_ideal(
    metric: SwapMetric, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int
) -> tuple[Float64Array, Float64Array]:
    """The discounted gain each list has and could have."""
    discounts = discounts_of(metric, ranking.groups, convention)
    return discounted(ranking, convention.gain(labels, threads), discounts, threads)


def discounted(
    ranking: Ranking, gains: Float64Array, discounts: Float64Array, threads: int
) -> tuple[Float64Array, Float64Array]:
    """The discounted sum of `gains`, one a row, over each list, and the most any order of its rows has."""
    found, ideal = np.empty(ranking.groups.n_queries), np.empty(ranking.groups.n_queries)
    kernels.discounted_gains(gains, *lists_of(ranking), discounts, found, ideal, threads)
    return found, ideal
