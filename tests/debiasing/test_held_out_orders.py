"""What held-out lists say of data made from clicks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.clicks import ClickLog, count_votes
from rankwright.debiasing.held_out_orders import (
    CHANCE,
    LEAST_QUERIES,
    MOST_DOCS,
    PREFERENCES,
    RATES,
    SHOWN,
    HeldOutOrders,
    RouteComparison,
    orders_of_lists,
    orders_of_queries,
    sampled_queries,
)


def clicked(n_queries: int, *, informative: bool = True) -> rw.RankingDataset:
    """Lists of five in the order of their clicks; the one feature tells the clicks, or nothing."""
    rates = np.tile([0.5, 0.4, 0.3, 0.2, 0.1], n_queries)
    feature = rates if informative else np.random.default_rng(0).random(len(rates))
    positions = np.tile(np.arange(5), n_queries)
    return rw.RankingDataset.from_arrays(feature[:, None], rates, group=[5] * n_queries, positions=positions)


def test_what_features_tell_is_as_good_as_the_order_shown():
    found = orders_of_queries(clicked(40))
    assert list(found.values) == [RATES, SHOWN, CHANCE]
    assert found.values[SHOWN] == pytest.approx(1)
    assert found.values[RATES] > 0.99
    assert found.values[CHANCE] < 0.95
    assert not found.is_worse


def test_features_that_tell_nothing_are_worse():
    assert orders_of_queries(clicked(40, informative=False)).is_worse


def test_preferences_against_the_order_are_worse_than_chance():
    upper = np.arange(0, 200, 5)
    found = orders_of_queries(replace(clicked(40), preferences=rw.Preferences(upper + 4, upper)))
    assert next(iter(found.values)) == PREFERENCES
    assert found.values[PREFERENCES] < found.values[CHANCE] < found.values[RATES]
    assert found.is_worse_than_chance


def test_few_queries_with_clicks_are_not_compared():
    data = clicked(LEAST_QUERIES)
    labels = np.asarray(data.labels).copy()
    labels[:5] = 0.2  # all alike: no order is better than another
    found = orders_of_queries(replace(data, labels=labels))
    assert found == HeldOutOrders(LEAST_QUERIES - 1, {}, 0.0)
    assert found.told == "not compared with the order shown, since 9 queries have such clicks and 10 are needed"
    assert not found.is_worse


def test_what_was_not_shown_plays_no_part():
    data = clicked(20)
    labels = np.asarray(data.labels).copy()
    labels[4::5] = np.nan
    assert orders_of_queries(replace(data, labels=labels)).values[SHOWN] == pytest.approx(1)


def test_lists_of_known_queries_tell_without_features():
    """Users click the first document of lists that never change: skip-above has only the few other clicks."""
    queries = np.repeat(np.arange(20), 30).tolist()
    positions = [[3] if user % 10 == 0 else [1] for user in range(30)] * 20
    log = ClickLog.from_lists(queries, [[5 * query + place for place in range(5)] for query in queries], positions)
    data = rw.RankingDataset.from_arrays(np.zeros((100, 1)), qid=np.repeat(np.arange(20), 5), document_ids=range(100))
    found = orders_of_lists(data, log, count_votes)
    assert list(found.values) == [PREFERENCES, RATES, SHOWN, CHANCE]
    assert found.values[RATES] > found.values[SHOWN] > found.values[PREFERENCES]
    assert found.is_worse
    assert list(orders_of_lists(data, log).values) == [RATES, SHOWN, CHANCE]
    once = log.take(np.arange(0, 600, 30))
    assert orders_of_lists(data, once).values == {}  # no query has another list


GOOD = HeldOutOrders(20, {RATES: 0.8, SHOWN: 0.8, CHANCE: 0.5}, 0.0)
BAD = HeldOutOrders(20, {RATES: 0.6, SHOWN: 0.8, CHANCE: 0.5}, -5.0)
WRONG_WAY = HeldOutOrders(20, {PREFERENCES: 0.4, RATES: 0.8, SHOWN: 0.8, CHANCE: 0.5}, -5.0)
TOO_GOOD = HeldOutOrders(20, {RATES: 0.999, SHOWN: 0.8, CHANCE: 0.5}, 5.0)


@pytest.mark.parametrize(
    ("lists", "queries", "told"),
    [
        (GOOD, GOOD, []),
        (BAD, GOOD, []),
        (GOOD, BAD, ["give its score as a feature"]),
        (WRONG_WAY, GOOD, ["and worse than a random order: train on click rates"]),
        (GOOD, WRONG_WAY, ["and worse than a random order: train on click rates"]),
        (GOOD, TOO_GOOD, ["seem to be made from this log"]),
        (BAD, TOO_GOOD, ["give its score as a feature", "seem to be made from this log"]),
    ],
)
def test_warnings_say_what_to_do(lists, queries, told):
    found = RouteComparison(lists, queries).warnings
    assert len(found) == len(told)
    assert all(part in text for part, text in zip(told, found, strict=True))


def test_much_data_is_sampled_by_query():
    data = clicked(MOST_DOCS)
    sample = sampled_queries(data)
    assert sample.n_docs == MOST_DOCS
    assert sampled_queries(clicked(3)).n_queries == 3
