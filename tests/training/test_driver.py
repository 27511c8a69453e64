"""Laws of learning step by step, whatever it is that learns."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.errors import InputError, SettingError
from rankwright.training import driver
from rankwright.training.driver import Checkpoint, Lesson, learn
from rankwright.training.loop import LoopPlan, Watch


class Adder:
    """Learns one number: the sum of its steps' numbers. It spoils what it has before it is interrupted."""

    def __init__(self, qualities=(), *, interrupted_at=None, n_lessons=100):
        self.sum, self.taken = 0, []
        self.qualities, self.interrupted_at, self.n_lessons = qualities, interrupted_at, n_lessons

    def take_step(self, step):
        if step == self.interrupted_at:
            self.sum = -1
            raise KeyboardInterrupt
        if step >= self.n_lessons:
            return False
        self.sum += step
        self.taken.append(step)
        return True

    def model(self):
        return {"sum": np.array([self.sum])}

    def memory(self):
        return {"now": np.array([self.sum])}

    def take_up(self, memory):
        self.sum = int(memory["now"][0])

    def watch(self):
        return Watch("quality", lambda: self.qualities[self.taken[-1]]) if self.qualities else None


def lesson_of(learner):
    return Lesson(learner=learner, model=lambda learned: learned, digests=lambda: ("", None), watch=learner.watch())


def learned_by(learner, n_steps, **options):
    found = learn(lesson_of(learner), LoopPlan(n_steps), **options)
    return int(found.model["sum"][0]), found.n_steps


def test_the_last_model_is_kept_where_nothing_is_watched():
    assert learned_by(Adder(), 5) == (0 + 1 + 2 + 3 + 4, 5)


def test_the_best_model_is_kept_where_steps_are_watched():
    assert learned_by(Adder([1.0, 2.0, 9.0, 9.0, 3.0]), 5) == (0 + 1 + 2, 3)


def test_the_last_model_is_kept_where_steps_are_watched_and_not_chosen_among():
    assert learned_by(Adder([1.0, 2.0, 9.0, 9.0, 3.0]), 5, chooses=False) == (0 + 1 + 2 + 3 + 4, 5)


@pytest.mark.parametrize("qualities", [[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 9.0, 3.0], [9.0, 2.0, 3.0, 1.0]])
def test_a_learner_that_goes_on_learns_what_it_would_have_at_once(qualities):
    class Remembering(Adder):
        def model_after(self, n_steps):
            return {"sum": np.array([sum(range(n_steps))])}

    learner = Remembering(qualities)
    first = learn(lesson_of(learner), LoopPlan(2))
    assert learned_by(learner, 4, history=first.history) == learned_by(Remembering(qualities), 4)
    assert learner.taken == [0, 1, 2, 3]


def test_where_there_is_nothing_to_learn_the_model_is_the_first():
    assert learned_by(Adder(n_lessons=0), 5) == (0, 0)
    assert learned_by(Adder([1.0], n_lessons=0), 5) == (0, 0)


@pytest.mark.parametrize(("qualities", "wanted"), [((), (0 + 1 + 2, 3)), ((1.0, 2.0, 1.0), (0 + 1, 2))])
def test_an_interrupt_keeps_the_best_model_so_far(qualities, wanted):
    assert learned_by(Adder(qualities, interrupted_at=3), 5) == wanted


@pytest.mark.parametrize("qualities", [(), (1.0, 2.0, 3.0, 0.0, 0.0)])
def test_an_interrupt_while_the_best_model_is_kept_loses_nothing(qualities):
    class CutShort(Adder):
        def model(self):
            if self.taken == [0, 1, 2] and not hasattr(self, "was_cut"):
                self.was_cut = True
                raise KeyboardInterrupt
            return super().model()

    assert learned_by(CutShort(qualities), 5) == (0 + 1 + 2, 3)


def test_an_interrupt_before_the_first_step_ended_goes_on():
    with pytest.raises(KeyboardInterrupt):
        learned_by(Adder(interrupted_at=0), 5)


@pytest.mark.parametrize("qualities", [(), (1.0, 5.0, 2.0, 3.0, 4.0, 6.0)])
@pytest.mark.parametrize("n_steps", [4, 5, 6])
def test_a_run_that_is_taken_up_is_one_run(tmp_path, qualities, n_steps):
    learned_by(Adder(qualities), 3, checkpoint=Checkpoint(tmp_path, {"what": 1}))
    second = Adder(qualities)
    assert learned_by(second, n_steps, checkpoint=Checkpoint(tmp_path, {"what": 1})) == learned_by(
        Adder(qualities), n_steps
    )
    assert second.taken == list(range(3, n_steps))


def test_an_interrupted_run_goes_on_after_the_last_step_that_was_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(driver, "SECONDS_BETWEEN", 0.0)
    saved = Checkpoint(tmp_path, {})
    assert learned_by(Adder(interrupted_at=2), 5, checkpoint=saved) == (0 + 1, 2)
    second = Adder()
    assert learned_by(second, 5, checkpoint=saved) == (0 + 1 + 2 + 3 + 4, 5)
    assert second.taken == [2, 3, 4]


def test_the_checkpoint_of_another_run_is_refused(tmp_path):
    learned_by(Adder(), 3, checkpoint=Checkpoint(tmp_path, {"what": 1, "how": 2}))
    with pytest.raises(InputError, match="checkpoint of another run: what differ"):
        learned_by(Adder(), 3, checkpoint=Checkpoint(tmp_path, {"what": 3, "how": 2}))


def test_patience_needs_something_to_watch():
    with pytest.raises(SettingError, match="early_stopping needs validation data"):
        learn(lesson_of(Adder()), LoopPlan(5, patience=2))
