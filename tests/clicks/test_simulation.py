"""Simulated clicks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright import clicks
from rankwright.clicks.simulation import CLICKS_OF_GRADES
from rankwright.errors import SettingError


@pytest.fixture(scope="module")
def data() -> Any:
    return rw.synthetic.web_search(30, docs_per_query=15, seed=1)


def test_the_literature_constants():
    np.testing.assert_allclose(clicks.click_chances([0, 1, 2, 3, 4]), CLICKS_OF_GRADES, atol=0.005)


@pytest.mark.parametrize("users", sorted(clicks.USERS))
def test_every_kind_of_user_clicks(users, data):
    log = clicks.simulate(data, data.features[:, 3], users=users, sessions=20)
    assert log.n_lists == 30 * 20
    assert 0 < log.n_clicks < log.n_shown
    if users == "cascade":
        assert max(np.add.reduceat(log.clicked, log.offsets[:-1])) <= 1


def test_click_rates_are_examination_times_attraction(data):
    log = clicks.simulate(data, data.features[:, 3], sessions=3000)
    rates: Any = clicks.click_rates(data, log)
    shown = ~np.isnan(rates.labels)
    chances = clicks.click_chances(data.labels)[shown] * clicks.EXAMINATION[rates.positions[shown]]
    np.testing.assert_allclose(rates.labels[shown], chances, atol=0.04)


def test_a_query_has_the_same_users_whatever_the_others_are(data):
    alone = data.take_queries(np.array([7]))
    whole = clicks.simulate(data, data.features[:, 3], sessions=50, swaps=0.3, largest=4)
    own = clicks.simulate(alone, alone.features[:, 3], sessions=50, swaps=0.3, largest=4)
    query = np.flatnonzero(whole.query_ids[whole.queries] == alone.query_ids[0])
    assert whole.take(query).clicked.tolist() == own.clicked.tolist()


def test_swaps_show_documents_in_both_orders(data):
    fixed = clicks.summarise_log(clicks.simulate(data, data.features[:, 3], sessions=20))
    swapped = clicks.summarise_log(clicks.simulate(data, data.features[:, 3], sessions=20, swaps=0.5))
    assert (fixed.varied_share, fixed.distinct_lists) == (0.0, 1.0)
    assert swapped.varied_share > 0.9


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"noise": 1.5}, "noise must be"),
        ({"eta": -1}, "eta must be"),
        ({"examination": []}, "chances from 0 to 1"),
        ({"examination": [2.0]}, "chances from 0 to 1"),
        ({"examination": [np.nan]}, "chances from 0 to 1"),
    ],
)
def test_users_that_cannot_be_are_refused(data, given, why):
    with pytest.raises(SettingError, match=why):
        clicks.simulate(data, np.zeros(data.n_docs), **given)
