"""What is searched, as texts say it."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.settings.spaces import Choice
from rankwright.tuning.named_spaces import NAMED_SPACES
from rankwright.tuning.searched import search_from_text

SLIDES = NAMED_SPACES["slides-b"]


@pytest.mark.parametrize("space", [None, "own"])
def test_the_rankers_own_space_without_what_is_set(space):
    ranker, found = search_from_text("lambdamart", ["max_leaves=9"], space=space)
    assert ranker.get_params()["max_leaves"] == 9
    assert found.keys() == rw.LambdaMART.space.keys() - {"max_leaves"}


def test_a_search_alone_is_the_whole_space():
    assert search_from_text("lambdamart", search=["max_leaves=3,4"])[1] == {"max_leaves": Choice((3, 4))}


def test_a_search_beside_a_space_takes_the_place_of_what_it_says():
    ranker, found = search_from_text("lambdamart", ["n_trees=7"], space="slides-b", search=["max_leaves=3,4"])
    assert found == dict(SLIDES.space) | {"max_leaves": Choice((3, 4))}
    assert ranker.get_params()["n_trees"] == 7
    assert ranker.get_params()["early_stopping"] == SLIDES.settings["early_stopping"]
