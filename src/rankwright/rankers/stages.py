"""The stages that data goes through before it is learned from: each takes data and gives it on, with what it found.

The stages here are functions of a ranker, for its settings and what it states it takes; with the ranker given they are
a `Stage`, which knows nothing of who runs it:

    data, found = run_stages(data, (partial(weigh, ranker), partial(refuse, ranker)), TrainingFindings())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from rankwright.clicks.weights import weighed_by_propensity
from rankwright.data.columns import quoted_list
from rankwright.data.dataset import RankingDataset, call_irrelevant
from rankwright.data.keys import key_order
from rankwright.errors import InputError, Message, Parameter
from rankwright.rankers.seen import SeenQueries
from rankwright.rankers.trained import TrainingFindings

UNJUDGED_STREAM = 0x756E  # added to the seed, so that draws here do not depend on those of training

Passed = tuple[RankingDataset, TrainingFindings]  # what a stage gives on
Stage = Callable[[RankingDataset, TrainingFindings], Passed]


def run_stages(data: RankingDataset, stages: Iterable[Stage], found: TrainingFindings) -> Passed:
    """The data after all stages, and what was found before and by them."""
    for stage in stages:
        data, found = stage(data, found)
    return data, found


def weigh(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Weigh clicks by inverse propensity, if the data has propensities."""
    if data.propensities is not None and not ranker.takes_propensities:
        raise InputError(
            f"{ranker.name} measures whole lists, in which one click cannot count more than another: leave propensity "
            f"out, or train a ranker that follows pairs or lists of documents"
        )
    weighed, weights = weighed_by_propensity(data)
    return weighed, found if weights is None else replace(found, propensity_weights=weights)


def refuse(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Raise if the data has something that the ranker cannot learn from, by what it states it takes."""
    if data.initial_scores is not None and not ranker.takes_initial_scores:
        raise InputError(f"{ranker.name} cannot start from initial scores: leave them out")
    weights = data.document_weights
    if not ranker.takes_document_weights and weights is not None and (weights != weights[:1]).any():
        raise InputError(
            f"{ranker.name} measures whole lists, in which a document's weight has no meaning: weigh queries "
            f"(query_weight), or leave document weights out"
        )
    if data.categories and not ranker.takes_categories:
        texts = f"{ranker.name} learns from numbers, and {quoted_list(list(data.categories))} holds texts"
        others = ", turn it into numbers, or train trees, which take categories"
        raise InputError(Message(f"{texts}: leave it out with ", Parameter("drop"), others))
    if data.positions is not None and not ranker.takes_positions:
        given = f"{ranker.name} does not learn from positions, and was given them"
        raise InputError(Message(f"{given}: leave position out, or drop that column with ", Parameter("drop")))
    return data, found


def order(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Put the data in the order of its keys, so that the order it was given in does not matter; note some queries."""
    keys = key_order(data, threads=ranker.threads)
    return data.in_key_order(keys), replace(found, seen_queries=SeenQueries.of_keys(keys.keys))


def judge_some(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Make a share of the unjudged documents irrelevant, drawn at random; None leaves all of them unjudged."""
    return call_irrelevant(data, ranker.unjudged, np.random.default_rng([ranker.seed, UNJUDGED_STREAM])), found


def ask(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Raise if there is nothing in the data that the ranker could learn from."""
    check_something_to_learn(ranker.name, data, alone=ranker.recipe.learns_alone(ranker, found))
    return data, found


def usual_stages(ranker: Any, *, allow_empty: bool, ordered: bool = False) -> tuple[Stage, ...]:
    """The stages between what was given and scaling; what is binned already is `ordered` by its keys."""
    stages = (weigh, refuse, *(() if ordered else (order,)), judge_some, *(() if allow_empty else (ask,)))
    return tuple(partial(stage, ranker) for stage in stages)


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
