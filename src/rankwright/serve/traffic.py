"""Which model answers whom: one for all, shares of the queries, two in one list, or one that is only watched.

A query always goes the same way: its id is hashed with a salt, which is the same for all processes and all days. Only
requests that name no model take part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.clicks.interleaving import Interleaved, team_draft
from rankwright.errors import InputError, require
from rankwright.serve.decoding import RankQuestion
from rankwright.serve.features import Id
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.serve.ranking import best_first
from rankwright.web.metrics import MetricBoard

DRAFTED = 10  # documents of a list that two models take turns in, unless a request wants fewer
COMPARED = 10  # documents at the top in which a model that is watched is compared
FRACTION_BITS = 53


@dataclass(frozen=True, slots=True)
class Traffic:
    """How requests are shared.

    `shares` are models and the shares of the queries that they get; `interleaved` are two models, a and b, that take
    turns in each list; `shadow` is a model that scores as well and is never shown.
    """

    shares: tuple[tuple[str, float], ...] = ()
    interleaved: tuple[str, str] | None = None
    shadow: str | None = None
    salt: str = "rankwright"

    def __post_init__(self) -> None:
        require(not (self.shares and self.interleaved), "traffic is split by query or interleaved, not both")
        total = sum(share for _, share in self.shares)
        fair = all(share > 0 for _, share in self.shares) and abs(total - 1) < 1e-9
        require(not self.shares or fair, f"shares of the traffic must be above 0 and add up to 1, got {total:g}")

    @property
    def is_shared(self) -> bool:
        """Whether more than one model is shown."""
        return bool(self.shares or self.interleaved)

    def check(self, shelf: ModelShelf) -> None:
        """Raise unless all models are there and take the same features."""
        first = shelf.named(None)
        for name in self.names():
            if shelf.named(name).features != first.features:
                raise InputError(f"{name} takes other features than {first.name}, and they share requests")

    def names(self) -> list[str]:
        """The models that take part."""
        names = [name for name, _ in self.shares] + list(self.interleaved or ())
        return names + ([self.shadow] if self.shadow is not None else [])

    def model_for(self, query: Id | None) -> str | None:
        """The model that a query's share falls to; the default where the request names no query."""
        if not self.shares or query is None:
            return None
        place, reached = self.fraction("split", query), 0.0
        for name, share in self.shares:
            reached += share
            if place < reached:
                return name
        return self.shares[-1][0]

    def fraction(self, purpose: str, query: Id) -> float:
        """A number in [0, 1) that belongs to a query."""
        return float(self._hashed(purpose, str(query)) / 2**FRACTION_BITS)

    def coins(self, query: Id | None, list_id: str) -> np.random.Generator:
        """What is thrown for a list: another for each list, the same again for the same one."""
        return np.random.default_rng(self._hashed("coins", f"{query}/{list_id}"))

    def _hashed(self, purpose: str, text: str) -> int:
        digest = hashlib.sha256(f"{self.salt}/{purpose}/{text}".encode()).digest()
        return int.from_bytes(digest[:8], "big") >> (64 - FRACTION_BITS)


def drafted(
    traffic: Traffic, order_a: IntArray, order_b: IntArray, question: RankQuestion, list_id: str
) -> tuple[list[int], Interleaved[int]]:
    """The rows in the order to show: the top by turns, the rest as the first model has them; and the draft."""
    length = min(DRAFTED, question.options.top or DRAFTED, max(1, len(order_a)))
    coins = traffic.coins(question.options.query, list_id)
    draft = team_draft(order_a.tolist(), order_b.tolist(), length, seed=coins)
    taken = set(draft.documents)
    rest = [row for row in order_a.tolist() if row not in taken]
    return [*draft.documents, *rest], draft


class ShadowWatch:
    """A model that scores what another one answers; metrics tell how often they agree at the top."""

    def __init__(self, board: MetricBoard, name: str) -> None:
        label = (("model", name),)
        self._board = board
        self._lists = board.counter("rankwright_shadow_lists_total", "Lists that a shadow model scored too.", label)
        self._shared = board.counter(
            "rankwright_shadow_agreement_total",
            f"Of those, the sum of the shares of the first {COMPARED} documents that both have there.",
            label,
        )

    def compare(self, shown: Sequence[int], model: ServedModel, question: RankQuestion) -> None:
        """Score a list, and count what both have at the top."""
        scores: Float64Array = model.scores(question.features)
        size = min(COMPARED, len(shown))
        both = set(shown[:size]) & set(best_first(scores)[:size].tolist())
        self._board.add(self._lists)
        self._board.add(self._shared, len(both) / size)
