"""What a forest's recipe decides before it grows a tree."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.errors import SettingError
from rankwright.mart.recipe import ForestGrowth


def test_patience_without_validation_data_is_refused_before_a_length_is_searched_for(small_data, monkeypatch):
    def search(*_):
        pytest.fail("a length was searched for")

    monkeypatch.setattr(ForestGrowth, "_chosen_on_unseen", search)
    with pytest.raises(SettingError, match="early_stopping needs validation data: give valid=") as found:
        rw.LambdaMART(early_stopping=3).fit(small_data)
    assert found.value.parameter == "valid"


def test_fitted_attributes_are_views_that_cannot_be_assigned(small_data):
    ranker = rw.LambdaMART(n_trees=2)
    assert not hasattr(ranker, "forest_")
    ranker.fit(small_data)
    assert ranker.forest_ is ranker.trained_.model.forest  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="cannot be assigned"):
        ranker.history_ = None
