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


@pytest.fixture(scope="module")
def parts():
    return learnable().take_queries(range(30)).split(valid=0.4, seed=0)


def test_a_small_forest_goes_slowly_and_looks_far_ahead(parts, monkeypatch):
    monkeypatch.setattr(sizing, "LEAST_SLOW_DOCS", 100)
    ranker = rw.LambdaMART().fit(parts[0], valid=parts[1])
    assert ranker.chosen_["learning_rate"] == sizing.SLOW_RATE
    assert len(ranker.history_.values) > sizing.SLOW_PATIENCE
    assert ranker.n_trees_ <= sizing.MOST_SLOW_TREES


@pytest.mark.parametrize("settings", [{"n_trees": 20}, {"learning_rate": 0.2, "n_trees": 20}, {"mode": "paper"}])
def test_what_is_given_stays(parts, settings):
    ranker = rw.LambdaMART(**settings, early_stopping=5).fit(parts[0], valid=parts[1])
    assert ranker.value_of("learning_rate") != sizing.SLOW_RATE


def test_few_documents_are_not_worth_it(parts):
    ranker = rw.LambdaMART().fit(parts[0], valid=parts[1])
    assert ranker.chosen_["learning_rate"] == sizing.SMALL.learning_rate


def test_bags_choose_their_own_rate(parts, monkeypatch):
    monkeypatch.setattr(sizing, "LEAST_SLOW_DOCS", 100)
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
