"""From a learner to its best model: steps that are watched, the model to keep, and a checkpoint to go on from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from rankwright.arrays import Arrays, named
from rankwright.errors import require
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.loop import History, Listener, LoopPlan, Progress, Watch, run_loop

LEARNER, KEPT = "learner.", "kept."  # what the names of arrays begin with in a checkpoint


class Learner(Protocol):
    """Something that becomes a better model step by step."""

    def take_step(self, step: int) -> bool:
        """Learn a little more; False where there is nothing left to learn."""

    def model(self) -> Arrays:
        """What scores documents now, in arrays that later steps leave alone."""

    def memory(self) -> Arrays:
        """What `take_up` needs to go on from here."""

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on from where another one was."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The model of the step to keep, and the history that chose it."""

    model: Arrays
    history: History
    n_steps: int  # up to the one kept


def learn(
    learner: Learner,
    plan: LoopPlan,
    *,
    watch: Watch | None = None,
    chooses: bool = True,
    checkpoint: Checkpoint | None = None,
    listeners: Sequence[Listener] = (),
) -> Learned:
    """What the learner became: its model after the best step, or after the last one where nothing is watched.

    Without `chooses` the last step counts, whatever was watched. It goes on from where `checkpoint` has it. Ctrl-C
    keeps the best model so far; where there is none yet, KeyboardInterrupt goes on to the caller.
    """
    require(plan.patience is None or watch is not None, "early_stopping needs validation data: give valid=…")
    run = _Run(learner, History(chosen=chooses))
    listening: list[Listener] = [run.hear, *listeners]
    if checkpoint is not None:
        saved = checkpoint.load()
        if saved is not None:
            run.take_up(saved.header, saved.arrays)
        listening.append(checkpoint.saver(run.state))
    run_loop(learner.take_step, plan, watch=watch, history=run.history, first_step=run.n_steps, listeners=listening)
    if run.kept is None:
        if run.history.interrupted:
            raise KeyboardInterrupt  # before the first step ended: there is nothing to keep
        run.kept = learner.model()  # there was nothing to learn
    return Learned(run.kept, run.history, run.n_kept)


@dataclass(slots=True, eq=False)
class _Run:
    """A learner on its way: the steps that it has taken, and the model to keep with the steps that led to it."""

    learner: Learner
    history: History
    n_steps: int = 0
    kept: Arrays | None = None
    n_kept: int = 0

    def hear(self, progress: Progress) -> None:
        self.n_steps = progress.step + 1
        if progress.value is None or self.history.best_step == progress.step:
            self.kept, self.n_kept = self.learner.model(), self.n_steps

    def state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {LEARNER + name: values for name, values in self.learner.memory().items()}
        arrays |= {KEPT + name: values for name, values in (self.kept or {}).items()}
        return {"history": self.history.to_dict(), "n_steps": self.n_steps, "n_kept": self.n_kept}, arrays

    def take_up(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.history = History.from_dict(header["history"])
        self.n_steps, self.n_kept = header["n_steps"], header["n_kept"]
        self.learner.take_up(named(arrays, LEARNER))
        self.kept = named(arrays, KEPT)
