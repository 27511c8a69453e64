"""Laws of bags of any ranker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.bagging.bag_members import repeat_queries
from rankwright.bagging.bag_models import rank_scores
from rankwright.bagging.bagging import Bagging
from rankwright.bagging.samples import BagPlan
from rankwright.catalog.rankers import RANKERS
from rankwright.catalog.settings import ranker_from_text
from rankwright.errors import InputError, SettingError

# Nets that are told how units bend try no recipes.
QUICK: dict[str, Any] = {
    "n_trees": 4, "max_leaves": 4, "epochs": 3, "hidden": (4,), "activation": "relu", "max_iter": 2, "n_bags": 2
}  # fmt: skip
NAMES = [name for name, kind in RANKERS.items() if not kind.not_in_bags]


def quick(name):
    kind = RANKERS[name]
    known = kind().get_params()
    return kind(**{key: value for key, value in QUICK.items() if key in known})


@pytest.mark.parametrize("name", NAMES)
def test_every_ranker_can_be_bagged_saved_and_loaded(name, small_data, tmp_path):
    ranker = Bagging(quick(name), n_bags=2).fit(small_data)
    ranker.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert np.array_equal(loaded.predict(small_data), ranker.predict(small_data))
    assert [type(member) for member in loaded.members_] == [RANKERS[name]] * 2
    assert loaded.facts() == ranker.facts()
    assert ranker.oob_score_ is not None
    assert 0 < ranker.oob_score_ <= 1


@pytest.mark.parametrize("name", NAMES)
def test_the_score_is_the_mean_of_the_members(name, small_data):
    ranker = Bagging(quick(name), n_bags=3).fit(small_data)
    alone = [member.predict(small_data) for member in ranker.members_]
    if name == "sortnet":  # its scores are ranks already
        assert all(np.array_equal(rank_scores(scores, small_data.groups), scores) for scores in alone)
    assert np.allclose(ranker.predict(small_data), np.mean(alone, axis=0), atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_one_bag_of_everything_is_the_ranker_itself(name, small_data):
    single = quick(name).set_params(seed=4)
    bag = Bagging(quick(name), n_bags=1, bootstrap=False, seed=4, combine="score").fit(small_data)
    assert np.allclose(bag.predict(small_data), single.fit(small_data).predict(small_data), atol=1e-9)


def test_forests_in_a_bag_are_those_of_bl_mart(small_data):
    single = rw.LambdaMART(n_trees=5, max_leaves=4, query_fraction=0.5, feature_fraction=1.0)
    bag = Bagging(single, n_bags=3, seed=2).fit(small_data)
    same = rw.BLMART(n_bags=3, n_trees=5, max_leaves=4, query_fraction=0.5, feature_fraction=1.0, seed=2)
    same.fit(small_data)
    assert [member.n_trees_ for member in bag.members_] == same.trees_of_bags_.tolist()
    assert np.allclose(bag.predict(small_data), same.predict(small_data), atol=1e-6)
    assert bag.oob_score_ == pytest.approx(same.oob_score_, abs=1e-12)


def test_nets_with_a_module_of_the_users_own_need_it_again(small_data, tmp_path):
    torch = pytest.importorskip("torch")

    def own():
        return torch.nn.Sequential(torch.nn.Linear(small_data.n_features, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))

    ranker = Bagging(rw.RankNet(module=own(), epochs=2), n_bags=2).fit(small_data)
    ranker.save(tmp_path / "own.rw")
    loaded = rw.load(tmp_path / "own.rw", module=own())
    assert np.array_equal(loaded.predict(small_data), ranker.predict(small_data))
    with pytest.raises(SettingError, match="module"):
        rw.load(tmp_path / "own.rw")


def test_ranks_know_no_scale(small_data):
    ranks = Bagging(rw.LambdaMART(n_trees=4, max_leaves=4), n_bags=3, combine="rank").fit(small_data)
    expected = [rank_scores(member.predict(small_data), small_data.groups) for member in ranks.members_]
    assert np.allclose(ranks.predict(small_data), np.mean(expected, axis=0))
    with pytest.raises(InputError, match="bagging looks at the documents of a query together"):
        ranks.predict(small_data.features)


def test_equal_scores_share_their_ranks():
    groups = rw.Groups.of_sizes([4, 0, 2])
    scores = rank_scores(np.array([1.0, 3.0, 1.0, 0.0, 5.0, 5.0]), groups)
    assert scores.tolist() == [-(1 + 2) / 2, 0, -(1 + 2) / 2, -3, -(0 + 1) / 2, -(0 + 1) / 2]


def test_a_repeated_query_brings_its_pairs_again(small_data):
    starts = small_data.groups.offsets[:-1]
    long = np.flatnonzero(small_data.groups.sizes > 2)
    pairs = rw.Preferences(starts[long] + 2, starts[long], 0.75, np.arange(len(long)) + 1.0)
    data = replace(small_data, preferences=pairs)
    twice = repeat_queries(data, np.array([long[1], long[0], long[1]]))
    assert twice.preferences is not None
    assert (twice.preferences.better - twice.groups.offsets[:-1]).tolist() == [2, 2, 2]
    assert (twice.preferences.worse - twice.groups.offsets[:-1]).tolist() == [0, 0, 0]
    assert twice.preferences.weight.tolist() == [2, 1, 2]
    assert np.array_equal(twice.features[twice.groups.rows_of(np.array([0]))],
                          twice.features[twice.groups.rows_of(np.array([2]))])  # fmt: skip


def test_members_that_do_not_overfit_were_chosen_out_of_the_bag(small_data):
    small_data = small_data.in_key_order()
    bag = Bagging(rw.RankNet(epochs=4, hidden=(4,)), n_bags=2).fit(small_data)
    plan = BagPlan(n_bags=2)
    for number, member in enumerate(bag.members_):
        others = small_data.take_queries(plan.sample(number, small_data.n_queries).others)
        assert member.score(others) == pytest.approx(member.history_.best_value, abs=1e-9)
    assert all(not m.history_.values for m in bag.set_params(overfit=True).fit(small_data).members_)


def test_a_bag_of_bags_is_refused(small_data):
    with pytest.raises(SettingError, match="bags cannot be bagged again"):
        Bagging(Bagging()).fit(small_data)


def test_text_names_what_is_bagged():
    bag = ranker_from_text("bagging", ["ranker=ranknet", "ranker__epochs=7", "n_bags=3"])
    assert isinstance(bag.ranker, rw.RankNet)
    assert (bag.ranker.epochs, bag.n_bags) == (7, 3)
    assert ranker_from_text("bagging", ["ranker__max_leaves=7"]).ranker.max_leaves == 7
    with pytest.raises(SettingError, match="epochs must be a whole number or none, got 'many'"):
        ranker_from_text("bagging", ["ranker=ranknet", "ranker__epochs=many"])


def test_select_is_the_members_too(small_data):
    bag = Bagging(rw.LambdaMART(n_trees=2, max_leaves=3), n_bags=2, select="map").fit(small_data)
    assert bag.history_.watched == "map"
    assert all(member.history_.watched == "map" for member in bag.members_)
