"""Take a step, watch a metric, remember the best, stop in time.

A step is a tree, an epoch, a round: whatever a ranker adds at a time. Steps are counted from 0; `n_steps` steps have
been taken after step `n_steps - 1`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.container.checks import read_field, read_number, read_number_list, read_optional_field
from rankwright.errors import require
from rankwright.progress.stages import announce

log = logging.getLogger(__name__)
FLAGS = ("higher_is_better", "interrupted", "stopped_early", "chosen")  # of a history


@dataclass(frozen=True, slots=True)
class Watch:
    """What is measured after each step, and which way is better."""

    name: str
    measure: Callable[[], float]
    higher_is_better: bool = True


@dataclass(slots=True)
class History:
    """The watched values, one per step, and what followed from them.

    If no step is chosen, as in a bag of rankers, all are kept, and the last counts as the best. With `smoothing` the
    choice is made among means of neighbouring values, see `smoothed`.
    """

    watched: str | None = None
    higher_is_better: bool = True
    values: list[float] = field(default_factory=list)
    interrupted: bool = False
    stopped_early: bool = False
    chosen: bool = True
    smoothing: float = 0.0

    @property
    def best_step(self) -> int | None:
        """The first step with the best value; None where nothing was watched."""
        if not self.values:
            return None
        return self.first_near_best(0.0) if self.chosen else len(self.values) - 1

    def first_near_best(self, share: float) -> int:
        """The first step that is as good as the best but for this share of its value."""
        values = smoothed(self.values, self.smoothing)
        worth = values if self.higher_is_better else -values
        best = int(np.argmax(worth))
        return int(np.argmax(worth >= worth[best] - share * abs(worth[best]))) if share else best

    def continued(self) -> History:
        """This history as the beginning of a longer one."""
        return replace(self, values=list(self.values), interrupted=False, stopped_early=False)

    def to_dict(self) -> dict[str, Any]:
        """The history as files hold it; smoothing is left out where there is none."""
        record = asdict(self)
        return record if self.smoothing else {name: value for name, value in record.items() if name != "smoothing"}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> History:
        """The history that `to_dict` recorded; what a file leaves out is as in a new history."""
        known = asdict(cls()) | dict(record)
        smoothing = read_number(known, "smoothing")
        require(0 <= smoothing <= 1, f"smoothing must lie between 0 and 1, got {smoothing}")
        return cls(
            watched=read_optional_field(known, "watched", str),
            values=read_number_list(known, "values"),
            smoothing=smoothing,
            **{name: read_field(known, name, bool) for name in FLAGS},
        )

    @property
    def best_mean(self) -> float | None:
        """What the best step was chosen by: its value, or with smoothing the mean of its neighbourhood."""
        step = self.best_step
        return None if step is None else float(smoothed(self.values, self.smoothing)[step])

    @property
    def best_value(self) -> float | None:
        """The value of the best step; None where nothing was watched."""
        step = self.best_step
        return None if step is None else self.values[step]


def smoothed(values: Sequence[float], share: float) -> Float64Array:
    """Each step's mean over the steps around it, at most `share` of its own number away on either side.

    The metric of a few hundred queries jumps from step to step; a step whose neighbours are good as well is not good by
    luck alone. The later the step, the less one more changes, and the wider its neighbourhood.
    """
    n = len(values)
    totals = np.concatenate([[0.0], np.cumsum(values)])
    steps = np.arange(1, n + 1)
    reach = np.ceil(share * steps).astype(np.int64)
    low, high = np.maximum(steps - 1 - reach, 0), np.minimum(steps + reach, n)
    return np.asarray(values, np.float64) if share == 0 else (totals[high] - totals[low]) / (high - low)


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of training after a step: what listeners are called with.

    Attributes
    ----------
    step : int
        The step that was taken, from 0.
    n_steps : int
        How many steps training will take at most.
    value : float or None
        The watched value after the step; None where nothing is watched.
    best_value : float or None
        The best value so far.
    metric : str or None
        The name of what is watched.
    """

    step: int
    n_steps: int
    value: float | None
    best_value: float | None
    metric: str | None = None


# Called after every step. One that returns True ends the training, as early stopping does.
Listener = Callable[[Progress], bool | None]


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """How long to train, and what progress calls it. Without a name, the learner announces its steps itself.

    `patience`: stop after that many steps without a better watched value; None = never. With `lasting` it is at least
    that share of the steps taken. A value is better if it is so by more than the share `least_gain`.
    """

    n_steps: int
    patience: int | None = None
    lasting: float = 0.0
    least_gain: float = 0.0
    what: str = "training"
    unit: str = "steps"

    def __post_init__(self) -> None:
        require(self.n_steps >= 1, f"the number of steps must be 1 or more, got {self.n_steps}")
        require(self.patience is None or self.patience >= 1, f"early_stopping must be 1 or more, got {self.patience}")


def run_loop(
    take_step: Callable[[int], bool],
    plan: LoopPlan,
    *,
    watch: Watch | None = None,
    history: History | None = None,
    first_step: int = 0,
    listeners: Sequence[Listener] = (),
) -> History:
    """The history of the steps taken. `take_step(step)` is False where there was nothing left to learn.

    `history` and `first_step` continue an earlier run. Ctrl-C ends the loop and drops the unfinished step: earlier
    steps are kept, and measured if they were not yet, and `History.interrupted` is set.
    """
    history = history or History()
    if watch is not None:
        history.watched, history.higher_is_better = watch.name, watch.higher_is_better
    steps = _Steps(plan, watch, history, listeners, first_step, first_step)
    if plan.what:
        announce(plan.what)
    try:
        for step in range(first_step, plan.n_steps):
            if steps.told_to_stop or _enough(history, plan):
                history.stopped_early = True
                break
            if not take_step(step):
                log.info("step %d found nothing more to learn", step)
                break
            steps.n_taken = step + 1
            steps.hear(step)
    except KeyboardInterrupt:
        history.interrupted = True
        if steps.n_heard < steps.n_taken:
            steps.hear(steps.n_taken - 1)  # Ctrl-C came between a step and its measurement: both are kept
        if steps.n_taken:
            log.warning("interrupted after step %d: the best model so far is kept", steps.n_taken)
    return history


@dataclass(slots=True)
class _Steps:
    """The steps taken so far, and those that were measured and told to listeners."""

    plan: LoopPlan
    watch: Watch | None
    history: History
    listeners: Sequence[Listener]
    n_taken: int
    n_heard: int
    told_to_stop: bool = False

    def hear(self, step: int) -> None:
        """Measure a step and tell of it."""
        history = self.history
        if self.watch is not None and len(history.values) <= step:  # else Ctrl-C came just after it was measured
            history.values.append(self.watch.measure())
        self.n_heard = step + 1
        value = history.values[-1] if history.values else None
        progress = Progress(step, self.plan.n_steps, value, history.best_value, history.watched)
        for listener in self.listeners:  # the first keeps the best model: Ctrl-C while the bar is drawn loses nothing
            if listener(progress) is True:
                self.told_to_stop = True
        if self.plan.what:
            self._announce(progress)

    def _announce(self, progress: Progress) -> None:
        plan, note = self.plan, ""
        if progress.value is not None and progress.best_value is not None:
            note = f"{progress.metric} {progress.value:.4f}, best {progress.best_value:.4f}"
        may_end_early = plan.patience is not None and progress.value is not None
        announce(plan.what, progress.step + 1, plan.n_steps, unit=plan.unit, note=note, may_end_early=may_end_early)


def _enough(history: History, plan: LoopPlan) -> bool:
    n_steps = len(history.values)
    if plan.patience is None or n_steps <= max(plan.patience, plan.lasting * n_steps):  # so early none is too old
        return False
    near_best = history.first_near_best(plan.least_gain) if history.chosen else n_steps - 1
    return n_steps - 1 - near_best >= max(plan.patience, plan.lasting * n_steps)
