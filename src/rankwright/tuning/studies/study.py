"""A study: trials run by an engine, kept in a store.

A search that is started again asks for the same trials, and finds in the store what is done already. This is how a
killed search goes on, and how several processes share a study.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import xxhash

import rankwright
from rankwright.cluster.engine import Done, Engine
from rankwright.tuning.experiment import ExperimentTask, Outcome, run_experiment
from rankwright.tuning.preparation import Prepared
from rankwright.tuning.strategies.plan import Search
from rankwright.tuning.studies.store import Store
from rankwright.tuning.trials import Experiment, Record, Trial, TrialResult

log = logging.getLogger(__name__)

CODE_ENDINGS = (".py", ".so", ".pyd")
SECONDS_BETWEEN_LOOKS = 0.2  # while other processes work on the rest of a batch


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """The state of a study after an experiment, for progress bars."""

    done: int  # experiments of the trials asked for so far
    asked: int
    record: Record


StudyListener = Callable[[StudyProgress], None]


@dataclass(slots=True)
class Study:
    """Runs trials on an engine and keeps their records in a store."""

    engine: Engine
    prepared: Prepared
    store: Store
    n_folds: int
    seeds: tuple[int, ...]
    listeners: Sequence[StudyListener] = ()
    _shared: Any = field(init=False, default=None)
    _done: int = field(init=False, default=0)
    _asked: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        others = sum(record.code != code_digest() for record in self.store.all_records())
        if others:
            log.warning("%d records of this study were made by another version of the code", others)

    def run(self, search: Search, *, continued: bool = False) -> list[TrialResult]:
        """The results of every trial that the search asks for, in its order.

        `continued` keeps the state of each trial, so that the search can continue it with a larger budget.
        """
        results: list[TrialResult] = []
        try:
            batch = next(search)
            while True:
                found = self.run_trials(batch, keeps_states=continued)
                results += found
                batch = search.send(found)
        except StopIteration:
            return results

    def run_trials(self, trials: Sequence[Trial], *, keeps_states: bool = False) -> list[TrialResult]:
        """The results of these trials."""
        of_trials = [trial.experiments(self.n_folds, self.seeds) for trial in trials]
        # Those of a fold together: a worker that has its documents at hand need not fetch others.
        wanted = sorted((one for own in of_trials for one in own), key=lambda one: one.fold)
        self._asked += len(wanted)
        missing = self._missing(wanted)
        self._done += len(wanted) - len(missing)
        while missing:
            self._run_missing(missing, keeps_states)
            missing = self._missing(missing)
            if missing:
                time.sleep(SECONDS_BETWEEN_LOOKS)
        return [
            TrialResult(trial, tuple(self._found(one) for one in own))
            for trial, own in zip(trials, of_trials, strict=True)
        ]

    def _missing(self, experiments: Sequence[Experiment]) -> list[Experiment]:
        self.store.refresh()
        return [one for one in experiments if self.store.find(one) is None]

    def _found(self, experiment: Experiment) -> Record:
        record = self.store.find(experiment)
        assert record is not None
        return record

    def _run_missing(self, missing: Sequence[Experiment], keeps_states: bool) -> None:
        """Run the experiments that no other process works on."""
        given: list[Experiment] = []
        if self._shared is None:
            self._shared = self.engine.share(self.prepared)
        for done in self.engine.run(run_experiment, self._claimed(missing, given, keeps_states), shared=self._shared):
            experiment = given[done.number]
            record = record_of(experiment, done, self.prepared.digest)
            self.store.add(record, done.result.state)
            self.store.claims.give_back(experiment.key)
            self._done += 1
            for listener in self.listeners:
                listener(StudyProgress(self._done, self._asked, record))

    def _claimed(
        self, missing: Sequence[Experiment], given: list[Experiment], keeps_states: bool
    ) -> Iterator[ExperimentTask]:
        """Tasks. Each is claimed only when a worker is free for it, so that other processes find something to do."""
        for experiment in missing:
            if not self.store.claims.take(experiment.key):
                continue
            self.store.refresh()  # it may have been finished between our look and our claim
            if self.store.find(experiment) is not None:
                self.store.claims.give_back(experiment.key)
                continue
            given.append(experiment)
            state, steps = self.store.earlier(experiment)
            yield ExperimentTask(experiment, state, steps, keeps_states)


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
