"""What a metric is, and what all of them share.

A metric is a value: frozen, comparable, printable, with no memory of the last call. A list is the documents of a query,
best first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IdArray, IntArray
from rankwright.errors import require
from rankwright.metrics.convention import Convention
from rankwright.metrics.rules import Empty, Unjudged
from rankwright.ranking.order import Ranking, Ties, break_ties


class Metric(Protocol):
    """A number for each query, which a convention completes."""

    higher_is_better: ClassVar[bool]
    depends_on: ClassVar[frozenset[str]]  # the rules of a convention that can change its value

    @property
    def name(self) -> str:
        """The text that parses back into this metric."""

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The metric of each query under the convention; NaN where the query does not count."""


LIST_RULES = frozenset({"ties", "scores", "unjudged"})  # they decide the list itself, so every metric depends on them
GRADED_RULES = LIST_RULES | {"gain", "discount", "empty"}
BINARY_RULES = LIST_RULES | {"relevant", "empty"}

NO_CUTOFF = int(np.iinfo(np.int64).max)  # deeper than any list


@dataclass(frozen=True, slots=True)
class AtAnyCutoff:
    """What metrics share that look at the first `cutoff` ranks, or at all: the cutoff, the depth and the name."""

    cutoff: int | None = None
    family: ClassVar[str]

    def __post_init__(self) -> None:
        require(
            self.cutoff is None or self.cutoff >= 1,
            f"the cutoff of {self.family} must be 1 or more, got {self.cutoff}",
        )

    @property
    def name(self) -> str:
        """The text that parses back into this metric."""
        return self.family if self.cutoff is None else f"{self.family}@{self.cutoff}"

    @property
    def depth(self) -> int:
        """How many ranks count."""
        return NO_CUTOFF if self.cutoff is None else self.cutoff


@dataclass(frozen=True, slots=True)
class AtCutoff(AtAnyCutoff):
    """The same for metrics that need a cutoff."""

    cutoff: int


def settle(
    ranking: Ranking,
    labels: Float32Array,
    convention: Convention,
    *,
    document_ids: IdArray | None = None,
    threads: int = 1,
) -> tuple[Ranking, Float32Array]:
    """The lists and labels as the convention sees them, with unjudged documents decided on and ties broken.

    What is settled already stays as it is, so that many metrics can share the work.
    """
    if np.isnan(labels.min(initial=np.inf)):
        unjudged = np.isnan(labels)
        if convention.unjudged is Unjudged.SKIP:
            ranking = ranking.of_rows(~unjudged)
        labels = np.where(unjudged, np.float32(0), labels)
    return break_ties(ranking, convention.ties, labels=labels, document_ids=document_ids, threads=threads), labels


def lists_of(ranking: Ranking) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """The lists as kernels take them: where each starts, its length, its rows, and its ties unless they are broken."""
    ties = ranking.tied if ranking.ties is Ties.AVERAGED else np.empty(0, np.bool_)
    return ranking.groups.offsets, ranking.n_ranked, ranking.rows, ties


def without_empty(values: Float64Array, is_empty: BoolArray, convention: Convention) -> Float64Array:
    """The values of a metric that is 0 by itself where nothing is relevant; NaN there if such queries are left out."""
    return np.where(is_empty, np.nan, values) if convention.empty is Empty.SKIP else values
