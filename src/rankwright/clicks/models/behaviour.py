"""How users go through a list: rank by rank, the chance of a click, given the clicks above.

A behaviour is a value without documents. What it needs to know of them comes as `Shown`: matrices with a row for each
list and a column for each rank. Fitted models and the simulator share the behaviours.

`examining` is the chance that a user still examines a rank, given the clicks above it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray
from rankwright.clicks.models.rates import LEAST_CHANCE


class Shown(NamedTuple):
    """What a user sees in each list, (lists, ranks): the chances that a document attracts, and satisfies if clicked."""

    attraction: Float64Array
    satisfaction: Float64Array


class Behaviour(Protocol):
    """How users click their way down a list."""

    def start(self, n_lists: int) -> Any:
        """What is known of the users before the first rank."""

    def chance(self, state: Any, rank: int, shown: Shown) -> Float64Array:
        """The chance of a click at a rank."""

    def seen(self, state: Any, rank: int, shown: Shown, clicked: BoolArray) -> Any:
        """What is known of the users after they clicked, or did not click, at a rank."""

    def marginal(self, shown: Shown) -> Float64Array:
        """The chances of clicks at all ranks if nothing is known of clicks above."""


def conditional_chances(behaviour: Behaviour, shown: Shown, clicked: BoolArray) -> Float64Array:
    """The chance of a click at each rank, given the clicks above it."""
    return _walk(behaviour, shown, lambda rank, _: clicked[:, rank])[0]


def drawn_clicks(behaviour: Behaviour, shown: Shown, random: Float64Array) -> BoolArray:
    """Clicks drawn with random numbers between 0 and 1, one for each list and rank."""
    return _walk(behaviour, shown, lambda rank, chance: random[:, rank] < chance)[1]


def _walk(
    behaviour: Behaviour, shown: Shown, clicks_at: Callable[[int, Float64Array], BoolArray]
) -> tuple[Float64Array, BoolArray]:
    n_lists, n_ranks = shown.attraction.shape
    state = behaviour.start(n_lists)
    chances, clicked = np.empty((n_lists, n_ranks)), np.empty((n_lists, n_ranks), np.bool_)
    for rank in range(n_ranks):
        chances[:, rank] = behaviour.chance(state, rank, shown)
        clicked[:, rank] = clicks_at(rank, chances[:, rank])
        state = behaviour.seen(state, rank, shown, clicked[:, rank])
    return chances, clicked


@dataclass(frozen=True, slots=True, eq=False)
class PositionBased:
    """A rank is examined with a chance of its own, whatever was clicked above."""

    examination: Float64Array  # of each rank
    attracts: bool = True  # whether attraction plays a part; otherwise clicks depend on the rank alone

    def start(self, n_lists: int) -> None:
        """Nothing needs to be known."""

    def chance(self, state: None, rank: int, shown: Shown) -> Float64Array:  # noqa: ARG002
        """Examined and attractive."""
        attraction = shown.attraction[:, rank] if self.attracts else np.ones(len(shown.attraction))
        return at(self.examination, rank) * attraction

    def seen(self, state: None, rank: int, shown: Shown, clicked: BoolArray) -> None:
        """Nothing is learned: clicks above make no difference."""

    def marginal(self, shown: Shown) -> Float64Array:
        """Examined and attractive."""
        attraction = shown.attraction if self.attracts else np.ones(shown.attraction.shape)
        return ranked(self.examination, attraction.shape[1]) * attraction


@dataclass(frozen=True, slots=True, eq=False)
class UserBrowsing:
    """How likely a rank is examined depends on where the last click was."""

    examination: Float64Array  # of (rank, one more than the rank of the last click, 0 for none)

    def start(self, n_lists: int) -> IntArray:
        """No click yet."""
        return np.zeros(n_lists, np.int64)

    def chance(self, state: IntArray, rank: int, shown: Shown) -> Float64Array:
        """Examined after the last click, and attractive."""
        return self._after(state, rank) * shown.attraction[:, rank]

    def seen(self, state: IntArray, rank: int, shown: Shown, clicked: BoolArray) -> IntArray:  # noqa: ARG002
        """The last click."""
        return np.where(clicked, rank + 1, state)

    def marginal(self, shown: Shown) -> Float64Array:
        """The sum over all places of the last click."""
        n_lists, n_ranks = shown.attraction.shape
        chances = np.empty((n_lists, n_ranks))
        last_at = np.zeros((n_lists, n_ranks + 1))  # the chance that the last click was there
        last_at[:, 0] = 1
        for rank in range(n_ranks):
            of_last = self._after(np.arange(rank + 1), rank) * shown.attraction[:, rank, None]
            clicks = last_at[:, : rank + 1] * of_last
            chances[:, rank] = clicks.sum(axis=1)
            last_at[:, : rank + 1] -= clicks
            last_at[:, rank + 1] = chances[:, rank]
        return chances

    def _after(self, last: IntArray, rank: int) -> Float64Array:
        deepest = len(self.examination) - 1
        chances: Float64Array = self.examination[min(rank, deepest), np.minimum(last, deepest + 1)]
        return chances


@dataclass(frozen=True, slots=True, eq=False)
class Chain:
    """Users go from the top down and may leave at every rank.

    After a click, the user goes on with the chance `after_click` of the rank times one minus the document's
    satisfaction; after none, with the chance `persistence`. `noise` is the chance of a click on what is not examined.
    """

    after_click: Float64Array  # of each rank
    persistence: float = 1.0
    satisfies: bool = False  # whether satisfaction plays a part
    noise: float = 0.0

    def start(self, n_lists: int) -> Float64Array:
        """The first rank is examined."""
        return np.ones(n_lists)

    def chance(self, state: Float64Array, rank: int, shown: Shown) -> Float64Array:
        """Still examining and attracted, or clicking by mistake."""
        return state * shown.attraction[:, rank] + (1 - state) * self.noise

    def seen(self, state: Float64Array, rank: int, shown: Shown, clicked: BoolArray) -> Float64Array:
        """How likely the next rank is examined, by Bayes' rule."""
        attraction, chance = shown.attraction[:, rank], self.chance(state, rank, shown)
        if_clicked = state * attraction / np.maximum(chance, LEAST_CHANCE) * self._on_after_click(rank, shown)
        if_skipped = state * (1 - attraction) / np.maximum(1 - chance, LEAST_CHANCE) * self.persistence
        return np.where(clicked, np.minimum(if_clicked, 1), np.minimum(if_skipped, 1))

    def marginal(self, shown: Shown) -> Float64Array:
        """The chances while users leave one after another."""
        n_lists, n_ranks = shown.attraction.shape
        chances, examining = np.empty((n_lists, n_ranks)), np.ones(n_lists)
        for rank in range(n_ranks):
            attraction = shown.attraction[:, rank]
            chances[:, rank] = self.chance(examining, rank, shown)
            goes_on = attraction * self._on_after_click(rank, shown) + (1 - attraction) * self.persistence
            examining = examining * goes_on
        return chances

    def _on_after_click(self, rank: int, shown: Shown) -> Float64Array:
        left = 1 - shown.satisfaction[:, rank] if self.satisfies else np.ones(len(shown.attraction))
        return at(self.after_click, rank) * left


def at(values: Float64Array, rank: int) -> float:
    """The value of a rank; ranks deeper than any that was seen count as the deepest."""
    return float(values[min(rank, len(values) - 1)])


def ranked(values: Float64Array, n_ranks: int) -> Float64Array:
    """The values of the first ranks, deeper ones as in `at`."""
    return values[np.minimum(np.arange(n_ranks), len(values) - 1)]
