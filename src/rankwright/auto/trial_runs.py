"""A trial: a candidate trained without a fold of the queries, and its scores of that fold; and where these are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.auto.candidates import AutoLesson, TrialCandidate
from rankwright.bagging.bag_models import BagModel
from rankwright.blending.model import BlendModel
from rankwright.cluster.engine import Report
from rankwright.container.checks import file_faults, read_array, read_integer, read_number
from rankwright.errors import RankwrightError
from rankwright.rankers.trained import TrainedRanker
from rankwright.training.driver import Checkpoint
from rankwright.training.loop import Progress
from rankwright.trees.model import ForestModel

LEARNING_CURVE = 0.5  # the share of a fold's training queries that a trial of half the data has
HALF_STREAM = 0x6861


class TrialTask(NamedTuple):
    """A trial to make: on half of the training queries, if the learning curve is asked for; `most_seconds` of processor
    time, after which it is given up."""

    candidate: TrialCandidate
    fold: int
    on_half: bool = False
    most_seconds: float | None = None

    @property
    def key(self) -> tuple[str, int, bool]:
        """What tells trials apart."""
        return self.candidate.key, self.fold, self.on_half


@dataclass(frozen=True, slots=True, eq=False)
class TrialOutcome:
    """The scores of a fold's documents, what the trial took, and how large its model is."""

    scores: Float64Array
    seconds: float  # of the processor
    visits: int
    bytes: int


class GivenUpError(RankwrightError):
    """A trial took longer than it may."""


def make_trial(lesson: AutoLesson, task: TrialTask, report: Report) -> TrialOutcome | float:  # noqa: ARG001
    """Make a trial, in a worker; of one that was given up, the seconds that it took."""
    begin, data, test = time.process_time(), lesson.data, lesson.tests[task.fold]

    def in_time(progress: Progress) -> None:  # noqa: ARG001
        if task.most_seconds is not None and time.process_time() - begin > task.most_seconds:
            raise GivenUpError(f"{task.candidate.name} took longer than {task.most_seconds:.0f} s")

    queries = np.setdiff1d(np.arange(data.n_queries), test)
    if task.on_half:
        rng = np.random.default_rng([lesson.seed, HALF_STREAM, task.fold])
        queries = np.sort(rng.permutation(queries)[: max(1, round(len(queries) * LEARNING_CURVE))])
    ranker = task.candidate.ranker(lesson.metric, threads=lesson.threads)
    try:
        ranker.fit(data.take_queries(queries), allow_empty=True, listeners=[in_time])
    except GivenUpError:
        return time.process_time() - begin
    trained = ranker.trained_
    scores = trained.scores(data.take_queries(test), threads=lesson.threads)
    return TrialOutcome(scores, time.process_time() - begin, visits_of(trained), ranker.file_size())


def visits_of(trained: TrainedRanker) -> int:
    """How many trees, and layers of nets or weighted sums, a document visits to be scored."""
    model = trained.model
    if isinstance(model, ForestModel):
        return model.forest.n_trees
    if isinstance(model, BagModel | BlendModel):
        return sum(map(visits_of, model.members))
    layers = {name.rsplit(".", 2)[-2] for name in model.state()[1] if name.startswith("net.") and ".weight" in name}
    return max(1, len(layers))


@dataclass(slots=True, eq=False)
class TrialStore:
    """The outcomes of trials: in memory, and in a folder if one was given, from which a killed search goes on."""

    folder: Path | None
    identity: Mapping[str, Any]
    n_docs_of: Callable[[int], int]  # of a fold
    found: dict[tuple[str, int, bool], TrialOutcome]

    def lookup(self, task: TrialTask) -> TrialOutcome | None:
        """The outcome of a trial that was made before."""
        if task.key not in self.found and self.folder is not None:
            file = self._file(task)
            saved = None if file is None else file.load()
            if saved is not None:
                with file_faults(saved.path, "trial"):
                    scores = read_array(saved.arrays, "scores", np.float64, (self.n_docs_of(task.fold),))
                    self.found[task.key] = TrialOutcome(
                        scores,
                        read_number(saved.header, "seconds"),
                        read_integer(saved.header, "visits"),
                        read_integer(saved.header, "bytes"),
                    )
        return self.found.get(task.key)

    def add(self, task: TrialTask, outcome: TrialOutcome) -> None:
        """Keep an outcome."""
        self.found[task.key] = outcome
        file = self._file(task)
        if file is not None:
            told = {"candidate": task.candidate.name, "fold": task.fold, "on_half": task.on_half}
            sizes = {"seconds": outcome.seconds, "visits": outcome.visits, "bytes": outcome.bytes}
            file.save(told | sizes, {"scores": outcome.scores})

    def seconds(self) -> float:
        """What all trials took."""
        return sum(outcome.seconds for outcome in self.found.values())

    def _file(self, task: TrialTask) -> Checkpoint | None:
        if self.folder is None:
            return None
        from xxhash import xxh3_64

        name = f"{task.candidate.family}-{xxh3_64(task.candidate.key.encode()).hexdigest()}"
        where = f"fold-{task.fold}" + ("-half" if task.on_half else "")
        return Checkpoint(self.folder / "trials" / name / where, self.identity)
