"""What swapping two documents would do to a metric: the factor by which LambdaRank weighs a pair.

A delta gives every document a worth, from its label, and every rank a discount; `kind` tells the kernel how the metric
is made from the two. Which labels are relevant, where a metric only knows relevant or not, says `relevant_above`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.groups import Groups
from rankwright.errors import InputError, SettingError, UnknownNameError, require
from rankwright.ranking.gains import EXPONENTIAL, LOG2, RECIPROCAL, Discount, Gain, ideal_gains


class Delta(Protocol):
    """The change of a metric when two documents swap ranks, as the kernel computes it."""

    kind: ClassVar[str]

    @property
    def name(self) -> str:
        """The metric's name, which `delta_named` turns back into this delta."""

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:
        """What each document counts, given its label (0 where unjudged) and those of its query."""

    def discount(self, n_ranks: int) -> Float64Array:
        """What is left of a worth at each of the first `n_ranks` ranks; shorter where later ranks leave nothing."""


@dataclass(frozen=True, slots=True)
class Constant:
    """No metric: every pair counts alike, as in RankNet."""

    kind: ClassVar[str] = "constant"
    name: ClassVar[str] = "constant"

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """Nothing: no label matters."""
        return np.empty(0)

    def discount(self, n_ranks: int) -> Float64Array:  # noqa: ARG002
        """Nothing: no rank matters."""
        return np.empty(0)


@dataclass(frozen=True, slots=True)
class _UpTo:
    """A metric of the first `cutoff` ranks; of all where it is None."""

    family: ClassVar[str]
    cutoff: int | None = None

    def __post_init__(self) -> None:
        require(self.cutoff is None or self.cutoff >= 1, f"the cutoff must be 1 or more, got {self.cutoff}")

    @property
    def name(self) -> str:
        """The metric's name with its cutoff, such as `ndcg@10`."""
        return self.family if self.cutoff is None else f"{self.family}@{self.cutoff}"

    def depth(self, n_ranks: int) -> int:
        """How many of `n_ranks` ranks count."""
        return n_ranks if self.cutoff is None else min(n_ranks, self.cutoff)


@dataclass(frozen=True, slots=True)
class DCG(_UpTo):
    """Discounted cumulative gain."""

    kind: ClassVar[str] = "discounted-gain"
    family: ClassVar[str] = "dcg"
    gain: Gain = EXPONENTIAL
    discounted_by: Discount = LOG2

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """The gain of each label."""
        return self.gain(labels, threads)

    def discount(self, n_ranks: int) -> Float64Array:
        """The discount of each rank within the cutoff."""
        return self.discounted_by.table(self.depth(n_ranks))


@dataclass(frozen=True, slots=True)
class NDCG(_UpTo):
    """Discounted cumulative gain as a share of the best possible, paper 2 section 2.

    With `tail` ranks beyond the cutoff keep their discounts: documents down there are still told apart, and pulled up,
    while the share is still that of the best possible within the cutoff.
    """

    kind: ClassVar[str] = "discounted-gain"
    family: ClassVar[str] = "ndcg"
    gain: Gain = EXPONENTIAL
    discounted_by: Discount = LOG2
    tail: bool = False

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:
        """The gain of each label as a share of its query's ideal."""
        gains = self.gain(labels, threads)
        counted = self.discounted_by.table(self.depth(int(groups.sizes.max(initial=0))))
        return _share(gains, ideal_gains(gains, groups, counted, threads), groups)

    def discount(self, n_ranks: int) -> Float64Array:
        """The discount of each rank within the cutoff, or of all with `tail`."""
        return self.discounted_by.table(n_ranks if self.tail else self.depth(n_ranks))


@dataclass(frozen=True, slots=True)
class Precision(_UpTo):
    """The share of the first `cutoff` documents that is relevant."""

    kind: ClassVar[str] = "discounted-gain"
    family: ClassVar[str] = "p"
    cutoff: int = 10
    relevant_above: float = 0.0

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """One `cutoff`-th for each relevant document."""
        return _relevant(labels, self.relevant_above) / self.cutoff

    def discount(self, n_ranks: int) -> Float64Array:
        """1 within the cutoff."""
        return np.ones(self.depth(n_ranks))


@dataclass(frozen=True, slots=True)
class Recall(_UpTo):
    """The share of the relevant documents that stands in the first `cutoff` ranks."""

    kind: ClassVar[str] = "discounted-gain"
    family: ClassVar[str] = "recall"
    cutoff: int = 10
    relevant_above: float = 0.0

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """The share that each relevant document is of all of its query."""
        relevant = _relevant(labels, self.relevant_above)
        return _share(relevant, _sums(relevant, groups), groups)

    def discount(self, n_ranks: int) -> Float64Array:
        """1 within the cutoff."""
        return np.ones(self.depth(n_ranks))


@dataclass(frozen=True, slots=True)
class AveragePrecision(_UpTo):
    """The precision at each relevant document, averaged."""

    kind: ClassVar[str] = "average-precision"
    family: ClassVar[str] = "map"
    relevant_above: float = 0.0

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """For relevant documents, one over how many their query has (at most `cutoff`)."""
        relevant = _relevant(labels, self.relevant_above)
        return _share(relevant, np.minimum(_sums(relevant, groups), self.cutoff or np.inf), groups)

    def discount(self, n_ranks: int) -> Float64Array:
        """One over each rank, counted from 1, within the cutoff."""
        return RECIPROCAL.table(self.depth(n_ranks))


@dataclass(frozen=True, slots=True)
class ReciprocalRank(_UpTo):
    """One over the rank of the first relevant document."""

    kind: ClassVar[str] = "reciprocal-rank"
    family: ClassVar[str] = "mrr"
    relevant_above: float = 0.0

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """1 for relevant documents."""
        return _relevant(labels, self.relevant_above)

    def discount(self, n_ranks: int) -> Float64Array:
        """One over each rank, counted from 1, within the cutoff."""
        return RECIPROCAL.table(self.depth(n_ranks))


@dataclass(frozen=True, slots=True)
class Hit(_UpTo):
    """Whether any of the first `cutoff` documents is relevant."""

    kind: ClassVar[str] = "reciprocal-rank"  # with every rank of the top worth the same
    family: ClassVar[str] = "hit"
    cutoff: int = 10
    relevant_above: float = 0.0

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """1 for relevant documents."""
        return _relevant(labels, self.relevant_above)

    def discount(self, n_ranks: int) -> Float64Array:
        """1 within the cutoff."""
        return np.ones(self.depth(n_ranks))


@dataclass(frozen=True, slots=True)
class WinnerTakesAll:
    """Whether the first document is relevant, paper 2 section 2."""

    kind: ClassVar[str] = "discounted-gain"
    name: ClassVar[str] = "wta"
    relevant_above: float = 0.0

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """1 for relevant documents."""
        return _relevant(labels, self.relevant_above)

    def discount(self, n_ranks: int) -> Float64Array:
        """1 at the top."""
        return np.ones(min(1, n_ranks))


@dataclass(frozen=True, slots=True)
class ERR(_UpTo):
    """Expected reciprocal rank of a reader who stops at a document with probability (2^l - 1) / 2^max_grade.

    Where `max_grade` is None it is the highest label of the dataset.
    """

    kind: ClassVar[str] = "expected-reciprocal-rank"
    family: ClassVar[str] = "err"
    max_grade: float | None = None

    def __post_init__(self) -> None:
        _UpTo.__post_init__(self)
        grade = self.max_grade
        require(grade is None or 0 < grade <= 1023, f"max_grade must lie between 0 and 1023, got {grade}")

    def worth(self, labels: Float32Array, groups: Groups, threads: int) -> Float64Array:  # noqa: ARG002
        """The chance to stop at each document."""
        highest = float(labels.max(initial=0.0))
        grade = highest if self.max_grade is None else self.max_grade
        if highest > grade:
            raise InputError(f"err has max_grade {grade:g}, but there is a label {highest:g}")
        chances: Float64Array = np.minimum(EXPONENTIAL(labels, threads) / 2.0**grade, SUREST_STOP)
        return chances

    def discount(self, n_ranks: int) -> Float64Array:
        """One over each rank, counted from 1, within the cutoff."""
        return RECIPROCAL.table(self.depth(n_ranks))


# A swap divides by the chance to go on, which must not vanish, in float32 either.
SUREST_STOP = 1.0 - 2.0**-24

DELTAS: Mapping[str, Callable[..., Delta]] = {
    "constant": Constant,
    "ndcg": NDCG,
    "dcg": DCG,
    "map": AveragePrecision,
    "mrr": ReciprocalRank,
    "wta": WinnerTakesAll,
    "err": ERR,
    "p": Precision,
    "recall": Recall,
    "hit": Hit,
}


def delta_named(text: str) -> Delta:
    """The delta of the metric whose name is `text`, such as `ndcg@10` or `map`."""
    match = re.fullmatch(r"([a-z-]+)(?:@([0-9]+))?", text)
    if match is None or match[1] not in DELTAS:
        raise UnknownNameError("metric to aim at", text, known=DELTAS)
    make = DELTAS[match[1]]
    if match[2] is None:
        return make()
    if make in (Constant, WinnerTakesAll):
        raise SettingError(f"{match[1]} has no cutoff, got {text!r}")
    return make(cutoff=int(match[2]))


def _relevant(labels: Float32Array, above: float) -> Float64Array:
    return (labels > above).astype(np.float64)


def _sums(values: Float64Array, groups: Groups) -> Float64Array:
    return np.bincount(groups.query_of_row, values, groups.n_queries).astype(np.float64)


def _share(values: Float64Array, totals: Float64Array, groups: Groups) -> Float64Array:
    """Each row's value over the total of its query; 0 where that is 0."""
    total_of_row = np.repeat(totals, groups.sizes)
    return np.divide(values, total_of_row, out=np.zeros_like(values), where=total_of_row > 0)
