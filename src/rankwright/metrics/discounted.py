"""Discounted cumulative gain and what is made from it.

DCG@k sums, over the first k ranks p = 1, 2, …, the gain of the document there times the discount of p. NDCG@k is that
sum as a share of the most that any order of the query's documents reaches (Järvelin and Kekäläinen 2002; Burges 2005,
section 2, prints the gain 2^l - 1 and the discount 1/log(1 + p) of the standard convention).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.metrics.convention import Convention, Short
from rankwright.metrics.metric import GRADED_RULES, AtAnyCutoff, AtCutoff, ListMetric, SettledLists, SwapMetric
from rankwright.ranking.gains import ideal_gains


def convention_discount(metric: SwapMetric, n_ranks: int, convention: Convention) -> Float64Array:
    """The convention's discount of each rank within the cutoff."""
    return convention.discount.table(min(metric.depth, n_ranks))


@dataclass(frozen=True, slots=True)
class DCG(AtCutoff):
    """Discounted cumulative gain of the first `cutoff` ranks."""

    family: ClassVar[str] = "dcg"
    kind: ClassVar[str] = "discounted-gain"
    depends_on: ClassVar[frozenset[str]] = GRADED_RULES
    discount = convention_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The discounted gain of each query's list."""
        found, ideal = found_and_ideal(self, lists, lists.gains)
        return lists.without_empty(found, ideal == 0.0)

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """The gain of each label."""
        return convention.gain(labels, threads)


@dataclass(frozen=True, slots=True)
class NDCG(AtAnyCutoff):
    """Discounted gain of the first `cutoff` ranks, or of all, as a share of the best possible."""

    family: ClassVar[str] = "ndcg"
    kind: ClassVar[str] = "discounted-gain"
    depends_on: ClassVar[frozenset[str]] = GRADED_RULES | {"short"}
    discount = convention_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The share each query's list has of the discounted gain it could have."""
        found, ideal = found_and_ideal(self, lists, lists.gains)
        is_empty = ideal == 0.0
        shares = np.minimum(np.divide(found, ideal, out=np.zeros_like(found), where=~is_empty), 1.0)  # rounding aside
        if lists.convention.short is Short.ZERO and self.cutoff is not None:
            shares[lists.ranking.n_ranked < self.cutoff] = 0.0
        shares[is_empty] = lists.convention.empty.number
        return shares

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:
        """The gain of each label as a share of its query's ideal discounted gain."""
        gains = convention.gain(labels, threads)
        return shares_of(gains, ideal_gains(gains, groups, _discounts(self, groups, convention), threads), groups)


@dataclass(frozen=True, slots=True)
class MeanNDCG(ListMetric):
    """The mean of NDCG@p over p = 1, 2, …, n, where n is the length of the list: LETOR's MeanNDCG."""

    family: ClassVar[str] = "mean-ndcg"
    depends_on: ClassVar[frozenset[str]] = GRADED_RULES

    def values(self, lists: SettledLists) -> Float64Array:
        """The mean share each query's list has, over all its depths."""
        means = np.empty(lists.ranking.groups.n_queries)
        discounts = lists.convention.discount.table(int(lists.ranking.n_ranked.max(initial=0)))
        kernels.mean_gain_shares(lists.gains, lists.arrays, discounts, means, lists.threads)
        return np.where(np.isnan(means), lists.convention.empty.number, np.minimum(means, 1.0))


def found_and_ideal(metric: SwapMetric, lists: SettledLists, gains: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Each list's sum of `gains` (one per row) times the metric's discounts, and the most that any order has."""
    discounts = _discounts(metric, lists.ranking.groups, lists.convention)
    return lists.count(kernels.discounted_gains, gains, discounts)


def _discounts(metric: SwapMetric, groups: Groups, convention: Convention) -> Float64Array:
    """The metric's discounts, as many as the longest list needs."""
    return metric.discount(int(groups.sizes.max(initial=0)), convention)


def shares_of(values: Float64Array | BoolArray, totals: Float64Array | IntArray, groups: Groups) -> Float64Array:
    """Each row's value over the total of its query; 0 where that is 0."""
    total_of_row = np.repeat(totals, groups.sizes)
    return np.divide(values, total_of_row, out=np.zeros(len(values)), where=total_of_row > 0)
