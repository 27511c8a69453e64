"""Forests with validation data: they go slowly where nobody says otherwise, and may learn from both parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.contracts.trained import learnable

import rankwright as rw
from rankwright.data.dataset import joined
from rankwright.errors import SettingError
from rankwright.trees import sizing
from rankwright.trees.bins.binned import bin_dataset


@pytest.fixture(scope="module")
def parts():
    return learnable().take_queries(range(30)).split(valid=0.3, seed=0)


def test_a_small_forest_goes_slowly_and_looks_far_ahead(parts, monkeypatch):
    monkeypatch.setattr(sizing, "LEAST_ALONE_DOCS", 100)
    ranker = rw.LambdaMART().fit(parts[0], valid=parts[1])
    assert ranker.chosen_["learning_rate"] == sizing.SLOW_RATE
    assert len(ranker.history_.values) > sizing.SLOW_PATIENCE
    assert ranker.n_trees_ <= sizing.MOST_SLOW_TREES


@pytest.mark.parametrize("settings", [{"n_trees": 20}, {"learning_rate": 0.2, "n_trees": 20}, {"mode": "paper"}])
def test_what_is_given_stays(parts, settings):
    ranker = rw.LambdaMART(**settings, early_stopping=5).fit(parts[0], valid=parts[1])
    assert ranker.value_of("learning_rate") != sizing.SLOW_RATE


def test_few_validation_queries_choose_together_with_folds_and_the_mean_of_their_forests_is_taken(parts):
    train, valid = parts
    found = rw.LambdaMART().fit(train, valid=valid)
    settings, n_trees = found.chosen_, found.chosen_["n_trees"]
    assert settings["learning_rate"] == sizing.SLOW_RATE
    forests, binned = [rw.LambdaMART(**settings).fit(train)], bin_dataset(train)
    folds = sizing.length_folds(binned.groups, 0)  # of the bins of all queries
    forests += [rw.LambdaMART(**settings).fit_binned(binned, queries=fold.train) for fold in folds]
    assert found.n_trees_ == len(forests) * n_trees
    mean = np.mean([forest.predict(valid) for forest in forests], axis=0)
    np.testing.assert_allclose(found.predict(valid), mean, rtol=1e-5, atol=1e-6)
    assert len(found.history_.values) == n_trees
    assert found.history_.values[-1] == pytest.approx(found.score(valid), abs=1e-6)


def test_who_asks_for_early_stopping_has_validation_queries_alone_choose(parts):
    ranker = rw.LambdaMART(early_stopping=30).fit(parts[0], valid=parts[1])
    assert ranker.n_trees_ == (ranker.history_.best_step or 0) + 1 < len(ranker.history_.values)


def test_a_forest_that_may_grow_on_is_one(parts):
    ranker = rw.LambdaMART(warm_start=True).fit(parts[0], valid=parts[1])
    assert ranker.n_trees_ == ranker.chosen_["n_trees"] == len(ranker.history_.values)
    before = ranker.n_trees_
    assert ranker.set_params(n_trees=before + 2).fit(parts[0], valid=parts[1]).n_trees_ <= before + 2
    mean = rw.LambdaMART().fit(parts[0], valid=parts[1])
    with pytest.raises(SettingError, match="cannot grow on"):
        mean.set_params(warm_start=True, n_trees=2000).fit(parts[0], valid=parts[1])


def test_bags_choose_their_own_rate(parts, monkeypatch):
    monkeypatch.setattr(sizing, "LEAST_ALONE_DOCS", 100)
    bags = rw.BLMART(n_bags=2).fit(parts[0], valid=parts[1])
    assert bags.chosen_["learning_rate"] == sizing.RATE_IN_BAGS


def test_both_parts_are_learned_from_in_the_end(parts):
    settings: dict[str, Any] = {"n_trees": 12, "max_leaves": 5, "learning_rate": 0.2, "min_docs_in_leaf": 10}
    plain = rw.LambdaMART(**settings).fit(parts[0], valid=parts[1])
    both = rw.LambdaMART(**settings, refit_on_valid=True).fit(parts[0], valid=parts[1])
    wanted = rw.LambdaMART(**(settings | {"n_trees": plain.n_trees_})).fit(joined(list(parts)))
    assert both.forest_.equals(wanted.forest_)
    assert both.history_.values == plain.history_.values
    assert both.seen_queries_ is not None
    with pytest.warns(UserWarning, match="was trained on"):
        both.score(parts[1])
    assert rw.LambdaMART(**settings, refit_on_valid=True).fit(parts[0]).n_trees_ == 12


def test_growing_on_and_growing_anew_do_not_go_together(parts):
    ranker = rw.LambdaMART(n_trees=3, warm_start=True, refit_on_valid=True)
    with pytest.raises(SettingError, match="choose one of them"):
        ranker.fit(parts[0], valid=parts[1])
    assert np.isfinite(ranker.set_params(refit_on_valid=False).fit(parts[0], valid=parts[1]).predict(parts[1])).all()
