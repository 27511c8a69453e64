"""The stages that data goes through before it is learned from: each takes data and gives it on, with what it found.

A stage is a value that knows its settings and nothing of who runs it:

    data, found = run_stages(data, (Weigh(…), Refuse(…), JudgeSome(…), Ask(…)), TrainingFindings())
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.clicks.weights import weighed_by_propensity
from rankwright.data.columns import quoted_list
from rankwright.data.dataset import RankingDataset, call_irrelevant
from rankwright.data.keys import key_order
from rankwright.errors import InputError, Message, Parameter
from rankwright.rankers.lessons import check_something_to_learn
from rankwright.rankers.seen import SeenQueries
from rankwright.rankers.trained import TrainingFindings

UNJUDGED_STREAM = 0x756E  # added to the seed, so that draws here do not depend on those of training

Stage = Callable[[RankingDataset, TrainingFindings], tuple[RankingDataset, TrainingFindings]]


def run_stages(
    data: RankingDataset, stages: Iterable[Stage], found: TrainingFindings
) -> tuple[RankingDataset, TrainingFindings]:
    """The data after all stages, and what was found before and by them."""
    for stage in stages:
        data, found = stage(data, found)
    return data, found


@dataclass(frozen=True, slots=True)
class Weigh:
    """Weighs clicks by inverse propensity, if the data has propensities."""

    ranker: Any  # its name, and whether it takes propensities

    def __call__(self, data: RankingDataset, found: TrainingFindings) -> tuple[RankingDataset, TrainingFindings]:
        """Weigh the clicks."""
        if data.propensities is not None and not self.ranker.takes_propensities:
            raise InputError(
                f"{self.ranker.name} measures whole lists, in which one click cannot count more than another: leave "
                f"propensity out, or train a ranker that follows pairs or lists of documents"
            )
        weighed, weights = weighed_by_propensity(data)
        return weighed, found if weights is None else replace(found, propensity_weights=weights)


@dataclass(frozen=True, slots=True)
class Refuse:
    """Raises if the data has something that a ranker cannot learn from, by what the ranker states it takes."""

    ranker: Any

    def __call__(self, data: RankingDataset, found: TrainingFindings) -> tuple[RankingDataset, TrainingFindings]:
        """Check the data."""
        ranker = self.ranker
        if data.initial_scores is not None and not ranker.takes_initial_scores:
            raise InputError(f"{ranker.name} cannot start from initial scores: leave them out")
        if not ranker.takes_document_weights and not _are_equal(data.document_weights):
            raise InputError(
                f"{ranker.name} measures whole lists, in which a document's weight has no meaning: weigh queries "
                f"(query_weight), or leave document weights out"
            )
        if data.categories and not ranker.takes_categories:
            names = quoted_list(list(data.categories))
            raise InputError(
                Message(
                    f"{ranker.name} learns from numbers, and {names} holds texts: leave it out with ",
                    Parameter("drop"),
                    ", turn it into numbers, or train trees, which take categories",
                )
            )
        if data.positions is not None and not ranker.takes_positions:
            raise InputError(
                Message(
                    f"{ranker.name} does not learn from positions, and was given them: leave position out, or drop "
                    f"that column with ",
                    Parameter("drop"),
                )
            )
        return data, found


def _are_equal(weights: Float32Array | None) -> bool:
    return weights is None or len(weights) == 0 or bool((weights == weights[0]).all())


@dataclass(frozen=True, slots=True)
class Order:
    """Puts the data in the order of its keys, so that the order it was given in does not matter."""

    threads: int | None

    def __call__(self, data: RankingDataset, found: TrainingFindings) -> tuple[RankingDataset, TrainingFindings]:
        """Order the data, and remember some of its queries."""
        order = key_order(data, threads=self.threads)
        return data.in_key_order(order), replace(found, seen_queries=SeenQueries.of_keys(order.keys))


@dataclass(frozen=True, slots=True)
class JudgeSome:
    """Makes a share of the unjudged documents irrelevant, drawn at random; None leaves all of them unjudged."""

    share: float | None
    seed: int

    def __call__(self, data: RankingDataset, found: TrainingFindings) -> tuple[RankingDataset, TrainingFindings]:
        """Call some documents irrelevant."""
        return call_irrelevant(data, self.share, np.random.default_rng([self.seed, UNJUDGED_STREAM])), found


@dataclass(frozen=True, slots=True)
class Ask:
    """Raises if there is nothing in the data that a ranker could learn from."""

    ranker: Any

    def __call__(self, data: RankingDataset, found: TrainingFindings) -> tuple[RankingDataset, TrainingFindings]:
        """Look for something to learn."""
        check_something_to_learn(self.ranker.name, data, alone=self.ranker.recipe.learns_alone(self.ranker, found))
        return data, found


def usual_stages(ranker: Any, *, allow_empty: bool, order: bool = True) -> tuple[Stage, ...]:
    """The stages between what was given and scaling; what is binned already is in the order of its keys."""
    ordering = (Order(ranker.threads),) if order else ()
    asking = () if allow_empty else (Ask(ranker),)
    return (Weigh(ranker), Refuse(ranker), *ordering, JudgeSome(ranker.unjudged, ranker.seed), *asking)
