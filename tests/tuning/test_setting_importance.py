"""Which settings matter: where it is known, it is found."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.settings.spaces import Choice, Real
from rankwright.tuning.setting_importance import importance_of
from rankwright.tuning.strategies import drawn, grid_members

GRID = {"a": Choice((1, 2, 3)), "b": Choice((1, 2, 3)), "c": Choice(("x", "y")), "d": Choice((0, 1))}


def test_a_setting_that_alone_decides_accounts_for_nearly_everything():
    members = list(grid_members(GRID))
    found = importance_of(GRID, members, [one["b"] for one in members])
    assert found is not None
    assert next(iter(found.settings)) == "b"
    assert found.settings["b"] > 0.9
    assert all(share < 0.05 for name, share in found.settings.items() if name != "b")
    assert found.effects["b"].values == (1, 2, 3)
    assert np.all(np.diff(found.effects["b"].means) > 0)


def test_settings_that_decide_only_together_are_found_as_a_pair():
    members = list(grid_members(GRID))
    found = importance_of(GRID, members, [float((one["c"] == "x") == (one["d"] == 0)) for one in members])
    assert found is not None
    assert next(iter(found.pairs)) == ("c", "d")
    assert found.pairs["c", "d"] > 0.5
    assert sum(found.settings.values()) < 0.2


def test_ranges_have_importance_too():
    space = {"a": Real(0.01, 1.0, log=True), "b": Real(0.0, 1.0)}
    members = [drawn(space, np.random.default_rng(number)) for number in range(80)]
    found = importance_of(space, members, [np.log(one["a"]) for one in members])
    assert found is not None
    assert found.settings["a"] > 0.8


@pytest.mark.parametrize("values", [[0.5] * 36, [float("nan")] * 36])
def test_nothing_is_told_of_values_that_do_not_differ(values):
    members = list(grid_members(GRID))
    assert importance_of(GRID, members, values) is None
    assert importance_of(GRID, members[:3], [1.0, 2.0, 3.0]) is None
