from __future__ import annotations

import pytest

from rankwright.errors import SettingError
from rankwright.training.loop import History, LoopPlan, Progress, Watch, run_loop


class Counter:
    """A learner that only counts its steps and reads its quality off a list."""

    def __init__(self, qualities: list[float] | None = None, fails_at: int | None = None) -> None:
        self.taken: list[int] = []
        self.qualities = qualities or []
        self.fails_at = fails_at

    def take_step(self, step: int) -> bool:
        if step == self.fails_at:
            raise KeyboardInterrupt
        self.taken.append(step)
        return True

    def watch(self, higher_is_better: bool = True) -> Watch:
        return Watch("quality", lambda: self.qualities[self.taken[-1]], higher_is_better)


def test_without_a_watch_every_step_is_taken():
    learner = Counter()
    history = run_loop(learner.take_step, LoopPlan(4))
    assert learner.taken == [0, 1, 2, 3]
    assert (history.values, history.best_step, history.best_value) == ([], None, None)


def test_patience_counts_steps_without_a_better_value():
    learner = Counter([1.0, 3.0, 2.0, 3.0, 1.0, 9.0])
    history = run_loop(learner.take_step, LoopPlan(6, patience=2), watch=learner.watch())
    assert learner.taken == [0, 1, 2, 3]  # steps 2 and 3 are not better than step 1
    assert history.stopped_early
    assert (history.best_step, history.best_value) == (1, 3.0)


def test_lower_may_be_better():
    learner = Counter([3.0, 1.0, 2.0])
    history = run_loop(learner.take_step, LoopPlan(3), watch=learner.watch(higher_is_better=False))
    assert history.best_step == 1


def test_two_runs_make_one():
    once, twice = Counter([1.0, 2.0, 3.0, 2.0]), Counter([1.0, 2.0, 3.0, 2.0])
    whole = run_loop(once.take_step, LoopPlan(4), watch=once.watch())
    first = run_loop(twice.take_step, LoopPlan(2), watch=twice.watch())
    second = run_loop(twice.take_step, LoopPlan(4), watch=twice.watch(), history=first, first_step=2)
    assert twice.taken == once.taken
    assert second == whole


@pytest.mark.parametrize(
    ("fails_at", "messages"), [(0, []), (2, ["interrupted after step 2: the best model so far is kept"])]
)
def test_an_interrupt_is_told_where_there_is_something_to_keep(fails_at, messages, caplog):
    learner = Counter([1.0, 2.0, 3.0], fails_at=fails_at)
    assert run_loop(learner.take_step, LoopPlan(3), watch=learner.watch()).interrupted
    assert caplog.messages == messages


def test_an_interrupt_keeps_what_was_trained():
    learner = Counter([1.0, 2.0, 3.0], fails_at=2)
    history = run_loop(learner.take_step, LoopPlan(3), watch=learner.watch())
    assert history.interrupted
    assert history.values == [1.0, 2.0]


def test_a_learner_may_have_nothing_left_to_learn():
    history = run_loop(lambda step: step < 2, LoopPlan(10), watch=Watch("quality", lambda: 1.0))
    assert len(history.values) == 2


def test_listeners_hear_every_step():
    heard: list[Progress] = []
    learner = Counter([2.0, 1.0])
    run_loop(learner.take_step, LoopPlan(2), watch=learner.watch(), listeners=[heard.append])
    assert heard == [Progress(0, 2, 2.0, 2.0, "quality"), Progress(1, 2, 1.0, 2.0, "quality")]


def test_a_listener_that_returns_true_ends_the_training_and_the_best_step_counts():
    learner = Counter([2.0, 3.0, 1.0, 5.0])
    history = run_loop(
        learner.take_step, LoopPlan(4), watch=learner.watch(), listeners=[lambda progress: progress.step == 2]
    )
    assert history.values == [2.0, 3.0, 1.0]
    assert history.best_step == 1
    assert history.stopped_early


@pytest.mark.parametrize(("n_steps", "patience"), [(0, None), (5, 0)])
def test_a_plan_cannot_hold_nonsense(n_steps, patience):
    with pytest.raises(SettingError, match="must be 1 or more, got 0"):
        LoopPlan(n_steps, patience)


def test_an_empty_history_has_no_best():
    assert History().best_step is None


def test_hardly_better_values_are_no_reason_to_go_on():
    learner = Counter([0.5, 0.5001, 0.5002, 0.5003, 0.6, 0.7])
    history = run_loop(learner.take_step, LoopPlan(6, patience=3, least_gain=0.01), watch=learner.watch())
    assert history.stopped_early
    assert len(history.values) == 4
    assert (history.best_step, history.first_near_best(0.01)) == (3, 0)
