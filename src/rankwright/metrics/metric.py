"""What a metric is, and what all of them share.

A metric is a value: frozen, comparable, printable, with no memory of the last call. A list is the documents of a query,
best first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IdArray
from rankwright.data.groups import Groups
from rankwright.data.side_columns import Side, columns_asked_for, side_for
from rankwright.errors import InputError, require
from rankwright.kernels.records import RankedLists
from rankwright.metrics.convention import Convention, Empty, Unjudged
from rankwright.ranking.order import Ranking, Ties, break_ties


class Metric(Protocol):
    """A number for each query, which a convention completes."""

    depends_on: ClassVar[frozenset[str]]  # the rules of a convention that can change its value

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is a better one."""

    @property
    def name(self) -> str:
        """The text that parses back into this metric."""

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The metric of each query under the convention; NaN where the query does not count."""


@runtime_checkable
class SwapMetric(Metric, Protocol):
    """A metric that is made from a worth of each document and a discount of each rank.

    From the two a kernel computes what each swap of two documents changes, so a ranker can be trained for the metric.
    """

    kind: ClassVar[str]  # the kernels' name for how the metric is made from the two

    @property
    def depth(self) -> int:
        """How many ranks count."""

    def worth(self, labels: Float32Array, groups: Groups, convention: Convention, threads: int = 1) -> Float64Array:
        """The worth of each document, given its label and those of its query; no label is NaN."""

    def discount(self, n_ranks: int, convention: Convention) -> Float64Array:
        """The share of a worth that is left at each of the first `n_ranks` ranks; shorter if the rest leave nothing."""


LIST_RULES = frozenset({"ties", "scores", "unjudged"})  # they decide the list itself, so every metric depends on them

NO_CUTOFF = int(np.iinfo(np.int64).max)  # deeper than any list


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


@dataclass(frozen=True, slots=True, eq=False)
class SettledLists:
    """Lists and labels after `settle`, the convention, and the number of threads to count with."""

    ranking: Ranking
    labels: Float32Array
    convention: Convention
    threads: int

    @property
    def gains(self) -> Float64Array:
        """The gain of each row."""
        return self.convention.gain(self.labels, self.threads)

    @property
    def relevant(self) -> BoolArray:
        """Whether each row is relevant."""
        return self.convention.relevant.of(self.labels)

    @property
    def arrays(self) -> RankedLists:
        """The lists as kernels take them: where each starts, its length, its rows, and its ties unless broken."""
        ranking = self.ranking
        ties = ranking.tied if ranking.ties is Ties.AVERAGED else np.empty(0, np.bool_)
        return RankedLists(ranking.groups.offsets, ranking.n_ranked, ranking.rows, ties)

    def count(
        self, kernel: Callable[..., None], values: NDArray[Any], *settings: Any, second: type[np.generic] = np.float64
    ) -> tuple[Float64Array, NDArray[Any]]:
        """The two numbers that a kernel finds for each list from one value per row; `second` is the second's type."""
        n_queries = self.ranking.groups.n_queries
        one, other = np.empty(n_queries), np.empty(n_queries, second)
        kernel(values, self.arrays, *settings, one, other, self.threads)
        return one, other

    def without_empty(self, values: Float64Array, is_empty: BoolArray) -> Float64Array:
        """The values of a metric that is 0 by itself where nothing is relevant; NaN there if such lists are skipped."""
        return np.where(is_empty, np.nan, values) if self.convention.empty is Empty.SKIP else values


@dataclass(frozen=True, slots=True)
class ListMetric:
    """What the metrics here share: the name of their family, and that they are counted on settled lists."""

    family: ClassVar[str]
    higher_is_better: ClassVar[bool] = True
    depends_on: ClassVar[frozenset[str]]

    @property
    def name(self) -> str:
        """The text that parses back into this metric."""
        return self.family

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The metric of each query under the convention; NaN where the query does not count."""
        return self.values(SettledLists(*settle(ranking, labels, convention, threads=threads), convention, threads))

    def values(self, lists: SettledLists) -> Float64Array:
        """The metric of each list; NaN where it does not count."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class AtAnyCutoff(ListMetric):
    """What metrics of the first `cutoff` ranks, or of all ranks, share: the cutoff, the depth and the name."""

    cutoff: int | None = None

    def __post_init__(self) -> None:
        wanted = f"the cutoff of {self.family} must be 1 or more, got {self.cutoff}"
        require(self.cutoff is None or self.cutoff >= 1, wanted)

    @property
    def name(self) -> str:
        """The text that parses back into this metric."""
        return self.name_without_cutoff if self.cutoff is None else f"{self.name_without_cutoff}@{self.cutoff}"

    @property
    def name_without_cutoff(self) -> str:
        """The part of the name before the cutoff."""
        return self.family

    @property
    def depth(self) -> int:
        """How many ranks count."""
        return NO_CUTOFF if self.cutoff is None else self.cutoff


@dataclass(frozen=True, slots=True)
class AtCutoff(AtAnyCutoff):
    """The same for metrics that need a cutoff."""

    cutoff: int


@dataclass(frozen=True, slots=True)
class FunctionMetric:
    """A metric that calls a function with the labels and the scores of one query after another.

    Further parameters without a default are side columns of the data, by name. Documents nobody judged are left out,
    and a query without judged documents does not count. A function with the attribute `higher_is_better = False` is an
    error to be made small.
    """

    depends_on: ClassVar[frozenset[str]] = frozenset()

    function: Callable[..., float]

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is a better one, which the function's attribute of that name says."""
        return bool(getattr(self.function, "higher_is_better", True))

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def per_query(
        self,
        ranking: Ranking,  # noqa: ARG002
        labels: Float32Array,  # noqa: ARG002
        convention: Convention,  # noqa: ARG002
        threads: int = 1,  # noqa: ARG002
    ) -> Float64Array:
        """An error: the function wants scores, not ranks."""
        raise InputError(f"{self.name} needs scores: it is measured with `evaluate` alone")

    def of_scores(
        self, scores: Float64Array, labels: Float32Array, groups: Groups, side: Side | None = None
    ) -> Float64Array:
        """The metric of each query; NaN where it has no judged document."""
        asked = side_for(columns_asked_for(self.function, 2), side, f"the metric {self.name}", groups.n_docs)
        values = np.full(groups.n_queries, np.nan)
        for query, rows in enumerate(groups.slices()):
            judged = ~np.isnan(labels[rows])
            if judged.any():
                own = {name: column[rows][judged] for name, column in asked.items()}
                values[query] = self._value(query, labels[rows][judged], scores[rows][judged], own)
        return values

    def _value(self, query: int, labels: Float32Array, scores: Float64Array, side: Side) -> float:
        try:
            found: Any = self.function(labels, scores, **side)
        except Exception as error:
            raise InputError(
                f"the metric {self.name} failed on query number {query}, called with {len(labels)} labels and scores: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not isinstance(found, int | float | np.number | np.bool_):
            raise InputError(f"the metric {self.name} must return a number, got {type(found).__name__}")
        return float(found)
