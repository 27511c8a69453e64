"""The search: candidates are measured on one fold, the better half of them on all others, within a budget.

With a number of trials, what is tried and chosen depends on data and seed alone. With a budget of time, trials are
begun as long as they, and training the best of those so far on all queries, are expected to fit into what is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.auto.candidates import BLMART, LAMBDAMART, AutoLesson, TrialCandidate, candidates
from rankwright.auto.selection import HeldOut, Members
from rankwright.auto.trial_runs import TrialOutcome, TrialStore, TrialTask, make_trial
from rankwright.blending.weights import worths
from rankwright.cluster.engine import Engine
from rankwright.data.dataset import RankingDataset
from rankwright.progress.stages import announce

AT_A_TIME = 8  # candidates that are compared on the first fold before half of them go on
MOST_TRIED = 200
BASELINE = TrialCandidate(BLMART, {})  # what the choice is compared with
ALWAYS = (TrialCandidate(LAMBDAMART, {}).key, BASELINE.key)  # which are measured on all folds in any case
LEAST_LEFT, FOR_CHOOSING = 0.02, 0.5  # of the budget, and seconds: with less left no trial is begun


@dataclass(slots=True, eq=False)
class Purse:
    """Processor seconds to spend; None where trials are counted instead."""

    seconds: float | None
    elsewhere: bool = True  # whether trials run in other processes, whose time is not that of this one
    spent: float = 0.0
    running: float = 0.0  # what trials under way are expected to take
    began: float = field(default_factory=time.process_time)

    @property
    def left(self) -> float:
        """What is left of it; the time of this process counts."""
        if self.seconds is None:
            return np.inf
        return self.seconds - self.spent - self.running - (time.process_time() - self.began)

    def pay(self, seconds: float) -> None:
        """Count what a trial took, unless this process's own time tells it."""
        self.spent += seconds if self.elsewhere else 0.0

    @property
    def is_empty(self) -> bool:
        """Whether nothing more should be begun."""
        return self.seconds is not None and self.left < max(LEAST_LEFT * self.seconds, FOR_CHOOSING)


@dataclass(slots=True, eq=False)
class AutoSearch:
    """A search under way: what was tried, and what it found."""

    lesson: AutoLesson
    engine: Engine
    store: TrialStore
    purse: Purse
    trials: int | None
    threads: int
    tried: list[TrialCandidate] = field(default_factory=list)
    given_up: list[TrialCandidate] = field(default_factory=list)
    interrupted: bool = False
    _shared: Any = None

    @property
    def n_folds(self) -> int:
        """How many folds there are."""
        return len(self.lesson.tests)

    def run(self) -> None:
        """Try candidates until trials or time are used up; Ctrl-C ends the search, and what is finished counts."""
        try:
            every = candidates(self.lesson.data, self.lesson.seed)
            n_left = MOST_TRIED if self.trials is None else self.trials
            while n_left > 0 and not self.purse.is_empty:
                batch = list(islice(every, min(AT_A_TIME, n_left)))
                if not batch:
                    break
                n_left -= len(batch)
                self._race(batch)
        except KeyboardInterrupt:
            self.interrupted = True

    def _race(self, batch: Sequence[TrialCandidate]) -> None:
        self.tried += batch
        self.make([TrialTask(one, 0) for one in batch])
        found = {one.key: self.value(one, [0]) for one in self.tried if self.has(one, [0])}
        ordered = sorted((one for one in batch if one.key in found), key=lambda one: -found[one.key])
        # Half of all that were tried so far go on, so that later ones must be as good as the better half of earlier.
        bar = np.median(list(found.values())) if found else 0.0
        best_of_kinds = {one.family: one.key for one in sorted(self.tried, key=lambda one: found.get(one.key, -np.inf))}
        always = (*ALWAYS, *best_of_kinds.values())  # blends are of different kinds
        kept = [one for one in ordered if found[one.key] >= bar or one.key in always]
        self.make([TrialTask(one, fold) for one in kept for fold in range(1, self.n_folds)])

    def make(self, tasks: Sequence[TrialTask]) -> None:
        """Make the trials that are not in the store, as far as there is time."""
        missing = [task for task in tasks if self.store.lookup(task) is None]
        if not missing:
            return
        if self._shared is None:
            self._shared = self.engine.share(self.lesson)
        given: list[tuple[TrialTask, float]] = []
        run = self.engine.run(make_trial, self._affordable(missing, given), shared=self._shared)
        with closing(run) as running:
            for done in running:
                task, expected = given[done.number]
                self.purse.running -= expected
                if isinstance(done.result, TrialOutcome):
                    self.purse.pay(done.result.seconds)
                    self.store.add(task, done.result)
                else:
                    self.purse.pay(done.result)
                    self.given_up.append(task.candidate)
                self._announce(task)

    def _affordable(self, tasks: Sequence[TrialTask], given: list[tuple[TrialTask, float]]) -> Iterator[TrialTask]:
        for task in tasks:
            expected, left = self.expected(task), self.purse.left - self._held(task)
            if self.purse.is_empty or expected * self._n_further(task) > left or task.candidate in self.given_up:
                self.given_up.append(task.candidate)
                continue
            limited = task if self.purse.seconds is None else task._replace(most_seconds=self._most(task, left))
            given.append((task, expected))
            self.purse.running += expected
            yield limited

    def _held(self, task: TrialTask) -> float:
        """The seconds that a trial must leave for what has to come after it."""
        if task.on_half or self.has(task.candidate, range(self.n_folds)):
            return self.reserve()
        if task.fold:
            return self.reserve() + self.refit_seconds(task.candidate)
        return self.reserve() + self.completion() if self.expected(task) else self.reserve()

    @property
    def _whole(self) -> float:
        """All folds and the training on all queries, in trials: what there is no time to finish is no use."""
        return self.n_folds + self.n_folds / (self.n_folds - 1)

    def _n_further(self, task: TrialTask) -> float:
        """How many trials a candidate still takes from this one on."""
        if task.fold == 0 and not task.on_half:
            return self._whole
        return sum(not self.has(task.candidate, [fold], task.on_half) for fold in range(task.fold, self.n_folds))

    def _most(self, task: TrialTask, left: float) -> float:
        """After so many seconds a trial is given up. Where nothing else is measured, one fold must do."""
        if task.fold or task.on_half:
            return left
        return left / (self._whole if any(self.has(one, [0]) for one in self.tried) else self._whole - self.n_folds + 1)

    def completion(self) -> float:
        """What it takes to measure the best of each kind on all folds and to train it on all queries, of those kinds
        that there is time for: without that there is neither a blend nor an estimate."""
        left, taken, kinds = self.purse.left - self.reserve(), 0.0, set[str]()
        begun = [one for one in self.tried if self.has(one, [0])]
        for one in sorted(begun, key=lambda one: -self.value(one, [0])):
            seconds = self.mean_of(one, "seconds") * (self.n_folds - 1) + self.refit_seconds(one)
            if one.family not in kinds and not self.has(one, range(self.n_folds)) and taken + seconds <= left:
                taken += seconds
            kinds.add(one.family)
        return taken

    def expected(self, task: TrialTask) -> float:
        """What a trial is expected to take: as its candidate took before, or its family; nothing where all is new."""
        own = self._outcomes(task.candidate)
        of_family = [
            self.store.found[(one.key, 0, False)].seconds
            for one in self.tried
            if one.family == task.candidate.family and (one.key, 0, False) in self.store.found
        ]
        seconds = [one.seconds for one in own] or of_family
        return float(np.mean(seconds)) * (0.6 if task.on_half else 1.0) if seconds else 0.0

    def reserve(self) -> float:
        """What training the best of each kind on all queries takes, of those that were measured on all folds; where
        there are none yet, the quickest of the others."""
        best: dict[str, tuple[float, float]] = {}
        for one in self.finished():
            found = self.value(one, [0]), self.refit_seconds(one)
            best[one.family] = max(best.get(one.family, (-np.inf, 0.0)), found)
        if best:
            return sum(seconds for _, seconds in best.values())
        return min((self.refit_seconds(one) for one in self.tried if self.has(one, [0])), default=0.0)

    def refit_seconds(self, candidate: TrialCandidate) -> float:
        """What training a candidate on all queries takes."""
        return self.mean_of(candidate, "seconds") * self.n_folds / (self.n_folds - 1)

    def has(self, candidate: TrialCandidate, folds: Sequence[int], on_half: bool = False) -> bool:
        """Whether the candidate was measured on these folds."""
        return all((candidate.key, fold, on_half) in self.store.found for fold in folds)

    def value(self, candidate: TrialCandidate, folds: Sequence[int]) -> float:
        """The candidate's mean over the queries of these folds."""
        values = np.concatenate([self._worths(candidate, fold) for fold in folds])
        return float(np.nanmean(values)) if not np.isnan(values).all() else 0.0

    def _worths(self, candidate: TrialCandidate, fold: int) -> Float64Array:
        data = self.lesson.data.take_queries(self.lesson.tests[fold])
        scores = self.store.found[(candidate.key, fold, False)].scores
        return worths(scores, data, self.lesson.metric, threads=self.threads)

    def finished(self) -> list[TrialCandidate]:
        """The candidates that were measured on all folds."""
        return [one for one in self.tried if self.has(one, range(self.n_folds))]

    def matrix(self, chosen: Sequence[TrialCandidate], *, on_half: bool = False) -> Float64Array:
        """The scores of all documents by these candidates, a column each."""
        groups = self.lesson.data.groups
        found = np.empty((groups.n_docs, len(chosen)), order="F")
        for place, one in enumerate(chosen):
            for fold, test in enumerate(self.lesson.tests):
                found[groups.rows_of(test), place] = self.store.found[(one.key, fold, on_half)].scores
        return found

    def held_out(self, chosen: Sequence[TrialCandidate], allowed: Callable[[Members], bool], **how: Any) -> HeldOut:
        """The scores of these candidates, to choose by."""
        families, data = [one.family for one in chosen], self.lesson.data
        safest = next((place for place, one in enumerate(chosen) if one.key == BASELINE.key), None)
        return HeldOut(data, self.matrix(chosen, **how), families, self.lesson.metric, self.threads, allowed, safest)

    def mean_of(self, candidate: TrialCandidate, what: str) -> float:
        """The mean of seconds, visits or bytes over the trials of a candidate."""
        trials = self._outcomes(candidate)
        return float(np.mean([getattr(one, what) for one in trials])) if trials else 0.0

    def _outcomes(self, candidate: TrialCandidate) -> list[TrialOutcome]:
        """The outcomes of a candidate's trials, without those on half of the queries."""
        return [one for (key, _, half), one in self.store.found.items() if key == candidate.key and not half]

    def _announce(self, task: TrialTask) -> None:
        finished = [one for one in self.tried if self.has(one, [0])]
        if task.on_half:
            announce(f"measuring the learning curve: {task.candidate.name}, fold {task.fold + 1}")
            return
        best = max(finished, key=lambda one: self.value(one, [0]), default=None)
        note = "" if best is None else f"best so far {best.name} {self.value(best, [0]):.4f}"
        if self.purse.seconds is None:
            announce("searching", len(self.store.found), (self.trials or 0) * self.n_folds, unit="trials", note=note)
        else:
            done = min(self.purse.spent, self.purse.seconds)
            announce("searching", round(done), round(self.purse.seconds), unit="seconds", note=note)


def folds_of(data: RankingDataset, n_folds: int | None, seed: int) -> tuple[Any, ...]:
    """The queries of each fold."""
    from rankwright.data.splits import k_fold

    wanted = n_folds or (5 if data.n_docs <= LITTLE else 3)
    rng = np.random.default_rng([seed, 0x666F])
    return tuple(fold.test for fold in k_fold(data.groups, min(wanted, data.n_queries), seed=rng))


LITTLE = 20_000  # documents, of which five folds are not too much to try
