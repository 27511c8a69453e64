"""Settings from text: the right types pass, wrong ones are told before any data is read."""

from __future__ import annotations

import pytest

from rankwright.catalog.rankers import RANKERS
from rankwright.catalog.settings import ranker_from_text
from rankwright.errors import SettingError


@pytest.mark.parametrize("name", RANKERS)
def test_every_default_is_of_the_type_its_constructor_names(name):
    defaults = {key: value for key, value in RANKERS[name]().get_params().items() if value is not None}
    assert ranker_from_text(name, **defaults).get_params() == RANKERS[name]().get_params()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("max_leaves=abc", "max_leaves must be a whole number, got 'abc'"),
        ("max_leaves=7.5", "max_leaves must be a whole number, got 7.5"),
        ("max_leaves=true", "max_leaves must be a whole number, got True"),
        ("learning_rate=fast", "learning_rate must be a number, got 'fast'"),
        ("early_stopping=x", "early_stopping must be a whole number or none, got 'x'"),
        ("mode=papr", "mode must be 'default' or 'paper', got 'papr'"),
        ("categorical=3", "categorical must be a list or none, got 3"),
        ("warm_start=1", "warm_start must be true or false, got 1"),
    ],
)
def test_wrong_types_are_told(setting, message):
    with pytest.raises(SettingError, match=message):
        ranker_from_text("lambdamart", [setting])


def test_numbers_and_lists_and_words_are_read():
    settings = ["max_leaves=7", "learning_rate=1", "min_docs_in_leaf=.01", "categorical=[1, 2]", "early_stopping=None"]
    ranker = ranker_from_text("lambdamart", [*settings, "monotone=[[0, 1]]", "metric=map"])
    assert (ranker.max_leaves, ranker.learning_rate, ranker.min_docs_in_leaf) == (7, 1, 0.01)
    assert (ranker.categorical, ranker.early_stopping, ranker.metric) == ([1, 2], None, "map")
