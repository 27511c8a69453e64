"""Settings from text: the right types pass, wrong ones are told before any data is read."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.catalog.rankers import RANKERS
from rankwright.catalog.settings import bag_of, ranker_from_text
from rankwright.errors import SettingError, UnknownNameError


@pytest.mark.parametrize("name", RANKERS)
def test_every_default_is_of_the_type_its_constructor_names(name):
    defaults = {key: value for key, value in RANKERS[name]().get_params().items() if value is not None}
    assert ranker_from_text(name, **defaults).get_params() == RANKERS[name]().get_params()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("max_leaves=abc", "max_leaves must be a whole number or none, got 'abc'"),
        ("max_leaves=7.5", "max_leaves must be a whole number or none, got 7.5"),
        ("max_leaves=true", "max_leaves must be a whole number or none, got True"),
        ("learning_rate=fast", "learning_rate must be a number or none, got 'fast'"),
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


def test_rankers_with_a_bag_of_their_own_make_it():
    bag = bag_of("lambdamart", ["max_leaves=7"], n_bags=3, overfit=True, seed=5)
    assert isinstance(bag, rw.BLMART)
    assert (bag.max_leaves, bag.n_bags, bag.overfit, bag.seed) == (7, 3, True, 5)
    assert isinstance(bag_of("mart"), rw.BagBoo)


def test_others_make_bagging_with_their_settings():
    bag = bag_of("ranksvm", ["select=map"], n_bags=2)
    assert isinstance(bag, rw.Bagging)
    assert isinstance(bag.ranker, rw.RankSVM)
    assert (bag.ranker.select, bag.n_bags) == ("map", 2)


def test_what_is_left_out_is_the_bags_own_default():
    assert bag_of("lambdamart").get_params() == rw.BLMART().get_params()


def test_an_unknown_ranker_is_told():
    with pytest.raises(UnknownNameError, match="did you mean 'ranknet'"):
        bag_of("ranknett")
