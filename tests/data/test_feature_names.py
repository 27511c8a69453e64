"""Features are called by name, or by number from 1; a number and its text mean the same."""

from typing import Any

import pytest

import rankwright as rw
from rankwright.data.feature_names import feature_columns, made_up_names, numbered_names
from rankwright.errors import SettingError, UnknownNameError

UNNAMED = numbered_names(3)


@pytest.mark.parametrize("names", [UNNAMED, ("bm25", "age", "clicks"), made_up_names(3)])
@pytest.mark.parametrize("given", [[3, 1], ["3", "1"]])
def test_numbers_count_from_1_and_so_do_their_texts(names, given):
    assert feature_columns(given, names) == [2, 0]


def test_a_name_comes_before_a_number():
    assert feature_columns(["2", 1], ("2", "1")) == [0, 1]
    assert feature_columns(["age"], ("bm25", "age")) == [1]


@pytest.mark.parametrize("given", [0, "0", 4])
def test_there_is_no_feature_0_and_none_beyond_the_last(given):
    with pytest.raises(SettingError, match="features count from 1, and there are 3"):
        feature_columns([given], UNNAMED)


def test_an_unknown_name_is_told_with_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean 'clicks'"):
        feature_columns(["click"], ("bm25", "clicks"))


def test_a_feature_is_named_once():
    with pytest.raises(SettingError, match="2 and 'age' are the same feature"):
        feature_columns([2, "age"], ("bm25", "age"))


def test_settings_tables_and_effects_count_alike():
    data = rw.synthetic.random_polynomial(12, n_features=3, seed=0)
    ways: tuple[Any, ...] = ([(3, -1)], {"3": -1})
    small: dict[str, Any] = {"n_trees": 3, "max_leaves": 4, "min_docs_in_leaf": 5, "threads": 1}
    by_number, by_text = (rw.LambdaMART(**small, monotone=monotone).fit(data) for monotone in ways)
    assert by_number.forest_.equals(by_text.forest_)
    assert set(rw.feature_importance(by_text, kind="gain").features) == set(data.names) == {"1", "2", "3"}
    assert rw.partial_dependence(by_text, data, 3, points=3).feature == "3"
