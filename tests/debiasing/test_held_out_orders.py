"""What held-out lists say of data made from clicks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.debiasing.held_out_orders import (
    CHANCE,
    LEAST_QUERIES,
    MOST_DOCS,
    PREFERENCES,
    RATES,
    SHOWN,
    HeldOutOrders,
    held_out_orders,
    sampled_queries,
)


def clicked(n_queries: int, *, informative: bool = True) -> rw.RankingDataset:
    """Lists of five in the order of their clicks; the one feature tells the clicks, or nothing."""
    rates = np.tile([0.5, 0.4, 0.3, 0.2, 0.1], n_queries)
    feature = rates if informative else np.random.default_rng(0).random(len(rates))
    positions = np.tile(np.arange(5), n_queries)
    return rw.RankingDataset.from_arrays(feature[:, None], rates, group=[5] * n_queries, positions=positions)


def test_what_features_tell_is_as_good_as_the_order_shown():
    found = held_out_orders(clicked(40))
    assert list(found.values) == [RATES, SHOWN, CHANCE]
    assert found.values[SHOWN] == pytest.approx(1)
    assert found.values[RATES] > 0.99
    assert found.values[CHANCE] < 0.95
    assert found.warning is None


def test_features_that_tell_nothing_are_warned_of():
    found = held_out_orders(clicked(40, informative=False))
    assert found.warning is not None
    assert "give its score as a feature" in found.warning


def test_preferences_against_the_order_are_worse_than_chance():
    data = clicked(40)
    upper = np.arange(0, 200, 5)
    found = held_out_orders(replace(data, preferences=rw.Preferences(upper + 4, upper)))
    assert next(iter(found.values)) == PREFERENCES
    assert found.values[PREFERENCES] < found.values[CHANCE] < found.values[RATES]
    assert found.warning is not None
    assert "worse than a random order: train on click rates" in found.warning


def test_few_queries_with_clicks_are_not_compared():
    data = clicked(LEAST_QUERIES)
    labels = np.asarray(data.labels).copy()
    labels[:5] = 0.2  # all alike: no order is better than another
    found = held_out_orders(replace(data, labels=labels))
    assert found == HeldOutOrders(LEAST_QUERIES - 1, {}, 0.0)
    assert found.told.startswith("not compared with the order shown: 9 queries have clicks")
    assert found.warning is None


def test_what_was_not_shown_plays_no_part():
    data = clicked(20)
    labels = np.asarray(data.labels).copy()
    labels[4::5] = np.nan
    assert held_out_orders(replace(data, labels=labels)).values[SHOWN] == pytest.approx(1)


def test_much_data_is_sampled_by_query():
    data = clicked(MOST_DOCS)
    sample = sampled_queries(data)
    assert sample.n_docs == MOST_DOCS
    assert sampled_queries(clicked(3)).n_queries == 3
