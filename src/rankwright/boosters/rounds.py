"""Round after round: the loop, its watch and its checkpoint, whatever a round adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.groups import Groups
from rankwright.errors import require
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.digest import run_identity
from rankwright.training.loop import History, Listener, LoopPlan, run_loop
from rankwright.training.watching import watch_metric


class Learner(Protocol):
    """A model in the making. What its rounds made so far can be written down as arrays, and taken up again."""

    @property
    def n_rounds(self) -> int:
        """How many rounds have been taken."""

    @property
    def watched_scores(self) -> Float64Array:
        """What the model says now of the documents that are watched."""

    def take_step(self, step: int) -> bool:
        """Take round number `step`; False where there is nothing left to learn."""

    def to_arrays(self) -> Mapping[str, NDArray[Any]]:
        """What the rounds so far made."""

    def take_up(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue after rounds that were written down."""


@dataclass(frozen=True, slots=True, eq=False)
class WatchedLists:
    """Documents whose ranking says which round is best, and the name of the metric that says so."""

    select: str
    labels: Float32Array | None
    groups: Groups


@dataclass(frozen=True, slots=True, eq=False)
class Resuming:
    """Where a killed run left off, and what must be the same for it to go on."""

    folder: Path
    training: str  # fingerprint of the data
    validation: str | None
    settings: Mapping[str, Any]


def learn_in_rounds(
    learner: Learner,
    plan: LoopPlan,
    *,
    watched: WatchedLists | None,
    resuming: Resuming | None = None,
    listeners: Sequence[Listener] = (),
    threads: int = 1,
) -> History:
    """The history of the rounds that `learner` took; its best step says how many of them to keep."""
    require(plan.patience is None or watched is not None, "early_stopping needs validation data: give valid=…")
    history, listening = History(), list(listeners)
    if resuming is not None:
        identity = run_identity(resuming.training, resuming.validation, resuming.settings)
        saver = Checkpoint(
            resuming.folder, identity, lambda: ({"history": history.to_dict()}, dict(learner.to_arrays()))
        )
        saved = saver.load()
        if saved is not None:
            history = History.from_dict(saved.header["history"])
            learner.take_up(saved.arrays)
        listening.append(saver)
    watch = None
    if watched is not None:
        watch = watch_metric(
            watched.select, watched.labels, watched.groups, lambda: learner.watched_scores, threads=threads
        )
    return run_loop(
        learner.take_step, plan, watch=watch, history=history, first_step=learner.n_rounds, listeners=listening
    )
