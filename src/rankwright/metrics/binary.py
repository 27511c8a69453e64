"""Precision, recall and average precision: metrics of documents that are relevant or not.

A convention's `relevant` rule says which labels count as relevant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.errors import require
from rankwright.metrics.convention import Convention, MapOver, PrecisionOver
from rankwright.metrics.discounted import found_and_ideal, shares_of
from rankwright.metrics.metric import (
    BINARY_RULES,
    AtAnyCutoff,
    AtCutoff,
    SettledLists,
    no_discount,
    reciprocal_discount,
    relevance_worth,
)


@dataclass(frozen=True, slots=True)
class AveragePrecision(AtAnyCutoff):
    """The mean of the precisions at the relevant documents of the first `cutoff` ranks, or of all."""

    family: ClassVar[str] = "map"
    kind: ClassVar[str] = "average-precision"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES | {"empty_map", "map_over"}
    discount = reciprocal_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The average precision of each query's list; relevant documents that it lacks count 0."""
        sums, n_relevant = _precision_sums(lists, lists.relevant, self.depth)
        is_empty = n_relevant == 0
        averages = np.divide(sums, self._over(n_relevant, lists.convention), out=np.zeros_like(sums), where=~is_empty)
        averages[is_empty] = lists.convention.empty_of_map.number
        return averages

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """For relevant documents, one over the number that the average divides by."""
        relevant = convention.relevant.of(labels)
        return shares_of(relevant, self._over(_counts(relevant, groups), convention), groups)

    def _over(self, n_relevant: IntArray, convention: Convention) -> IntArray:
        return n_relevant if convention.map_over is MapOver.RELEVANT else np.minimum(n_relevant, self.depth)


@dataclass(frozen=True, slots=True)
class Precision(AtCutoff):
    """The share of the first `cutoff` ranks that hold relevant documents."""

    family: ClassVar[str] = "p"
    kind: ClassVar[str] = "discounted-gain"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES | {"precision_over"}
    discount = no_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The share of relevant documents at the top of each query's list."""
        hits, most_hits = found_and_ideal(self, lists, lists.relevant.astype(np.float64))
        return lists.without_empty(hits / self._over(lists.ranking.n_ranked, lists.convention), most_hits == 0.0)

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """For relevant documents, one over the number that precision divides by."""
        return shares_of(convention.relevant.of(labels), self._over(groups.sizes, convention), groups)

    def _over(self, n_ranked: IntArray, convention: Convention) -> IntArray:
        within = np.clip(n_ranked, 1, self.cutoff)
        return within if convention.precision_over is PrecisionOver.LIST else np.full_like(within, self.cutoff)


@dataclass(frozen=True, slots=True)
class Recall(AtCutoff):
    """The share of the relevant documents that is in the first `cutoff` ranks."""

    family: ClassVar[str] = "recall"
    kind: ClassVar[str] = "discounted-gain"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    discount = no_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The share of each query's relevant documents that the top of its list has."""
        hits, _ = found_and_ideal(self, lists, lists.relevant.astype(np.float64))
        n_relevant = relevant_counts(lists, lists.relevant)
        shares = np.divide(hits, n_relevant, out=np.zeros_like(hits), where=n_relevant > 0)
        shares[n_relevant == 0] = lists.convention.empty.number
        return shares

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """The share that each relevant document is of those of its query."""
        relevant = convention.relevant.of(labels)
        return shares_of(relevant, _counts(relevant, groups), groups)


def relevant_counts(lists: SettledLists, relevant: BoolArray) -> IntArray:
    """How many relevant documents each query has, retrieved or not."""
    return _precision_sums(lists, relevant, 0)[1]


def _precision_sums(lists: SettledLists, relevant: BoolArray, cutoff: int) -> tuple[Float64Array, IntArray]:
    """The sum of the precisions at each list's relevant documents above `cutoff`, and how many there are in all."""
    return lists.count(kernels.precision_sums, relevant, cutoff, second=np.int64)


def _counts(relevant: BoolArray, groups: Groups) -> IntArray:
    """How many relevant rows each query has."""
    return np.bincount(groups.query_of_row[relevant], minlength=groups.n_queries)


@dataclass(frozen=True, slots=True)
class RBP(AtAnyCutoff):
    """Rank-biased precision (Moffat and Zobel 2008): what a reader gains who goes on to the next rank with probability
    `persistence`."""

    family: ClassVar[str] = "rbp"
    kind: ClassVar[str] = "discounted-gain"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    worth = relevance_worth

    persistence: float = 0.8

    def __post_init__(self) -> None:
        AtAnyCutoff.__post_init__(self)
        require(0 < self.persistence < 1, f"the persistence of rbp must lie between 0 and 1, got {self.persistence}")

    @property
    def name_without_cutoff(self) -> str:
        """The metric's name, with its number in brackets unless that is the usual one."""
        return self.family if self.persistence == 0.8 else f"{self.family}({self.persistence:g})"

    def values(self, lists: SettledLists) -> Float64Array:
        """The sum of each query's relevant documents, each by the probability that it is read."""
        found, best = found_and_ideal(self, lists, lists.relevant.astype(np.float64))
        return lists.without_empty(found, best == 0.0)

    def discount(self, n_ranks: int, convention: Convention) -> Float64Array:  # noqa: ARG002
        """The share of a reader's attention at each rank."""
        powers = self.persistence ** np.arange(min(self.depth, n_ranks), dtype=np.float64)
        return np.asarray((1 - self.persistence) * powers, np.float64)
