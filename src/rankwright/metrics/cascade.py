"""Metrics of a reader who goes down the list until a document satisfies them.

Expected reciprocal rank (Chapelle, Metzler, Zhang and Grinspan 2009) has a chance to be satisfied that grows with the
label. Where only relevant documents satisfy, and surely, it is the reciprocal rank; whether the reader is satisfied at
all within the first k ranks is hit@k; and winner-takes-all (paper 2, section 2) asks it of the first rank alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array
from rankwright.errors import InputError
from rankwright.metrics.binary import relevant_counts
from rankwright.metrics.convention import Convention
from rankwright.metrics.metric import (
    BINARY_RULES,
    LIST_RULES,
    AtAnyCutoff,
    AtCutoff,
    settle,
    ties_read,
    without_empty,
)
from rankwright.metrics.rules import Stop
from rankwright.ranking.gains import EXPONENTIAL
from rankwright.ranking.order import Ranking


@dataclass(frozen=True, slots=True)
class ReciprocalRank(AtAnyCutoff):
    """One over the rank, counted from 1, of the first relevant document; 0 where the list, or its top, has none."""

    family: ClassVar[str] = "mrr"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The reciprocal rank of each query's first relevant document."""
        return _read_relevant(ranking, labels, convention, self.depth, threads)[0]


@dataclass(frozen=True, slots=True)
class Hit(AtCutoff):
    """Whether any of the first `cutoff` ranks has a relevant document; trec_eval calls it success."""

    family: ClassVar[str] = "hit"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """1 for each query with a relevant document at the top of its list, else 0."""
        return _read_relevant(ranking, labels, convention, self.cutoff, threads)[1]


@dataclass(frozen=True, slots=True)
class WinnerTakesAll:
    """The cost paper 2 calls WTA: 0 where the first document is relevant, else 1."""

    name: ClassVar[str] = "wta"
    higher_is_better: ClassVar[bool] = False
    depends_on: ClassVar[frozenset[str]] = BINARY_RULES

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """0 for each query whose first document is relevant, else 1."""
        return 1.0 - _read_relevant(ranking, labels, convention, 1, threads)[1]


@dataclass(frozen=True, slots=True)
class ERR(AtCutoff):
    """Expected reciprocal rank: the reciprocal rank at which a reader is satisfied, expected over graded labels."""

    family: ClassVar[str] = "err"
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]] = LIST_RULES | {"empty", "stop", "max_grade"}

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The expected reciprocal rank at which the reader of each query's list stops."""
        ranking, labels = settle(ranking, labels, convention, threads=threads)
        return _read(ranking, _chances(labels, convention, threads), convention, self.cutoff, threads)[0]


def _chances(labels: Float32Array, convention: Convention, threads: int) -> Float64Array:
    """The probability that a document of each label satisfies."""
    highest = 1.0 if convention.stop is Stop.LABEL else convention.max_grade
    if labels.max(initial=0.0) > highest:
        raise InputError(
            f"ERR under {convention} takes labels from 0 to {highest:g}, but there is a label {labels.max():g}; "
            f"set stop=graded and max_grade to the highest label of your scale"
        )
    if convention.stop is Stop.LABEL:
        return labels.astype(np.float64)
    return EXPONENTIAL(labels, threads) / math.exp2(convention.max_grade)


def _read_relevant(
    ranking: Ranking, labels: Float32Array, convention: Convention, cutoff: int, threads: int
) -> tuple[Float64Array, Float64Array]:
    ranking, labels = settle(ranking, labels, convention, threads=threads)
    satisfies = convention.relevant.of(labels).astype(np.float64)
    return _read(ranking, satisfies, convention, cutoff, threads)


def _read(
    ranking: Ranking, stop: Float64Array, convention: Convention, cutoff: int, threads: int
) -> tuple[Float64Array, Float64Array]:
    """The expected reciprocal rank at which readers stop, and the probability that they do."""
    n_queries = ranking.groups.n_queries
    lists = (ranking.groups.offsets, ranking.n_ranked, ranking.rows, ties_read(ranking))
    reciprocal, stopped = np.empty(n_queries), np.empty(n_queries)
    kernels.read_until_satisfied(stop, *lists, cutoff, reciprocal, stopped, threads)
    is_empty = relevant_counts(ranking, stop > 0.0, threads) == 0
    return without_empty(reciprocal, is_empty, convention), without_empty(stopped, is_empty, convention)
