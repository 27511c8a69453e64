"""Strategies: what they ask for, and that it follows from the seed alone."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from rankwright.errors import SettingError
from rankwright.settings.spaces import Choice, Real, Whole
from rankwright.tuning.strategies import STRATEGIES, SearchTask, TuningPlan, budgets
from rankwright.tuning.trials import Record, Trial, TrialResult, canonical, ranked

LISTS = {"a": Choice((1, 2, 3)), "b": Choice((10, 20)), "c": Choice(("x", "y"))}
RANGES = {"a": Whole(1, 9, log=True), "b": Real(0.0, 1.0), "c": Choice(("x", "y"))}


def result_of(trial: Trial, value: float, size: int = 1) -> TrialResult:
    steps = trial.budget or 1
    record = Record(trial.settings, 0, 0, trial.budget, value, {}, steps, steps, 1, size, False, "", "", 0.0, 0.0, "")
    return TrialResult(trial, (record,))


def task_of(space: Any, *, max_budget: int | None = None, **options: Any) -> SearchTask:
    return SearchTask(TuningPlan(**options), space, max_budget)


def worth(trial: Trial) -> float:
    return float(trial.settings["a"] - abs(trial.settings["b"] - 10) / 100)


def batches_of(name: str, task: SearchTask) -> list[list[Trial]]:
    search = STRATEGIES[name](task)
    batches = [next(search)]
    try:
        while True:
            batches.append(search.send([result_of(trial, worth(trial)) for trial in batches[-1]]))
    except StopIteration:
        return batches


@pytest.mark.parametrize("name", STRATEGIES)
def test_the_same_seed_asks_for_the_same_trials(name):
    space = LISTS if name == "grid" else RANGES
    trials = None if name == "grid" else 7
    task = task_of(space, trials=trials, batch_size=3, max_budget=30, seed=4)
    assert batches_of(name, task) == batches_of(name, task)


@pytest.mark.parametrize("name", ["tpe", "gp", "qmc"])
def test_optunas_samplers_ask_in_batches_of_a_fixed_size(name):
    batches = batches_of(name, task_of(RANGES, trials=7, batch_size=3))
    assert [len(batch) for batch in batches] == [3, 3, 1]
    for trial in (one for batch in batches for one in batch):
        assert 1 <= trial.settings["a"] <= 9
        assert 0 <= trial.settings["b"] <= 1
        assert trial.settings["c"] in ("x", "y")


def test_a_grid_is_all_of_it_once():
    (batch,) = batches_of("grid", task_of(LISTS))
    assert len({canonical(trial.settings) for trial in batch}) == len(batch) == 3 * 2 * 2
    with pytest.raises(SettingError, match="all of its 12"):
        batches_of("grid", task_of(LISTS, trials=5))


def test_of_a_grid_nothing_is_drawn_twice():
    (batch,) = batches_of("random", task_of(LISTS, trials=100))
    assert len({canonical(trial.settings) for trial in batch}) == len(batch) == 12


def test_more_random_trials_begin_with_the_same_ones():
    (few,), (many,) = (batches_of("random", task_of(RANGES, trials=n)) for n in (3, 9))
    assert many[:3] == few


def test_halving_keeps_the_best_and_gives_the_last_one_the_full_budget():
    batches = batches_of("halving", task_of(LISTS, max_budget=90))
    assert [len(batch) for batch in batches] == [12, 4, 1]
    assert [{trial.budget for trial in batch} for batch in batches] == [{10}, {30}, {90}]
    assert batches[-1][0].settings["a"] == 3
    for earlier, later in pairwise(batches):
        assert {canonical(one.settings) for one in later} <= {canonical(one.settings) for one in earlier}


@pytest.mark.parametrize(("n", "eta", "least", "wanted"), [
    (162, 3, None, [4, 12, 36, 108, 324, 1000]),
    (162, 3, 2, [2, 6, 18, 54, 162, 1000]),
    (1, 3, None, [1000]),
    (4, 2, 900, [900, 1000, 1000]),
])  # fmt: skip
def test_budgets_of_halving(n, eta, least, wanted):
    assert budgets(task_of(LISTS, max_budget=1000, min_budget=least, eta=eta), n) == wanted


def test_halving_refuses_what_cannot_be_continued_and_ranges_without_a_number():
    with pytest.raises(SettingError, match="counts its steps"):
        batches_of("halving", task_of(LISTS))
    with pytest.raises(SettingError, match="give trials"):
        batches_of("halving", task_of(RANGES, max_budget=10))


def test_ties_go_to_the_smaller_model_then_to_the_earlier_settings():
    same = [{"a": a, "b": b, "c": "x"} for a in (3, 1) for b in (20, 10)]
    results = [result_of(Trial(one), 0.5) for one in same]
    best = ranked(results, LISTS, higher_is_better=True)
    assert [(one.trial.settings["a"], one.trial.settings["b"]) for one in best] == [(1, 10), (1, 20), (3, 10), (3, 20)]
    smaller = result_of(Trial(same[0]), 0.5, size=0)
    assert ranked([*results, smaller], LISTS, higher_is_better=True)[0] is smaller
    better = result_of(Trial(same[0]), 0.6, size=9)
    assert ranked([*results, better], LISTS, higher_is_better=True)[0] is better
    assert ranked([*results, better], LISTS, higher_is_better=False)[-1] is better


def test_a_value_that_cannot_be_told_is_the_worst():
    unknown, known = (
        result_of(Trial({"a": 1, "b": 10, "c": "x"}), float("nan")),
        result_of(Trial({"a": 3, "b": 20, "c": "y"}), 0.0),
    )
    for higher in (True, False):
        assert ranked([unknown, known], LISTS, higher_is_better=higher)[0] is known
