"""The one driver of all training: steps that are watched, the model to keep, and a checkpoint to continue from.

Trees, nets, linear models, boosters, SortNet and bags are learners. None of them knows of early stopping, of Ctrl-C,
of histories or of checkpoint files: those are here, once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float32Array, Float64Array, arrays_with_prefix
from rankwright.container.atomic import remove_unfinished
from rankwright.container.checks import check_alike, check_between, file_faults, read_field, read_integer
from rankwright.container.file import Container, read_container, write_container
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.side_columns import Side, rows_of
from rankwright.errors import InputError, Message, Parameter, require, require_input
from rankwright.metrics.confidence_intervals import weighted_mean
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import as_measure
from rankwright.training.digest import Digests
from rankwright.training.loop import History, Listener, LoopPlan, Progress, Watch, run_loop

NEEDS_VALIDATION = Message("early_stopping needs validation data: give ", Parameter("valid", python="valid=…"))
KIND = "checkpoint"
FILE_NAME = "checkpoint.rw"
SECONDS_BETWEEN = 5.0  # at most so much work is lost
LEARNER, KEPT = "learner.", "kept."  # what the names of arrays begin with in a checkpoint


class Learner(Protocol):
    """Something that becomes a better model step by step."""

    def take_step(self, step: int) -> bool:
        """Learn a little more; False where there is nothing left to learn."""

    def model(self) -> Arrays:
        """The current model, in arrays that later steps do not change."""

    def memory(self) -> Arrays:
        """What `take_up` needs to continue from here."""

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the memory of another learner."""


class RemembersArrays:
    """A learner that needs only some of its arrays to continue; `remembered` are the names of their attributes."""

    remembered: ClassVar[tuple[str, ...]]
    grown: ClassVar[tuple[str, ...]] = ()  # those, in memory or model, whose number of rows depends on the steps taken

    def memory(self) -> Arrays:
        """What `take_up` needs to continue from here."""
        return {name: getattr(self, name) for name in self.remembered}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue from the memory of another learner."""
        check_alike(memory, self.memory(), grown=self.grown)
        for name in self.remembered:
            setattr(self, name, np.array(memory[name]))


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The model of the step to keep, and the history that chose it."""

    model: Arrays
    history: History
    n_steps: int  # up to the one kept


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """Where a run continues: what the learner remembers, the steps it has taken, the model kept, and the history."""

    memory: Mapping[str, NDArray[Any]]
    n_steps: int
    kept: Arrays
    n_kept: int
    history: History


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Lesson:
    """A learner that is ready for training, what is watched meanwhile, and how its arrays become a model.

    `digests` are the fingerprints of the data trained on and of the data watched, by which a checkpoint is recognised.
    `others` are watched as well, but choose nothing. `n_steps` are taken at most; where it is None, as many as the
    ranker's budget says.
    """

    learner: Learner
    model: Callable[[Learned], Any]
    digests: Digests
    watch: Watch | None = None
    others: Mapping[str, Watch] = field(default_factory=dict)
    earlier: Earlier | None = None
    n_steps: int | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The file in a folder that holds the state of a training run.

    `identity` says what is being trained on what: a checkpoint of another run is refused, not continued.
    """

    folder: Path
    identity: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """The file that holds the state."""
        return self.folder / FILE_NAME

    def load(self) -> Container | None:
        """The state saved before, None where there is none."""
        remove_unfinished(self.folder)
        if not self.path.exists():
            return None
        saved = read_container(self.path, KIND)
        with file_faults(self.path, "checkpoint"):
            identity = read_field(saved.header, "identity", dict)
        if identity != dict(self.identity):
            differing = sorted(name for name in self.identity if identity.get(name) != self.identity[name])
            raise InputError(
                f"{os.fspath(self.path)} is the checkpoint of another run: {', '.join(differing) or 'its settings'} "
                f"differ; choose another folder, or remove the file"
            )
        return saved

    def save(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write the state."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_container(self.path, KIND, {"identity": dict(self.identity)} | dict(header), arrays)

    def saver(self, state: Callable[[], tuple[dict[str, Any], Arrays]]) -> Listener:
        """A listener that writes the state every few seconds, and after the last step."""
        last = time.monotonic()

        def save_in_time(progress: Progress) -> None:
            nonlocal last
            if progress.step + 1 == progress.n_steps or time.monotonic() - last >= SECONDS_BETWEEN:
                self.save(*state())
                last = time.monotonic()

        return save_in_time


def learn(
    lesson: Lesson,
    plan: LoopPlan,
    *,
    chooses: bool = True,
    smoothing: float = 0.0,
    checkpoint: Checkpoint | None = None,
    listeners: Sequence[Listener] = (),
    history: History | None = None,
) -> Learned:
    """The trained model: that after the best step, or after the last one if nothing is watched.

    Without `chooses` the last step counts, whatever was watched. With `smoothing`, which is that of the history, the
    best step may lie before the last one that was best, so the learner must know its earlier models (`model_after`).
    Training continues from `checkpoint` if it holds a state, or where `history`, that of an earlier call with this very
    learner, ends; then, too, it must know its earlier models. Ctrl-C keeps the best model so far; if there is none yet,
    KeyboardInterrupt is raised.
    """
    learner, watch = lesson.learner, lesson.watch
    require(plan.patience is None or watch is not None, NEEDS_VALIDATION)
    run = _Run(learner, History(chosen=chooses, smoothing=smoothing), is_watched=watch is not None)
    listening: list[Listener] = [run.hear, *listeners]
    saved = None if checkpoint is None or history is not None else checkpoint.load()
    if history is not None:
        run.go_on(history)
    elif saved is not None:
        with file_faults(saved.path, "checkpoint"):
            run.take_up(read_state(saved.header, saved.arrays))
    elif lesson.earlier is not None:
        run.take_up(lesson.earlier)
    if checkpoint is not None:
        listening.append(checkpoint.saver(run.state))
    run_loop(learner.take_step, plan, watch=watch, history=run.history, first_step=run.n_steps, listeners=listening)
    if run.history.interrupted:
        run.keep_best()  # Ctrl-C may have come after a step was measured and before its model was kept
    if run.kept is None:
        if run.history.interrupted:
            raise KeyboardInterrupt  # before the first step ended: there is nothing to keep
        run.kept = learner.model()  # there was nothing to learn
    return Learned(run.kept, run.history, run.n_kept)


def read_state(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Earlier:
    """The state of the run that wrote this checkpoint."""
    n_steps = read_integer(header, "n_steps")
    return Earlier(
        arrays_with_prefix(arrays, LEARNER),
        n_steps,
        arrays_with_prefix(arrays, KEPT),
        read_integer(header, "n_kept", most=n_steps),
        History.from_dict(read_field(header, "history", dict)),
    )


@dataclass(slots=True, eq=False)
class _Run:
    """A learner in training: how many steps it has taken, and the model to keep with the steps that led to it."""

    learner: Learner
    history: History
    is_watched: bool
    n_steps: int = 0
    kept: Arrays | None = None
    n_kept: int = 0

    def hear(self, progress: Progress) -> None:
        self.n_steps = progress.step + 1
        self.keep_best()

    def keep_best(self) -> None:
        """Keep the model after the best step, unless it is kept already."""
        after_best = 0  # how many steps came after the best one
        best = self.history.best_step if self.is_watched else None
        if best is not None:
            self.n_steps = len(self.history.values)
            after_best = self.n_steps - 1 - best
        n_best = self.n_steps - after_best
        if n_best == self.n_kept:
            return
        if after_best == 0:
            self.kept, self.n_kept = self.learner.model(), n_best
        elif hasattr(self.learner, "model_after"):  # only smoothing goes back to an earlier step
            self.kept, self.n_kept = self.learner.model_after(n_best), n_best

    def state(self) -> tuple[dict[str, Any], Arrays]:
        arrays = {LEARNER + name: values for name, values in self.learner.memory().items()}
        arrays |= {KEPT + name: values for name, values in (self.kept or {}).items()}
        return {"history": self.history.to_dict(), "n_steps": self.n_steps, "n_kept": self.n_kept}, arrays

    def go_on(self, history: History) -> None:
        """Continue with the learner as it is, after the steps that it has taken and that are in `history`."""
        self.history, self.n_steps = history, len(history.values)
        self.keep_best()

    def take_up(self, earlier: Earlier) -> None:
        self.history, self.n_steps, self.n_kept = earlier.history, earlier.n_steps, earlier.n_kept
        self.learner.take_up(earlier.memory)
        self.kept = dict(earlier.kept)
        self._check()

    def _check(self) -> None:
        """Raise where what was taken up does not fit together: it may come from a file that somebody changed."""
        assert self.kept is not None
        current = self.learner.model()
        check_alike(self.kept, current, grown=getattr(self.learner, "grown", ()))
        for name, values in current.items():
            if values.dtype.kind == "i":  # of trees, stumps and the like, of which an earlier model has fewer
                check_between(f"{KEPT}{name}", self.kept[name], 0, int(values.max(initial=0)))
        n_taken = getattr(self.learner, "n_taken", self.n_steps)
        require_input(n_taken == self.n_steps, f"{self.n_steps} steps were taken, and {n_taken} are there")
        if self.is_watched and len(self.history.values) != self.n_steps:
            raise InputError(f"{self.n_steps} steps were taken, and {len(self.history.values)} were watched")


def watch_metric(
    metric: str | Callable[..., float],
    labels: Float32Array | None,
    groups: Groups,
    current_scores: Callable[[], Float64Array],
    *,
    threads: int,
    side: Side | None = None,
) -> Watch:
    """A watch over the mean of `metric`, such as `ndcg@10:letor`, for the scores that `current_scores` gives."""
    measure = as_measure(metric)
    if labels is None:
        raise InputError(f"the validation data has no labels to watch {measure.name} with")

    def measure_now() -> float:
        lists = ScoredLists(scores=current_scores(), labels=labels, groups=groups, side=side)
        evaluation = evaluate_lists(lists, [measure], measure.convention, threads=threads)
        return next(iter(evaluation.results.values())).mean

    return Watch(measure.name, measure_now, measure.higher_is_better)


Judged: TypeAlias = tuple[RankingDataset, Callable[[], Float64Array]]  # documents, and what scores them now


def watch_together(metric: str | Callable[..., float], watched: Sequence[Judged], *, threads: int) -> Watch:
    """A watch over the mean of `metric` over all queries of several sets of documents."""
    measure = as_measure(metric)

    def values_of(documents: RankingDataset, scores: Float64Array) -> Float64Array:
        if documents.labels is None:
            raise InputError(f"the validation data has no labels to watch {measure.name} with")
        lists = ScoredLists(scores=scores, labels=documents.labels, groups=documents.groups, side=documents.side)
        evaluation = evaluate_lists(lists, [measure], measure.convention, threads=threads)
        return next(iter(evaluation.results.values())).values

    def measure_now() -> float:
        values = np.concatenate([values_of(documents, scores()) for documents, scores in watched])
        counted = values[~np.isnan(values)]
        return weighted_mean(counted, np.ones(len(counted)))

    return Watch(measure.name, measure_now, measure.higher_is_better)


class Watches(NamedTuple):
    """What is watched while a ranker learns: the first chooses the step, the others are only measured."""

    first: Watch | None = None
    others: Mapping[str, Watch] = MappingProxyType({})


def watches_of(
    metric: str | Callable[..., float],
    data: RankingDataset | None,
    parts: Mapping[str, int],
    current_scores: Callable[[], Float64Array],
    *,
    threads: int,
) -> Watches:
    """The watches over validation data; of several `parts`, each with its number of queries, the first chooses."""
    if data is None:
        return Watches()
    if not parts:
        return Watches(watch_metric(metric, data.labels, data.groups, current_scores, threads=threads, side=data.side))
    every, first = {}, 0
    for name, n_queries in parts.items():  # one part after another
        begin, end = data.groups.offsets[[first, first + n_queries]].tolist()
        labels = None if data.labels is None else data.labels[begin:end]
        groups = Groups.of_sizes(data.groups.sizes[first : first + n_queries])
        scores = partial(_some_of, current_scores, slice(begin, end))
        side = rows_of(data.side, slice(begin, end))
        every[name] = watch_metric(metric, labels, groups, scores, threads=threads, side=side)
        first += n_queries
    return Watches(every.pop(next(iter(parts))), every)


def _some_of(current_scores: Callable[[], Float64Array], rows: slice) -> Float64Array:
    return np.ascontiguousarray(current_scores()[rows])


def appender(measure: Callable[[], float], values: list[float]) -> Listener:
    """A listener that measures after each step, and keeps what it finds."""

    def hear(progress: Progress) -> None:  # noqa: ARG001
        values.append(measure())

    return hear
