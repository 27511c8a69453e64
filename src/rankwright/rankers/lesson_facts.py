"""Whether data holds anything that a ranker could learn from, by a few facts that workers can count of their parts.

Workers that grow a forest import this, so it imports little.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, Message, Parameter

REMEDY = Message(Parameter("allow_empty", True), " trains such a model all the same")


class NothingToLearnError(InputError):
    """The data holds nothing that this ranker could learn from."""


@dataclass(frozen=True, slots=True)
class LessonFacts:
    """What is asked of data before it is learned from; parts of it, with whole queries, add up."""

    n_docs: int = 0
    n_queries: int = 0
    has_labels: bool = False
    n_judged: int = 0
    lowest: float = inf  # label
    highest: float = -inf
    largest: int = 0  # number of documents of a query
    some_differ: bool = False  # labels, within a query

    @classmethod
    def of(cls, data: RankingDataset) -> LessonFacts:
        """The facts of a dataset."""
        counts = {"n_docs": data.n_docs, "n_queries": data.n_queries, "largest": int(data.groups.sizes.max(initial=0))}
        if data.labels is None or data.n_docs == 0:
            return cls(has_labels=data.labels is not None, **counts)  # type: ignore[arg-type]
        judged = data.labels[~np.isnan(data.labels)]
        return cls(
            has_labels=True,
            n_judged=len(judged),
            lowest=float(judged.min(initial=inf)),
            highest=float(judged.max(initial=-inf)),
            some_differ=_some_query_differs(data),
            **counts,
        )

    def __add__(self, other: LessonFacts) -> LessonFacts:
        return LessonFacts(
            self.n_docs + other.n_docs,
            self.n_queries + other.n_queries,
            self.has_labels or other.has_labels,
            self.n_judged + other.n_judged,
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            max(self.largest, other.largest),
            self.some_differ or other.some_differ,
        )


def check_something_to_learn(name: str, data: RankingDataset, *, alone: bool) -> None:
    """Raise where the ranker `name` would learn nothing from `data`; it learns from documents `alone`, or from pairs.

    Without labels there is nothing to check: preferences say by themselves what to learn.
    """
    if data.preferences is None or not len(data.preferences.better):
        check_facts(name, LessonFacts.of(data), alone=alone)


def check_facts(name: str, facts: LessonFacts, *, alone: bool) -> None:
    """Like `check_something_to_learn`, for data without preferences of which only these facts are known."""
    why = _why_nothing(facts, alone=alone)
    if why is not None:
        raise NothingToLearnError(Message(f"there is nothing for {name} to learn from: {why}; ", REMEDY))


def _why_nothing(facts: LessonFacts, *, alone: bool) -> str | None:
    if facts.n_docs == 0:
        return "the data has no documents"
    if not facts.has_labels:
        return "the data has neither labels nor preferences"
    if not facts.n_judged:
        return f"none of the {facts.n_docs:,} documents has a label, all are missing"
    if facts.n_docs == 1:
        return "there is one document alone (n_samples=1)"
    if not alone and facts.largest == 1:
        return (
            f"each of the {facts.n_queries:,} queries has one document (are these the query ids, and not those of "
            f"documents?)"
        )
    if facts.lowest == facts.highest:
        return f"all {facts.n_judged:,} labels are {facts.lowest:g}"
    if not alone and not facts.some_differ:
        return "no query has two documents with different labels"
    return None


def _some_query_differs(data: RankingDataset) -> bool:
    assert data.labels is not None
    starts = data.groups.offsets[:-1][data.groups.sizes > 0]
    highest, lowest = np.fmax.reduceat(data.labels, starts), np.fmin.reduceat(data.labels, starts)
    return bool((highest > lowest).any())
