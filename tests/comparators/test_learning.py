"""Pairs compared wrongly, training on them, and Algorithm 3.1."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.comparators.learner import train_and_validate
from rankwright.comparators.net import random_net
from rankwright.comparators.pairs import PairSet, mistakes_of, n_possible_pairs
from rankwright.comparators.settings import SortNetSettings
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import SettingError

PARAMS: dict[str, Any] = {"epochs": 10, "learning_rate": 0.02, "weight_decay": 0.0, "batch_queries": 8}


def learnable(seed, n_queries=30, size=20):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_queries * size, 4)).astype(np.float32)
    labels = np.clip(np.round(features[:, 0] + np.abs(features[:, 1])), 0, 2)
    return RankingDataset.from_arrays(features, labels, group=np.full(n_queries, size))


def test_mistakes_are_pairs_of_one_query_that_the_net_compares_wrongly():
    data, net = learnable(0), random_net(4, (5,), np.random.default_rng(0))
    better, worse = mistakes_of(net, data)
    assert len(better) > 100
    assert (data.labels[better] > data.labels[worse]).all()
    assert (data.groups.query_of_row[better] == data.groups.query_of_row[worse]).all()
    margins = net.margins(data.features, better, worse)
    assert (margins[:, 0] <= margins[:, 1]).all()


def test_mistakes_are_found_in_parts_as_at_once(monkeypatch):
    data, net = learnable(0), random_net(4, (5,), np.random.default_rng(0))
    at_once = mistakes_of(net, data)
    for room in (1, 250, 1000):
        monkeypatch.setattr("rankwright.comparators.pairs.COMPARISONS_AT_A_TIME", room)
        for one, other in zip(at_once, mistakes_of(net, data), strict=True):
            assert np.array_equal(one, other)


def test_preferences_stand_for_labels():
    data, net = learnable(0, n_queries=2), random_net(4, (5,), np.random.default_rng(0))
    said = Preferences([0, 1, 2, 25], [1, 0, 3, 30], [1.0, 0.5, 0.2, 0.9], [1.0, 1.0, 2.0, 3.0])
    given = replace(data, preferences=said)
    assert n_possible_pairs(given) == 3
    better, worse = mistakes_of(net, given)
    wanted = {(0, 1), (3, 2), (25, 30)}  # of a probability below a half, the other way round
    pairs = set(zip(better.tolist(), worse.tolist(), strict=True))
    assert pairs <= wanted
    held = PairSet(given)
    held.add(np.array([0, 3, 25]), np.array([1, 2, 30]))
    assert held.training_pairs().weight.tolist() == [1.0, 2.0, 3.0]


def test_possible_pairs_are_those_of_different_labels():
    data = RankingDataset.from_arrays(np.zeros((7, 1)), [0, 0, 1, 2, np.nan, 1, 1], group=[5, 2])
    assert n_possible_pairs(data) == 2 * 1 + 2 * 1 + 1 * 1


def test_a_pair_is_held_once():
    held = PairSet(learnable(0))
    assert held.add(np.array([3, 21]), np.array([5, 30])) == 2
    assert held.add(np.array([21, 3, 3]), np.array([30, 5, 6])) == 1
    assert len(held) == 3
    pairs = held.training_pairs()
    assert pairs.n_queries == 2
    assert len(pairs.features) == 5
    for place, (better, worse) in enumerate([(3, 5), (3, 6), (21, 30)]):
        assert np.array_equal(pairs.features[pairs.better[place]], held.data.features[better])
        assert np.array_equal(pairs.features[pairs.worse[place]], held.data.features[worse])


@pytest.mark.parametrize("cost", ["squared", "logistic"])
@pytest.mark.parametrize("hidden", [(8,), (6, 4)])
def test_training_lowers_the_cost_of_the_validation_pairs(cost, hidden):
    data, net = learnable(0), random_net(4, hidden, np.random.default_rng(0))
    train, valid = PairSet(data), PairSet(learnable(1))
    for pairs in (train, valid):
        labels = np.array(pairs.data.labels).reshape(30, 20)
        query, better, worse = np.nonzero(labels[:, :, None] > labels[:, None, :])
        pairs.add(query * 20 + better, query * 20 + worse)
    params = SortNetSettings(**PARAMS, cost=cost)
    trained = train_and_validate(net, train.training_pairs(), valid.training_pairs(), params, np.random.default_rng(0))
    assert trained.cost < 0.5 * valid.training_pairs().cost(net, cost)
    assert trained.cost == valid.training_pairs().cost(trained.net, cost)
    assert len(mistakes_of(trained.net, valid.data)[0]) < 0.5 * len(mistakes_of(net, valid.data)[0])


@pytest.mark.parametrize("restart", [True, False])
def test_the_algorithm_keeps_the_best_iteration_and_tells_what_it_held(restart):
    ranker = rw.SortNet(**PARAMS, hidden=6, max_iter=6, restart=restart, scaling=None)
    learned = ranker.fit(learnable(0), valid=learnable(1))
    history, held = learned.history_, learned.iterations_
    assert len(history.values) == len(held) <= 7
    assert max(history.values) > history.values[0] + 0.1
    assert (held[0].n_pairs, held[0].best_epoch) == (0, None)
    assert all(one.n_pairs <= after.n_pairs for one, after in pairwise(held))
    possible = n_possible_pairs(learnable(0))
    assert [one.share_of_pairs for one in held] == [one.n_pairs / possible for one in held]
    assert held[-1].share_of_pairs < 0.8


def test_it_stops_where_nothing_new_goes_wrong():
    labelled_alike = replace(learnable(0), labels=np.ones(600, np.float32))
    ranker = rw.SortNet(**PARAMS, hidden=3, max_iter=5)
    learned = ranker.fit(labelled_alike, valid=labelled_alike, allow_empty=True)
    assert len(learned.iterations_) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epochs": 0}, "epochs must be 1 or more"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"weight_decay": -1.0}, "weight_decay must be 0 or more"),
        ({"batch_queries": 0}, "batch_queries must be 1 or more"),
        ({"cost": "cubic"}, "cost must be 'squared' or 'logistic', got 'cubic'"),
        ({"max_iter": 0}, "max_iter must be 1 or more"),
    ],
)
def test_settings_cannot_hold_nonsense(change, message):
    with pytest.raises(SettingError, match=message):
        rw.SortNet(**(PARAMS | change)).fit(learnable(0))
