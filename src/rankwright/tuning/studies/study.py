"""A study: trials run by an engine, kept in a store.

A search that is started again asks for the same trials, and finds in the store what is done already. This is how a
killed search goes on, and how several processes share a study.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import xxhash

import rankwright
from rankwright.cluster.engine import Done, Engine
from rankwright.progress.stages import announce
from rankwright.tuning.experiment import ExperimentTask, Outcome, Prepared, run_shared_experiment
from rankwright.tuning.strategies import CONTINUING, STRATEGIES, SearchTask, expected_trials
from rankwright.tuning.studies.store import Store
from rankwright.tuning.trials import Experiment, Record, Trial, TrialResult

log = logging.getLogger(__name__)

CODE_ENDINGS = (".py", ".so", ".pyd")
SECONDS_BETWEEN_LOOKS = 0.2  # at the store, while other processes work on the rest of a batch


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The state of a search or of a cross-validation after an experiment: what its listeners are called with.

    Attributes
    ----------
    done : int
        How many experiments are finished, those of an earlier run among them.
    asked : int
        How many experiments were asked for so far; a search may ask for more when it knows their results.
    record : Record
        The last experiment that was finished.
    total : int or None
        How many experiments there will be in all.
    metric : str or None
        The name of what `record.value` measures.
    best : float or None
        The best `record.value` so far, of this run.
    what : str
        What is being done, in a few words.
    """

    done: int
    asked: int
    record: Record
    total: int | None = None
    metric: str | None = None
    best: float | None = None
    what: str = "searching"


# Called after each experiment. One that returns True ends the search: the choice is among the trials finished by then.
StudyListener = Callable[[StudyProgress], bool | None]


def announce_study(progress: StudyProgress) -> None:
    """Tell how far a study is: a listener for whoever shows progress."""
    note = f"{progress.metric or 'last'} {progress.record.value:.4f}"
    if progress.best is not None:
        note += f", best {progress.best:.4f}"
    total = progress.asked if progress.total is None else max(progress.total, progress.asked)
    announce(progress.what, progress.done, total, unit="experiments", note=note, overall=True)


@dataclass(slots=True)
class SeveralStudies:
    """Listens to one study after another and tells how far they are together.

    `totals` is how many experiments each of them makes; `name` is what the current one is called.
    """

    totals: Sequence[int]
    listeners: Sequence[StudyListener]
    number: int = 0
    name: str = ""

    def begin_study(self, number: int, name: str) -> None:
        """Go on with the study of that number, from 0."""
        self.number, self.name = number, name
        announce(name, sum(self.totals[:number]), sum(self.totals), unit="experiments", overall=True)

    def hear(self, progress: StudyProgress) -> bool:
        """Tell the listeners; True where one of them ends the study."""
        before, total = sum(self.totals[: self.number]), sum(self.totals)
        done = before + min(progress.done, self.totals[self.number])
        of_all = replace(progress, done=done, asked=total, total=total, what=self.name)
        return any([listener(of_all) is True for listener in self.listeners])


@dataclass(slots=True)
class Study:
    """Runs the trials that a search asks for on an engine, and keeps their records in a store."""

    engine: Engine
    prepared: Prepared
    store: Store
    task: SearchTask
    n_folds: int
    listeners: Sequence[StudyListener] = ()
    stopped: bool = field(init=False, default=False)  # by a listener
    _best: float | None = field(init=False, default=None)
    _shared: Any = field(init=False, default=None)
    _done: int = field(init=False, default=0)
    _asked: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        others = sum(record.code != code_digest() for record in self.store.all_records())
        if others:
            log.warning("%d records of this study were made by another version of the code", others)

    def run(self) -> list[TrialResult]:
        """The results of every trial that the search asks for, in its order."""
        search = STRATEGIES[self.task.plan.strategy](self.task)
        results: list[TrialResult] = []
        try:
            batch = next(search)
            while True:
                found = self.run_trials(batch)
                results += found
                if self.stopped:
                    return results
                batch = search.send(found)
        except StopIteration:
            return results

    def run_trials(self, trials: Sequence[Trial]) -> list[TrialResult]:
        """The results of these trials; of those that are finished, where a listener ends the search."""
        of_trials = [trial.experiments(self.n_folds, self.task.plan.all_seeds) for trial in trials]
        # Experiments of a fold stand together, so that a worker need not fetch the documents of another.
        wanted = sorted((one for own in of_trials for one in own), key=lambda one: one.fold)
        self._asked += len(wanted)
        missing = self._missing(wanted)
        self._done += len(wanted) - len(missing)
        while missing and not self.stopped:
            self._run_missing(missing)
            missing = self._missing(missing)
            if missing and not self.stopped:
                time.sleep(SECONDS_BETWEEN_LOOKS)
        unfinished = {one.key for one in missing}
        return [
            TrialResult(trial, tuple(self._found(one) for one in own))
            for trial, own in zip(trials, of_trials, strict=True)
            if not any(one.key in unfinished for one in own)
        ]

    def _missing(self, experiments: Sequence[Experiment]) -> list[Experiment]:
        self.store.refresh()
        return [one for one in experiments if self.store.find(one) is None]

    def _found(self, experiment: Experiment) -> Record:
        record = self.store.find(experiment)
        assert record is not None
        return record

    def _run_missing(self, missing: Sequence[Experiment]) -> None:
        """Run the experiments that no other process works on."""
        given: list[Experiment] = []
        if self._shared is None:
            self._shared = self.prepared.shared_by(self.engine)
        own = self.prepared.without_documents()
        tasks = ((own, task) for task in self._claimed(missing, given))
        with closing(self.engine.run(run_shared_experiment, tasks, shared=self._shared)) as running:
            for done in running:
                experiment = given[done.number]
                record = record_of(experiment, done, self.prepared.digest)
                self.store.add(record, done.result.state)
                self.store.claims.give_back(experiment.key)
                self._done += 1
                self._tell(record)
                if self.stopped:
                    break
        if self.stopped:
            for experiment in given:  # those that were under way can be claimed again
                self.store.claims.give_back(experiment.key)

    def _tell(self, record: Record) -> None:
        better = max if self.task.higher_is_better else min
        known = [value for value in (self._best, record.value) if value is not None and not math.isnan(value)]
        self._best = better(known, default=None)
        total = n_experiments_of(self.task, self.n_folds)
        progress = StudyProgress(self._done, self._asked, record, total, self.task.plan.metric, self._best)
        for listener in self.listeners:
            if listener(progress) is True:
                self.stopped = True

    def _claimed(self, missing: Sequence[Experiment], given: list[Experiment]) -> Iterator[ExperimentTask]:
        """The tasks, each claimed only when a worker is free for it, so that other processes find something to do."""
        for experiment in missing:
            if not self.store.claims.take(experiment.key):
                continue
            self.store.refresh()  # another process may have finished it before it was claimed here
            if self.store.find(experiment) is not None:
                self.store.claims.give_back(experiment.key)
                continue
            given.append(experiment)
            state, steps = self.store.earlier(experiment)
            yield ExperimentTask(experiment, state, steps, keeps_state=self.task.plan.strategy in CONTINUING)


def n_experiments_of(task: SearchTask, n_folds: int) -> int:
    """How many experiments a search makes in all; 0 where its strategy cannot follow the plan."""
    return expected_trials(task) * n_folds * task.plan.seeds


def record_of(experiment: Experiment, done: Done, data: str) -> Record:
    """What is kept of a finished experiment."""
    outcome: Outcome = done.result
    found = {one.name: getattr(outcome, one.name) for one in fields(outcome) if one.name != "state"}
    return Record(**asdict(experiment), **found, data=data, code=code_digest(), seconds=done.seconds, host=done.host)


@cache
def code_digest() -> str:
    """The fingerprint of every file of code in the package, by which a record says which code made it."""
    digest = xxhash.xxh3_128()
    folder = Path(rankwright.__file__).parent
    for path in sorted(path for path in folder.rglob("*") if path.suffix in CODE_ENDINGS):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
