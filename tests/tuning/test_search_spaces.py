"""Spaces: Ganjisaffar's grids, text, and what is drawn from them."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.catalog.rankers import RANKERS
from rankwright.errors import FileFormatError, RankwrightError, SettingError, UnknownNameError
from rankwright.settings.spaces import Choice, Real, Space, Whole
from rankwright.tuning.search_spaces import (
    NAMED_SPACES,
    dimension_from_text,
    search_from_text,
    space_from_name,
    space_from_text,
)
from rankwright.tuning.strategies import drawn, grid_members, grid_size, is_finite
from rankwright.tuning.trials import canonical, describe, described_space, place

MIXED: Space = {"a": Choice((1, 2)), "b": Real(0.1, 10.0, log=True), "c": Whole(1, 9), "d": Whole(1, 100, log=True)}


@pytest.mark.parametrize(("name", "size"), [("slides-a", 7 * 3 * 4 * 3 * 4), ("slides-b", 3 * 3 * 3 * 2 * 3)])
def test_the_slides_grids_have_as_many_members_as_the_slides_say(name, size):
    members = list(grid_members(NAMED_SPACES[name].space))
    assert size in (1008, 162)
    assert len(members) == grid_size(NAMED_SPACES[name].space) == size
    assert len(set(map(canonical, members))) == size
    assert NAMED_SPACES[name].settings["n_trees"] == 1000


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_says_where_to_search_settings_that_it_has(name):
    kind = RANKERS[name]
    assert kind.space
    assert set(kind.space) <= set(kind().get_params(deep=False))


@pytest.mark.parametrize("space", [MIXED, *(named.space for named in NAMED_SPACES.values())])
def test_a_described_space_is_the_same_space(space):
    assert describe(described_space(describe(space))) == describe(space)


def test_what_is_drawn_lies_in_the_space():
    for number in range(200):
        one = drawn(MIXED, np.random.default_rng(number))
        assert one["a"] in (1, 2)
        assert 0.1 <= one["b"] <= 10.0
        assert 1 <= one["c"] <= 9
        assert 1 <= one["d"] <= 100


def test_a_logarithmic_range_is_as_likely_below_its_middle_as_above():
    values = [drawn(MIXED, np.random.default_rng(number))["b"] for number in range(400)]
    assert 0.4 < np.mean(np.array(values) < 1.0) < 0.6


def test_text_makes_lists_and_ranges():
    assert dimension_from_text("7,15,31") == Choice((7, 15, 31))
    assert dimension_from_text("score,rank") == Choice(("score", "rank"))
    assert dimension_from_text("[10],[64,32]") == Choice(([10], [64, 32]))
    assert dimension_from_text("0.01..0.3:log") == Real(0.01, 0.3, log=True)
    assert dimension_from_text("4..64:log") == Whole(4, 64, log=True)
    assert dimension_from_text("0.5..1") == Real(0.5, 1.0)
    assert space_from_text(["a=1,2"]) == {"a": Choice((1, 2))}


@pytest.mark.parametrize("text", ["max_leaves", "max_leaves=", "a=1..", "a=x..y", "a=3..1", "a=0..1:log", "a=1..2..3"])
def test_text_that_is_no_search_is_refused(text):
    with pytest.raises(RankwrightError):
        space_from_text([text])


def test_a_file_is_a_space(tmp_path):
    (tmp_path / "space.toml").write_text('max_leaves = [4, 8]\nlearning_rate = "0.01..0.3:log"\n')
    (tmp_path / "space.json").write_text('{"max_leaves": [4, 8], "learning_rate": "0.01..0.3:log"}')
    wanted = {"max_leaves": Choice((4, 8)), "learning_rate": Real(0.01, 0.3, log=True)}
    assert space_from_name(str(tmp_path / "space.toml")).space == wanted
    assert space_from_name(str(tmp_path / "space.json")).space == wanted
    (tmp_path / "bad.json").write_text('{"max_leaves": 4}')
    with pytest.raises(FileFormatError, match="max_leaves must be a list"):
        space_from_name(str(tmp_path / "bad.json"))
    with pytest.raises(UnknownNameError, match="slides-a"):
        space_from_name("slides")


def test_a_grid_of_ranges_is_refused():
    assert not is_finite(MIXED)
    with pytest.raises(SettingError, match="b has a range"):
        grid_size(MIXED)


def test_earlier_values_of_a_list_stand_first():
    space = {"a": Choice((9, 3)), "b": Choice(("x", "y"))}
    members = list(grid_members(space))
    assert [place(space, one) for one in members] == [(0, 0), (0, 1), (1, 0), (1, 1)]


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
