"""What held-out lists say of data that was made from clicks, before a ranker is trained on it.

Quick forests learn from the data of some queries and order the lists of others. How well these orders agree with the
clicks on those lists is compared with the order that users were shown, and with chance. Users look at the top first, so
their clicks favour the order shown; but a ranker that falls short of it has not learned what its own log could teach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
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
RANDOM_ORDERS = 10  # whose mean is what chance reaches
PREFERENCES, RATES, SHOWN, CHANCE = "preferences", "click rates", "the order shown", "a random order"


class WorseThanShownWarning(UserWarning):
    """A ranker that learns from this data would rank worse than the order that users were shown."""


@dataclass(frozen=True, slots=True)
class HeldOutOrders:
    """How well orders of held-out lists agree with the clicks on them.

    `values` has the mean NDCG@10 of each order by name, of which the first is what a ranker learns from the data; it is
    empty where too few queries have clicks. `gain` tells by how many standard errors, over queries, the first order is
    better than the one shown.
    """

    n_queries: int
    values: Mapping[str, float]
    gain: float

    @property
    def told(self) -> str:
        """The comparison in a sentence."""
        if not self.values:
            return (
                f"not compared with the order shown: {counted(self.n_queries, 'query has', 'queries have')} clicks on "
                f"some of several documents, and {LEAST_QUERIES} are needed"
            )
        listed = ", ".join(f"{name} {value:.3f}" for name, value in self.values.items())
        return (
            f"NDCG@10 on held-out lists of {counted(self.n_queries, 'query')}, by clicks, which favour the order "
            f"shown: {listed}"
        )

    @property
    def warning(self) -> str | None:
        """What speaks against training on the data; None where nothing does."""
        if not self.values or self.gain > -SURE:
            return None
        learned = next(iter(self.values))
        and_chance = ", and worse than a random order" if self.values[learned] < self.values[CHANCE] else ""
        remedy = (
            "train on click rates"
            if learned == PREFERENCES
            else "these features may tell less than the engine knows, so give its score as a feature"
        )
        return (
            f"a ranker that learns from these {learned} ranks held-out lists worse than the order shown{and_chance}: "
            f"{remedy}"
        )

    def to_dict(self) -> dict[str, object]:
        """The comparison in types that JSON can hold."""
        return {"queries": self.n_queries, "metric": METRIC, "values": dict(self.values), "gain": self.gain}


def sampled_queries(data: RankingDataset) -> RankingDataset:
    """As many queries, spread over all of them, as have about `MOST_DOCS` documents."""
    n_queries = min(data.n_queries, max(1, int(data.n_queries * MOST_DOCS / max(data.n_docs, 1))))
    return data.take_queries(np.linspace(0, data.n_queries - 1, n_queries).round().astype(np.int64))


def held_out_orders(clicked: RankingDataset, *, seed: int = 0, threads: int | None = None) -> HeldOutOrders:
    """Compare what rankers learn from documents with the order in which these were shown.

    `clicked` has click rates as labels, positions, and the preferences to learn from, if it is these.
    """
    data = _with_contrast(clicked)
    if data.n_queries < LEAST_QUERIES:
        return HeldOutOrders(data.n_queries, {}, 0.0)
    plain = replace(data, preferences=None, positions=None)
    how: dict[str, Any] = {"what": "comparing with the order shown", "seed": seed, "threads": threads}
    scores: dict[str, list[Float64Array]] = {}
    if data.preferences is not None:
        pairs = replace(plain, preferences=data.preferences)
        scores[PREFERENCES] = [held_out_scores(pairs, ranknet(), [N_TREES], **how)[0]]
    scores[RATES] = [held_out_scores(plain, lambdarank(METRIC), [N_TREES], **how)[0]]
    scores[SHOWN] = [-np.asarray(data.positions, np.float64)]
    scores[CHANCE] = list(np.random.default_rng(seed).random((RANDOM_ORDERS, data.n_docs)))
    values = {name: np.mean([_agreement(one, data) for one in some], axis=0) for name, some in scores.items()}
    learned = next(iter(values.values()))
    means = {name: float(one.mean()) for name, one in values.items()}
    return HeldOutOrders(data.n_queries, means, standard_errors(learned - values[SHOWN]))


def _with_contrast(data: RankingDataset) -> RankingDataset:
    """The queries of which some shown documents have more clicks than others."""
    labels, query = np.asarray(data.labels), data.groups.query_of_row
    shown = ~np.isnan(labels)
    most, least = np.full(data.n_queries, -np.inf), np.full(data.n_queries, np.inf)
    np.maximum.at(most, query[shown], labels[shown])
    np.minimum.at(least, query[shown], labels[shown])
    return data.take_queries(np.flatnonzero(most > least))


def _agreement(scores: Float64Array, data: RankingDataset) -> Float64Array:
    """NDCG@10 of each query's shown documents in the order of the scores, by their click rates."""
    labels = np.asarray(data.labels)
    shown = ~np.isnan(labels)
    sizes = np.bincount(data.groups.query_of_row[shown], minlength=data.n_queries)
    lists = ScoredLists(scores=scores[shown], labels=labels[shown], groups=Groups.of_sizes(sizes))
    return evaluate_lists(lists, [METRIC], "standard")[METRIC].values
