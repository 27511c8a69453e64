"""Which bag a ranker makes."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.catalog.bags import bag_of
from rankwright.errors import UnknownNameError


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
