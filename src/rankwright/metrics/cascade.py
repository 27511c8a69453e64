"""Metrics of a reader who goes down the list until a document satisfies them.

For the expected reciprocal rank (Chapelle, Metzler, Zhang and Grinspan 2009) the chance that a document satisfies grows
with its label. If relevant documents surely satisfy and no others do, it is the reciprocal rank. Hit@k says whether the
reader is satisfied within the first k ranks, winner-takes-all (Burges 2005, section 2) whether by the first document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.metrics.binary import relevant_counts
from rankwright.metrics.convention import Convention, Stop
from rankwright.metrics.metric import (
    BINARY_RULES,
    LIST_RULES,
    AtAnyCutoff,
    AtCutoff,
    ListMetric,
    SettledLists,
    SwapMetric,
    no_discount,
    reciprocal_discount,
    relevance_worth,
)
from rankwright.ranking.gains import EXPONENTIAL


@dataclass(frozen=True, slots=True)
class ReciprocalRank(AtAnyCutoff):
    """One over the rank, counted from 1, of the first relevant document; 0 where the list, or its top, has none."""

    family: ClassVar[str] = "mrr"
    kind: ClassVar[str] = "reciprocal-rank"
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    worth, discount = relevance_worth, reciprocal_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """The reciprocal rank of each query's first relevant document."""
        return _read(self, lists)[0]


@dataclass(frozen=True, slots=True)
class Hit(AtCutoff):
    """Whether any of the first `cutoff` ranks has a relevant document; trec_eval calls it success."""

    family: ClassVar[str] = "hit"
    kind: ClassVar[str] = "reciprocal-rank"  # with the same discount at every rank of the top
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES
    worth, discount = relevance_worth, no_discount

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
    worth, discount = relevance_worth, no_discount

    def values(self, lists: SettledLists) -> Float64Array:
        """0 for each query whose first document is relevant, else 1."""
        return 1.0 - _read(self, lists)[1]


@dataclass(frozen=True, slots=True)
class ERR(AtCutoff):
    """Expected reciprocal rank: the reciprocal rank at which a reader is satisfied, expected over graded labels."""

    family: ClassVar[str] = "err"
    kind: ClassVar[str] = "expected-reciprocal-rank"
    depends_on: ClassVar[frozenset[str]] = LIST_RULES | {"empty", "stop", "max_grade"}
    discount = reciprocal_discount

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
    is_empty = relevant_counts(lists, stop > 0.0) == 0
    return lists.without_empty(reciprocal, is_empty), lists.without_empty(stopped, is_empty)
