"""Steps of any learner, watched on validation documents, kept, and saved in a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.linear.models import Arrays, Model
from rankwright.linear.rows import filled
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.digest import data_digest, run_identity
from rankwright.training.loop import History, Listener, LoopPlan, Progress, Watch, run_loop
from rankwright.training.watching import watch_metric

LEARNER, KEPT = "learner.", "kept."  # what the names of arrays begin with in a checkpoint


class Learner(Protocol):
    """Something that becomes a better model step by step."""

    def take_step(self, step: int) -> bool:
        """Learn a little more; False where there is nothing left to learn."""

    def model(self) -> Arrays:
        """What scores documents now, in arrays of its own."""

    def memory(self) -> Arrays:
        """What `take_up` needs to go on from here."""

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on from where another one was."""


@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """The model of the step to keep, and the history that chose it."""

    model: Arrays
    history: History
    n_steps: int  # up to the one kept


@dataclass(slots=True, eq=False)
class _Run:
    """A learner on its way: how far it has come, and the model to keep, that of the best step or else of the last."""

    learner: Learner
    history: History
    n_steps: int = 0
    kept: Arrays | None = None

    def take_step(self, step: int) -> bool:
        if not self.learner.take_step(step):
            return False
        self.n_steps = step + 1
        return True

    def keep(self, progress: Progress) -> None:
        if progress.value is None or self.history.best_step == progress.step:
            self.kept = self.learner.model()

    def state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {LEARNER + name: values for name, values in self.learner.memory().items()}
        arrays |= {KEPT + name: values for name, values in (self.kept or {}).items()}
        return {"history": self.history.to_dict(), "n_steps": self.n_steps}, arrays

    def take_up(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.history, self.n_steps = History.from_dict(header["history"]), header["n_steps"]
        self.learner.take_up(_named(arrays, LEARNER))
        self.kept = _named(arrays, KEPT)


def train(
    learner: Learner,
    plan: LoopPlan,
    model_of: Callable[[Mapping[str, NDArray[Any]]], Model],
    *,
    data: RankingDataset,
    valid: RankingDataset | None,
    select: str,
    checkpoint: Path | None,
    settings: Mapping[str, Any],
    listeners: Sequence[Listener],
    threads: int,
) -> Trained:
    """What the learner became. `data` and `settings` tell this run's checkpoint from others'."""
    require(plan.patience is None or valid is not None, "early_stopping needs validation data: give valid=…")
    run = _Run(learner, History())
    listening: list[Listener] = [run.keep, *listeners]
    if checkpoint is not None:
        identity = run_identity(data_digest(data), None if valid is None else data_digest(valid), settings)
        saver = Checkpoint(checkpoint, identity, run.state)
        saved = saver.load()
        if saved is not None:
            run.take_up(saved.header, saved.arrays)
        listening.append(saver)
    watch = None if valid is None else _watch(valid, select, lambda: model_of(learner.model()), threads)
    run_loop(run.take_step, plan, watch=watch, history=run.history, first_step=run.n_steps, listeners=listening)
    if run.kept is None:
        if run.history.interrupted:
            raise KeyboardInterrupt  # before the first step ended: there is nothing to keep
        run.kept = learner.model()  # there was nothing to learn
    best = run.history.best_step
    return Trained(run.kept, run.history, run.n_steps if best is None else best + 1)


def _watch(valid: RankingDataset, select: str, model: Callable[[], Model], threads: int) -> Watch:
    features = filled(valid.features)
    return watch_metric(
        select, valid.labels, valid.groups, lambda: model().scores(features, threads=threads), threads=threads
    )


def _named(arrays: Mapping[str, NDArray[Any]], start: str) -> Arrays:
    return {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}
