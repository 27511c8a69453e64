"""Which shape goes on, and how long forests that never saw a query are grown."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from rankwright.mart import length_search
from rankwright.mart.length_search import UnseenForests, leader_of
from rankwright.rankers.recipe import TrainingRun
from rankwright.training.driver import Lesson
from rankwright.training.loop import Watch
from rankwright.trees import sizing
from rankwright.trees.boosting import n_trees_array
from rankwright.trees.sizing import PATIENCE, RACE, SMALL, FoldedForests


class Part:
    """A forest that counts its trees."""

    def __init__(self) -> None:
        self.n_taken = 0

    def take_step(self, step: int) -> bool:
        assert step == self.n_taken
        self.n_taken += 1
        return True


def forests(
    worth: Any, *, higher_is_better: bool = True, learning_rate: float = 0.05, lead: float = 0.0
) -> UnseenForests:
    """Forests whose metric is a function of the number of trees."""
    parts = [Part(), Part(), Part()]
    watch = Watch("made up", lambda: float(worth(parts[0].n_taken)), higher_is_better)
    learner = FoldedForests(parts, 300)
    lesson = Lesson(learner=learner, model=lambda learned: learned, watch=watch, digests=lambda: ("", None))
    shape = replace(SMALL, lead=lead)
    return UnseenForests(SimpleNamespace(smoothing=0.0), shape, lesson, TrainingRun(), learning_rate)


def parts_of(candidate: UnseenForests) -> list[Part]:
    return candidate.lesson.learner.parts  # type: ignore[attr-defined, no-any-return]


def test_the_shape_that_is_ahead_goes_on_alone():
    slow, quick = forests(lambda n: n / 1000), forests(lambda n: n / 500)
    leader = leader_of([slow, quick])
    assert leader is quick
    leader.grow(200)
    assert [part.n_taken for part in parts_of(slow) + parts_of(quick)] == 3 * [RACE] + 3 * [200]
    assert leader.best_length == 200


def test_the_race_is_decided_by_its_first_trees_even_if_one_was_grown_further_before():
    """As after a run that was killed: the leader's checkpoint is further on."""
    ahead, late = forests(lambda n: min(n, RACE)), forests(lambda n: n if n > RACE else n / 2)
    late.grow(2 * RACE)
    assert leader_of([ahead, late]) is ahead


def test_the_first_shape_stays_unless_another_is_better_by_the_lead():
    first, *others = (forests(lambda n, by=by: by * n, lead=0.005) for by in (1, 1.01, 1.001))
    assert leader_of([first, others[0]], lead=0.02) is first
    assert leader_of([first, others[0]]) is others[0]
    assert leader_of([first, others[1]]) is first


def test_a_shape_with_a_lead_below_0_is_taken_unless_it_is_clearly_behind():
    first, *others = (forests(lambda n, by=by: by * n, lead=-0.005) for by in (1, 0.99, 0.999))
    assert leader_of([first, others[0]]) is first
    assert leader_of([first, others[1]]) is others[1]


def test_a_quicker_learning_rate_has_fewer_trees_in_the_race():
    slow, quick = forests(lambda n: n, learning_rate=0.025), forests(lambda n: 2 * n + 1, learning_rate=0.05)
    assert leader_of([slow, quick]) is quick
    assert [parts_of(one)[0].n_taken for one in (slow, quick)] == [2 * RACE, RACE]


def test_where_lower_is_better_the_lower_one_leads():
    first, other = (forests(lambda n, by=by: by / n, higher_is_better=False) for by in (1, 2))
    assert leader_of([first, other]) is first
    assert leader_of([other, first]) is first


def test_one_shape_runs_no_race():
    alone = forests(lambda n: n)
    assert leader_of([alone]) is alone
    assert parts_of(alone)[0].n_taken == 0


def test_it_stops_when_the_best_number_is_clearly_passed():
    peak = forests(lambda n: -abs(n - 30))
    peak.grow(2000)
    assert peak.best_length == 30
    assert parts_of(peak)[0].n_taken == 30 + PATIENCE


def test_small_steps_are_given_more_trees():
    assert sizing.paced(60, 0.05) == sizing.paced(60, 0.3) == 60
    assert sizing.paced(60, 0.01) == 300
    peak = forests(lambda n: -abs(n - 30), learning_rate=0.025)
    peak.grow(2000)
    assert parts_of(peak)[0].n_taken == 30 + 2 * PATIENCE


def test_late_trees_are_judged_by_one_fold():
    long = forests(lambda n: n)
    long.grow(400)
    assert [part.n_taken for part in parts_of(long)] == [400, 300, 300]
    assert long.lesson.learner.model() == n_trees_array(400)


def test_ctrl_c_is_not_a_length(monkeypatch):
    def interrupted(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(history=SimpleNamespace(interrupted=True))

    monkeypatch.setattr(length_search, "learn", interrupted)
    with pytest.raises(KeyboardInterrupt):
        forests(lambda n: n).grow(5)
