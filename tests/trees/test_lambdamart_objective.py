"""Trees that follow an objective other than LambdaRank's: by name, as a value, or a function of the user's own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

import rankwright as rw
from rankwright.errors import SettingError, UnknownNameError
from rankwright.objectives import from_function, ranknet


def ranknet_again(scores, labels):
    """RankNet's gradient and curvature, in Python."""
    chance = 1.0 / (1.0 + np.exp(scores[:, None] - scores[None, :]))
    better = labels[:, None] > labels[None, :]
    push, stiffness = better * chance, better * chance * (1.0 - chance)
    return push.sum(axis=0) - push.sum(axis=1), stiffness.sum(axis=0) + stiffness.sum(axis=1)


@pytest.fixture(scope="module")
def data() -> rw.RankingDataset:
    return rw.synthetic.web_search(20, seed=1)


def trained(data, **settings) -> rw.LambdaMART:
    return rw.LambdaMART(n_trees=5, max_leaves=7, threads=1, **settings).fit(data)


def test_a_name_and_its_value_are_the_same_objective(data):
    by_name, by_value = (trained(data, objective=objective).predict(data) for objective in ("ranknet", ranknet()))
    assert_array_equal(by_name, by_value)
    assert not np.array_equal(by_name, trained(data).predict(data))


def test_forces_follow_a_convention(data):
    by_metric, by_objective = (
        trained(data, **{setting: name}).predict(data)
        for setting, name in (("metric", "map:letor"), ("objective", "lambdarank:map:letor"))
    )
    assert_array_equal(by_metric, by_objective)
    swaps, other = (trained(data, metric=name, truncation=30).predict(data) for name in ("ndcg@10", "ndcg@10:letor"))
    assert not np.array_equal(swaps, other)
    assert_array_equal(trained(data, metric="ndcg@10:skip-empty", truncation=30).predict(data), swaps)


def test_forces_are_yetiranks_or_ranknets_for_ndcg_and_lambdaranks_where_a_setting_shapes_those(data):
    usual = trained(data).predict(data)
    assert_array_equal(usual, trained(data, objective="yetirank").predict(data))
    swaps = trained(data, objective="lambdarank:ndcg@10").predict(data)
    assert_array_equal(trained(data, truncation=30).predict(data), swaps)
    assert not np.array_equal(usual, swaps)
    long = rw.RankingDataset.from_arrays(
        data.features, data.labels, group=[data.n_docs // 4] * 3 + [data.n_docs - 3 * (data.n_docs // 4)]
    )
    assert_array_equal(trained(long).predict(long), trained(long, objective="ranknet").predict(long))
    clicked = replace(data, positions=np.arange(data.n_docs) % 10)
    assert_array_equal(
        trained(clicked, debias="none").predict(data), trained(clicked, debias="none", truncation=30).predict(data)
    )


def test_a_metric_that_no_swap_changes_is_refused(data):
    with pytest.raises(UnknownNameError, match=r"metric to aim at 'mean-ndcg:letor'.*Known: constant, dcg, err"):
        trained(data, metric="mean-ndcg:letor")


def test_a_function_of_the_users_own_trains_what_the_built_in_one_does(data):
    own = trained(data, objective=from_function(ranknet_again))
    found, wanted = (
        rw.evaluate(ranker.predict(data), data, metrics=["pair-error"]).results["pair-error"].mean
        for ranker in (own, trained(data, objective="ranknet"))
    )
    assert found == pytest.approx(wanted, abs=0.01)


def test_a_model_of_ones_own_objective_is_saved_and_scores(data, tmp_path):
    ranker = trained(data, objective=from_function(ranknet_again))
    ranker.save(tmp_path / "model.rw")
    again = rw.load(tmp_path / "model.rw")
    assert_array_equal(again.predict(data), ranker.predict(data))
    assert again.get_params()["objective"] == "ranknet_again"
    with pytest.raises(UnknownNameError, match="unknown objective 'ranknet_again'"):
        again.fit(data)


def test_a_clone_follows_the_same_objective(data):
    ranker = rw.LambdaMART(n_trees=3, objective=from_function(ranknet_again), threads=1)
    assert_array_equal(clone(ranker).fit(data).predict(data), ranker.fit(data).predict(data))


@pytest.mark.parametrize("setting", [{"truncation": 3}, {"sigma": 2.0}, {"mode": "paper"}])
def test_settings_of_lambdaranks_forces_do_not_go_with_others(data, setting):
    with pytest.raises(SettingError, match="an objective of your own has its own settings"):
        trained(data, objective="ranknet", **setting)
