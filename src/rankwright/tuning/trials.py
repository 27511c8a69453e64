"""What is tried: a trial is a configuration at a budget, and is made of experiments, one a fold and seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import xxhash

from rankwright.tuning.configurations import Configuration, canonical


def limit_of(budget: int | None) -> float:
    """A budget as a number that can be compared: without one there is no limit."""
    return math.inf if budget is None else budget


@dataclass(frozen=True, slots=True)
class Trial:
    """A configuration, and how many steps it may take; None leaves that to the ranker's own setting."""

    settings: Configuration
    budget: int | None = None

    @property
    def limit(self) -> float:
        """The budget as a number that can be compared."""
        return limit_of(self.budget)

    def experiments(self, n_folds: int, seeds: Sequence[int]) -> list[Experiment]:
        """The experiments of the trial."""
        return [Experiment(self.settings, fold, seed, self.budget) for fold in range(n_folds) for seed in seeds]


@dataclass(frozen=True, slots=True)
class Experiment:
    """One training: a configuration on a fold with a seed, up to a budget of steps."""

    settings: Configuration
    fold: int
    seed: int
    budget: int | None = None

    @property
    def key(self) -> str:
        """What tells this experiment from others of its study."""
        return xxhash.xxh3_128(canonical(asdict(self)).encode()).hexdigest()

    @property
    def course(self) -> str:
        """What tells it from others but for the budget: a larger one goes on where a smaller one ended."""
        return xxhash.xxh3_128(canonical(asdict(self) | {"budget": None}).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """What came of an experiment.

    `value` is the study's metric on the measured queries, `per_query` each metric's value of each of them (None where
    the query does not count). `steps` were taken in all, `new_steps` of them here, the rest by an earlier budget that
    was continued; the model has `kept` of them. `finished` says that a larger budget would change nothing. Seconds,
    memory and host are how it went, and all else is the same whenever and wherever it is run.
    """

    settings: Configuration
    fold: int
    seed: int
    budget: int | None
    value: float
    per_query: Mapping[str, Sequence[float | None]]
    steps: int
    new_steps: int
    kept: int
    size: int
    finished: bool
    data: str
    code: str
    seconds: float
    memory_mb: float
    host: str

    @property
    def experiment(self) -> Experiment:
        """What was done."""
        return Experiment(self.settings, self.fold, self.seed, self.budget)

    def lasting(self) -> dict[str, Any]:
        """All but how it went: what two runs of the same experiment have in common."""
        return {name: value for name, value in asdict(self).items() if name not in PASSING}


PASSING = ("seconds", "memory_mb", "host")


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A trial and the records of its experiments."""

    trial: Trial
    records: tuple[Record, ...]

    @property
    def value(self) -> float:
        """The mean over folds and seeds."""
        return float(np.mean([record.value for record in self.records]))

    @property
    def size(self) -> float:
        """How large the models are: their leaves or weights, on average."""
        return float(np.mean([record.size for record in self.records]))

    @property
    def kept(self) -> float:
        """How many steps the models have on average."""
        return float(np.mean([record.kept for record in self.records]))

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON has it."""
        return {
            "settings": self.trial.settings,
            "budget": self.trial.budget,
            "value": self.value,
            "deviation": float(np.std([record.value for record in self.records])),
            "steps": self.kept,
            "size": self.size,
            "experiments": len(self.records),
        }


def steps_taken(trials: Sequence[TrialResult]) -> int:
    """The steps that these trials took together, none counted twice: the work of a search that had to do it all."""
    of_courses: dict[str, int] = {}
    for trial in trials:
        for record in trial.records:
            course = record.experiment.course
            of_courses[course] = max(of_courses.get(course, 0), record.steps)
    return sum(of_courses.values())
