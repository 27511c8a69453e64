"""What held-out lists say of data that was made from clicks, before a ranker is trained on it.

Orders are compared with the one that users were shown, and with chance, by the clicks on lists that were held out:
once the orders that other lists of the same queries speak for, and once those of quick forests that learned from other
queries. Users look at the top first, so their clicks favour the order shown; but what falls far short of it has not
learned what its own log could teach.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float64Array
from rankwright.clicks.logs.click_log import ClickLog
from rankwright.clicks.preferences import document_sums, vote_sums
from rankwright.clicks.votes import PairVotes
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.debiasing.correction import SURE, held_out_scores, standard_errors
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.objectives.families import lambdarank, ranknet
from rankwright.tables.text import counted

METRIC = "ndcg@10"
N_TREES = 40
MOST_DOCS = 20_000  # that are looked at: more would take long, and say the same
LEAST_QUERIES = 10  # with clicks; fewer say nothing
HELD_OUT_SHARE = 0.5  # of the lists
RANDOM_ORDERS = 10  # whose mean is what chance reaches
TOO_GOOD = 0.99  # features that predict clicks so well were made from these clicks
PREFERENCES, RATES, SHOWN, CHANCE = "preferences", "click rates", "the order shown", "a random order"

Scores = dict[str, Float64Array]  # of orders by name; the first is the one that is judged


class WorseThanShownWarning(UserWarning):
    """A ranker that learns from this data may rank worse than the order that users were shown."""


@dataclass(frozen=True, slots=True)
class HeldOutOrders:
    """How well orders of held-out lists agree with the clicks on them.

    `values` has the mean NDCG@10 of each order by name; it is empty where too few queries have clicks. `gain` tells by
    how many standard errors, over queries, the first order is better than the one shown.
    """

    n_queries: int
    values: Mapping[str, float]
    gain: float

    @property
    def is_worse(self) -> bool:
        """Whether the first order is worse than the one shown, beyond chance."""
        return bool(self.values) and self.gain <= -SURE

    @property
    def is_worse_than_chance(self) -> bool:
        """Whether the first order is also worse than a random one."""
        return self.is_worse and next(iter(self.values.values())) < self.values[CHANCE]

    @property
    def told(self) -> str:
        """The values in words."""
        if not self.values:
            found = counted(self.n_queries, "query has such clicks", "queries have such clicks")
            return f"not compared with the order shown, since {found} and {LEAST_QUERIES} are needed"
        listed = ", ".join(f"{name} {value:.3f}" for name, value in self.values.items())
        return f"{listed} ({counted(self.n_queries, 'query')})"

    def to_dict(self) -> dict[str, Any]:
        """The comparison in types that JSON can hold."""
        return {"queries": self.n_queries, "metric": METRIC, "values": dict(self.values), "gain": self.gain}


@dataclass(frozen=True, slots=True)
class RouteComparison:
    """What was made from clicks beside the order shown, on held-out lists and on held-out queries."""

    lists: HeldOutOrders
    queries: HeldOutOrders

    @property
    def told(self) -> list[str]:
        """The comparison in lines."""
        return [
            "NDCG@10 by clicks, which favour the order shown:",
            f"- held-out lists, by other lists of their queries: {self.lists.told}",
            f"- held-out queries, by quick rankers: {self.queries.told}",
        ]

    @property
    def warnings(self) -> list[str]:
        """What speaks against training on the data."""
        both, found = (self.lists, self.queries), []
        tells_clicks = self.queries.values.get(RATES, 0.0) > TOO_GOOD
        is_of_preferences = any(PREFERENCES in one.values for one in both)
        if is_of_preferences and any(one.is_worse for one in both):
            chance = ", and worse than a random order" if any(one.is_worse_than_chance for one in both) else ""
            found.append(
                f"these preferences rank held-out lists worse than the order shown{chance}: train on click rates, "
                "which --rates writes"
            )
        elif (self.lists if tells_clicks else self.queries).is_worse:
            found.append(
                "these click rates rank held-out lists worse than the order shown: the engine may know more than "
                "clicks and features tell, so give its score as a feature"
            )
        if tells_clicks:
            found.append(
                "the features predict clicks on held-out queries almost exactly: they seem to be made from this log, "
                "so that the comparison by quick rankers says nothing, and a ranker will disappoint on new queries"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """The comparison in types that JSON can hold."""
        return {"lists": self.lists.to_dict(), "queries": self.queries.to_dict(), "warnings": self.warnings}


def sampled_queries(data: RankingDataset) -> RankingDataset:
    """As many queries, spread over all of them, as have about `MOST_DOCS` documents."""
    n_queries = min(data.n_queries, max(1, int(data.n_queries * MOST_DOCS / max(data.n_docs, 1))))
    return data.take_queries(np.linspace(0, data.n_queries - 1, n_queries).round().astype(np.int64))


def orders_of_lists(
    data: RankingDataset, log: ClickLog, votes_of: Callable[[ClickLog], PairVotes] | None = None, *, seed: int = 0
) -> HeldOutOrders:
    """Compare what some lists say with the order of other lists of the same queries.

    Where preferences are to be learned from, the data has them, and `votes_of` counts those of a part of the log.
    """
    known, held = log.split(HELD_OUT_SHARE, seed=seed)
    before, after = document_sums(data, known), document_sums(data, held)
    times = np.maximum(after["shown"], 1)
    rates = np.where(after["shown"] > 0, after["clicks"] / times, np.nan)
    scores: Scores = {} if votes_of is None else {PREFERENCES: vote_sums(data, votes_of(known))}
    scores |= {RATES: before["clicks"] / (before["shown"] + 1), SHOWN: -after["ranks"] / times}
    is_known = np.bincount(data.groups.query_of_row, before["shown"], data.n_queries) > 0
    return _compared(scores, rates, data.groups, is_known & _have_contrast(rates, data.groups), seed)


def orders_of_queries(clicked: RankingDataset, *, seed: int = 0, threads: int | None = None) -> HeldOutOrders:
    """Compare what quick forests learn from some queries with the order of the lists of others.

    `clicked` has click rates as labels, positions, and the preferences to learn from, if it is these.
    """
    rates = np.asarray(clicked.labels, np.float64)
    have_contrast = _have_contrast(rates, clicked.groups)
    if have_contrast.sum() < LEAST_QUERIES:
        return HeldOutOrders(int(have_contrast.sum()), {}, 0.0)
    plain, scores = replace(clicked, preferences=None, positions=None), Scores()
    how: dict[str, Any] = {"what": "comparing with the order shown", "seed": seed, "threads": threads}
    if clicked.preferences is not None:
        pairs = replace(plain, preferences=clicked.preferences)
        scores[PREFERENCES] = held_out_scores(pairs, ranknet(), [N_TREES], **how)[0]
    scores[RATES] = held_out_scores(plain, lambdarank(METRIC), [N_TREES], **how)[0]
    scores[SHOWN] = -np.asarray(clicked.positions, np.float64)
    return _compared(scores, rates, clicked.groups, have_contrast, seed)


def _have_contrast(rates: Float64Array, groups: Groups) -> BoolArray:
    """Which queries have shown documents of which some have more clicks than others."""
    query, shown = groups.query_of_row, ~np.isnan(rates)
    most, least = np.full(groups.n_queries, -np.inf), np.full(groups.n_queries, np.inf)
    np.maximum.at(most, query[shown], rates[shown])
    np.minimum.at(least, query[shown], rates[shown])
    return most > least


def _compared(scores: Scores, rates: Float64Array, groups: Groups, chosen: BoolArray, seed: int) -> HeldOutOrders:
    """The agreement of orders with the click rates of the chosen queries' documents, NaN for those not shown."""
    n_queries = int(chosen.sum())
    if n_queries < LEAST_QUERIES:
        return HeldOutOrders(n_queries, {}, 0.0)
    rows = ~np.isnan(rates) & chosen[groups.query_of_row]
    labels = rates[rows].astype(np.float32)
    lists = Groups.of_sizes(np.bincount(groups.query_of_row[rows], minlength=groups.n_queries)[chosen])

    def agreement(own: Float64Array) -> Float64Array:
        scored = ScoredLists(scores=own[rows].astype(np.float64), labels=labels, groups=lists)
        return evaluate_lists(scored, [METRIC], "standard")[METRIC].values

    values = {name: agreement(own) for name, own in scores.items()}
    random = np.random.default_rng(seed).random((RANDOM_ORDERS, len(rates)))
    values[CHANCE] = np.mean([agreement(own) for own in random], axis=0)
    gain = standard_errors(next(iter(values.values())) - values[SHOWN])
    return HeldOutOrders(n_queries, {name: float(own.mean()) for name, own in values.items()}, gain)
