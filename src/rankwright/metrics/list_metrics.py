"""Metrics of ranked lists: discounted gain, metrics of relevant documents, of readers who stop, and of pairs.

DCG@k sums, over the first k ranks p = 1, 2, …, the gain of the document there times the discount of p. NDCG@k is that
sum as a share of the most that any order of the query's documents reaches (Järvelin and Kekäläinen 2002; Burges 2005,
section 2, prints the gain 2^l - 1 and the discount 1/log(1 + p) of the standard convention).

For precision, recall and average precision a document is relevant or not, as a convention's `relevant` rule says.

A reader goes down the list until a document satisfies them. For the expected reciprocal rank (Chapelle, Metzler, Zhang
and Grinspan 2009) the chance that a document satisfies grows with its label. If relevant documents surely satisfy and
no others do, it is the reciprocal rank. Hit@k says whether the reader is satisfied within the first k ranks,
winner-takes-all (Burges 2005, section 2) whether by the first document.

Two documents of a query make a pair where their labels differ (Burges 2005, section 2; Burges et al. 2005, section
5.1). A query without a pair does not count, under any convention. A tied pair is half right where ties are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require
from rankwright.metrics.convention import Convention, Empty, MapOver, PrecisionOver, Short, Stop
from rankwright.metrics.metric import LIST_RULES, AtAnyCutoff, AtCutoff, ListMetric, SettledLists, SwapMetric
from rankwright.ranking.gains import EXPONENTIAL, RECIPROCAL, ideal_gains

GRADED_RULES = LIST_RULES | {"gain", "discount", "empty"}
BINARY_RULES = LIST_RULES | {"relevant", "empty"}


def _relevance_worth(
    _metric: SwapMetric,
    labels: Float32Array,
    groups: Groups,  # noqa: ARG001
    convention: Convention,
    threads: int = 1,  # noqa: ARG001
) -> Float64Array:
    """1 for each relevant document, 0 for the others."""
    return convention.relevant.of(labels).astype(np.float64)


def _no_discount(metric: SwapMetric, n_ranks: int, convention: Convention) -> Float64Array:  # noqa: ARG001
    """1 at each rank within the cutoff."""
    return np.ones(min(metric.depth, n_ranks))


def _reciprocal_discount(metric: SwapMetric, n_ranks: int, convention: Convention) -> Float64Array:  # noqa: ARG001
    """One over each rank, counted from 1, within the cutoff."""
    return RECIPROCAL.table(min(metric.depth, n_ranks))


def _convention_discount(metric: SwapMetric, n_ranks: int, convention: Convention) -> Float64Array:
    """The convention's discount of each rank within the cutoff."""
    return convention.discount.table(min(metric.depth, n_ranks))


@dataclass(frozen=True, slots=True)
class DCG(AtCutoff):
    """Discounted cumulative gain of the first `cutoff` ranks."""

    family: ClassVar[str] = "dcg"
    kind: ClassVar[str] = "discounted-gain"
    depends_on: ClassVar[frozenset[str]] = GRADED_RULES
    discount = _convention_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The discounted gain of each query's list."""
        found, ideal = _found_and_ideal(self, lists, lists.gains)
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
    discount = _convention_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The share each query's list has of the discounted gain it could have."""
        found, ideal = _found_and_ideal(self, lists, lists.gains)
        shares = np.minimum(_shares(found, ideal, lists.convention.empty), 1.0)  # rounding aside
        if lists.convention.short is Short.ZERO and self.cutoff is not None:
            shares[(lists.ranking.n_ranked < self.cutoff) & (ideal != 0.0)] = 0.0
        return shares

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:
        """The gain of each label as a share of its query's ideal discounted gain."""
        gains = convention.gain(labels, threads)
        return _shares_of_queries(
            gains, ideal_gains(gains, groups, _discounts(self, groups, convention), threads), groups
        )


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


def _found_and_ideal(metric: SwapMetric, lists: SettledLists, gains: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Each list's sum of `gains` (one per row) times the metric's discounts, and the most that any order has."""
    discounts = _discounts(metric, lists.ranking.groups, lists.convention)
    return lists.count(kernels.discounted_gains, gains, discounts)


def _discounts(metric: SwapMetric, groups: Groups, convention: Convention) -> Float64Array:
    """The metric's discounts, as many as the longest list needs."""
    return metric.discount(int(groups.sizes.max(initial=0)), convention)


def _shares(found: Float64Array, totals: Float64Array | IntArray, empty: Empty) -> Float64Array:
    """What each list has found as a share of its total; what `empty` says where that is 0."""
    shares: Float64Array = np.full(len(found), empty.number)
    np.divide(found, totals, out=shares, where=totals != 0)
    return shares


def _shares_of_queries(
    values: Float64Array | BoolArray, totals: Float64Array | IntArray, groups: Groups
) -> Float64Array:
    """Each row's value over the total of its query; 0 where that is 0."""
    total_of_row = np.repeat(totals, groups.sizes)
    return np.divide(values, total_of_row, out=np.zeros(len(values)), where=total_of_row > 0)


@dataclass(frozen=True, slots=True)
class AveragePrecision(AtAnyCutoff):
    """The mean of the precisions at the relevant documents of the first `cutoff` ranks, or of all."""

    family: ClassVar[str] = "map"
    kind: ClassVar[str] = "average-precision"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES | {"empty_map", "map_over"}
    discount = _reciprocal_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The average precision of each query's list; relevant documents that it lacks count 0."""
        sums, n_relevant = _precision_sums(lists, lists.relevant, self.depth)
        return _shares(sums, self._over(n_relevant, lists.convention), lists.convention.empty_of_map)

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """For relevant documents, one over the number that the average divides by."""
        relevant = convention.relevant.of(labels)
        return _shares_of_queries(relevant, self._over(_counts(relevant, groups), convention), groups)

    def _over(self, n_relevant: IntArray, convention: Convention) -> IntArray:
        return n_relevant if convention.map_over is MapOver.RELEVANT else np.minimum(n_relevant, self.depth)


@dataclass(frozen=True, slots=True)
class Precision(AtCutoff):
    """The share of the first `cutoff` ranks that hold relevant documents."""

    family: ClassVar[str] = "p"
    kind: ClassVar[str] = "discounted-gain"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES | {"precision_over"}
    discount = _no_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The share of relevant documents at the top of each query's list."""
        hits, most_hits = _found_and_ideal(self, lists, lists.relevant.astype(np.float64))
        return lists.without_empty(hits / self._over(lists.ranking.n_ranked, lists.convention), most_hits == 0.0)

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """For relevant documents, one over the number that precision divides by."""
        return _shares_of_queries(convention.relevant.of(labels), self._over(groups.sizes, convention), groups)

    def _over(self, n_ranked: IntArray, convention: Convention) -> IntArray:
        within = np.clip(n_ranked, 1, self.cutoff)
        return within if convention.precision_over is PrecisionOver.LIST else np.full_like(within, self.cutoff)


@dataclass(frozen=True, slots=True)
class Recall(AtCutoff):
    """The share of the relevant documents that is in the first `cutoff` ranks."""

    family: ClassVar[str] = "recall"
    kind: ClassVar[str] = "discounted-gain"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    discount = _no_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The share of each query's relevant documents that the top of its list has."""
        hits, _ = _found_and_ideal(self, lists, lists.relevant.astype(np.float64))
        return _shares(hits, _relevant_counts(lists, lists.relevant), lists.convention.empty)

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """The share that each relevant document is of those of its query."""
        relevant = convention.relevant.of(labels)
        return _shares_of_queries(relevant, _counts(relevant, groups), groups)


def _relevant_counts(lists: SettledLists, relevant: BoolArray) -> IntArray:
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
    worth = _relevance_worth

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
        found, best = _found_and_ideal(self, lists, lists.relevant.astype(np.float64))
        return lists.without_empty(found, best == 0.0)

    def discount(self, n_ranks: int, convention: Convention) -> Float64Array:  # noqa: ARG002
        """The share of a reader's attention at each rank."""
        powers = self.persistence ** np.arange(min(self.depth, n_ranks), dtype=np.float64)
        return np.asarray((1 - self.persistence) * powers, np.float64)


@dataclass(frozen=True, slots=True)
class ReciprocalRank(AtAnyCutoff):
    """One over the rank, counted from 1, of the first relevant document; 0 where the list, or its top, has none."""

    family: ClassVar[str] = "mrr"
    kind: ClassVar[str] = "reciprocal-rank"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    worth, discount = _relevance_worth, _reciprocal_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The reciprocal rank of each query's first relevant document."""
        return _read(self, lists)[0]


@dataclass(frozen=True, slots=True)
class Hit(AtCutoff):
    """Whether any of the first `cutoff` ranks has a relevant document; trec_eval calls it success."""

    family: ClassVar[str] = "hit"
    kind: ClassVar[str] = "reciprocal-rank"  # with the same discount at every rank of the top
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    worth, discount = _relevance_worth, _no_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """1 for each query with a relevant document at the top of its list, else 0."""
        return _read(self, lists)[1]


@dataclass(frozen=True, slots=True)
class WinnerTakesAll(ListMetric):
    """The cost Burges (2005) calls WTA: 0 where the first document is relevant, else 1."""

    family: ClassVar[str] = "wta"
    kind: ClassVar[str] = "discounted-gain"
    higher_is_better: ClassVar[bool] = False
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    depth: ClassVar[int] = 1
    worth, discount = _relevance_worth, _no_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """0 for each query whose first document is relevant, else 1."""
        return 1.0 - _read(self, lists)[1]


@dataclass(frozen=True, slots=True)
class ERR(AtCutoff):
    """Expected reciprocal rank: the reciprocal rank at which a reader is satisfied, expected over graded labels."""

    family: ClassVar[str] = "err"
    kind: ClassVar[str] = "expected-reciprocal-rank"
    depends_on: ClassVar[frozenset[str]] = LIST_RULES | {"empty", "stop", "max_grade"}
    discount = _reciprocal_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The expected reciprocal rank at which the reader of each query's list stops."""
        return _read(self, lists)[0]

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:  # noqa: ARG002
        """The probability that each document satisfies."""
        highest = 1.0 if convention.stop is Stop.LABEL else convention.max_grade
        if labels.max(initial=0.0) > highest:
            raise InputError(
                f"ERR under {convention} takes labels from 0 to {highest:g}, but there is a label {labels.max():g}; "
                f"set stop=graded and max_grade to the highest label of your scale"
            )
        if convention.stop is Stop.LABEL:
            return labels.astype(np.float64)
        chances: Float64Array = EXPONENTIAL(labels, threads) / 2.0**convention.max_grade
        return chances


def _read(metric: SwapMetric, lists: SettledLists) -> tuple[Float64Array, Float64Array]:
    """The expected reciprocal rank at which readers stop, and the probability that they do."""
    stop = metric.worth(lists.labels, lists.ranking.groups, lists.convention, lists.threads)
    reciprocal, stopped = lists.count(kernels.read_until_satisfied, stop, metric.depth)
    is_empty = _relevant_counts(lists, stop > 0.0) == 0
    return lists.without_empty(reciprocal, is_empty), lists.without_empty(stopped, is_empty)


@dataclass(frozen=True, slots=True)
class PairError(ListMetric):
    """The share of a query's pairs that are in the wrong order."""

    family: ClassVar[str] = "pair-error"
    higher_is_better: ClassVar[bool] = False
    depends_on: ClassVar[frozenset[str]] = LIST_RULES

    def values(self, lists: SettledLists) -> Float64Array:
        """The share of each query's pairs that its list has in the wrong order."""
        wrong, n_pairs = lists.count(kernels.wrong_pairs, lists.labels)
        return _shares(wrong, n_pairs, Empty.SKIP)


@dataclass(frozen=True, slots=True)
class PairAccuracy(ListMetric):
    """The share of a query's pairs that are in the right order."""

    family: ClassVar[str] = "pair-accuracy"
    depends_on: ClassVar[frozenset[str]] = LIST_RULES

    def values(self, lists: SettledLists) -> Float64Array:
        """The share of each query's pairs that its list has in the right order."""
        return 1.0 - PairError().values(lists)
