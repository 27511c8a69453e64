"""Trials: configurations with a budget, each with one experiment for each fold and seed, and which trials are best.

A configuration is a value for each setting of a space, as JSON can hold them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import xxhash

from rankwright.arrays import Float64Array
from rankwright.container.checks import read_any_field, read_field, read_integer, read_number, read_number_list
from rankwright.settings.spaces import Choice, Dimension, Real, Space, Whole

Configuration = dict[str, Any]


def plain(value: Any) -> Any:
    """`value` as it comes back from JSON, so that what is stored is what was trained with."""
    return json.loads(json.dumps(value))


def canonical(value: Any) -> str:
    """The value as JSON text that does not depend on the order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def place(space: Space, configuration: Mapping[str, Any]) -> tuple[float, ...]:
    """The place of each value in its list, or in a range the value itself; smaller numbers count as simpler."""
    return tuple(place_of(dimension, configuration[name]) for name, dimension in space.items())


def place_of(dimension: Dimension, value: Any) -> float:
    """The place of a value in its list; in a range, the value itself."""
    if isinstance(dimension, Choice):
        return float([plain(one) for one in dimension.values].index(plain(value)))
    return float(value)


def describe(space: Space) -> dict[str, Any]:
    """The space in types JSON can hold."""
    return {
        name: plain(dimension.values)
        if isinstance(dimension, Choice)
        else {"kind": "whole" if isinstance(dimension, Whole) else "real"} | asdict(dimension)
        for name, dimension in space.items()
    }


def described_space(described: Mapping[str, Any]) -> Space:
    """The space that `describe` described."""
    kinds: dict[str, type[Whole] | type[Real]] = {"whole": Whole, "real": Real}
    return {
        name: Choice(tuple(one))
        if isinstance(one, list)
        else kinds[one["kind"]](one["low"], one["high"], log=one["log"])
        for name, one in described.items()
    }


def limit_of(budget: int | None) -> float:
    """A budget as a number that can be compared: without one there is no limit."""
    return math.inf if budget is None else budget


@dataclass(frozen=True, slots=True)
class Trial:
    """A configuration, and how many steps it may take; None means the ranker's own setting."""

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
        """A text that is different for each experiment of a study."""
        return xxhash.xxh3_128(canonical(asdict(self)).encode()).hexdigest()

    @property
    def course(self) -> str:
        """A text that is the same for all budgets: a larger budget continues where a smaller one ended."""
        return xxhash.xxh3_128(canonical(asdict(self) | {"budget": None}).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Record:
    """The result of an experiment.

    `value` is the mean of the study's metric over the measured queries; `per_query` has each metric's value of each of
    them (None where the query does not count). `steps` is how many steps were taken in all, `new_steps` how many of
    them in this experiment and not by a smaller budget before; the model keeps `kept` of them. `finished` says that a
    larger budget would change nothing. Seconds, memory and host may differ from run to run; all else is the same.
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

    @classmethod
    def from_dict(cls, read: Mapping[str, Any]) -> Record:
        """The record that a line of a study's file holds."""
        steps = read_integer(read, "steps")
        value = read_any_field(read, "value")
        return cls(
            settings=read_field(read, "settings", dict),
            fold=read_integer(read, "fold"),
            seed=read_field(read, "seed", int),
            budget=None if read_any_field(read, "budget") is None else read_integer(read, "budget"),
            value=value if isinstance(value, float) and math.isnan(value) else read_number(read, "value"),
            per_query=_values_by_query(read_field(read, "per_query", dict)),
            steps=steps,
            new_steps=read_integer(read, "new_steps"),
            kept=read_integer(read, "kept", most=max(1, steps)),  # rankers of one step count none, and keep it
            size=read_integer(read, "size"),
            finished=read_field(read, "finished", bool),
            data=read_field(read, "data", str),
            code=read_field(read, "code", str),
            seconds=read_number(read, "seconds"),
            memory_mb=read_number(read, "memory_mb"),
            host=read_field(read, "host", str),
        )

    @property
    def experiment(self) -> Experiment:
        """The experiment that this is the result of."""
        return Experiment(self.settings, self.fold, self.seed, self.budget)

    def lasting(self) -> dict[str, Any]:
        """The record without what may differ from run to run."""
        return {name: value for name, value in asdict(self).items() if name not in PASSING}


def _values_by_query(read: Mapping[str, Any]) -> dict[str, list[float | None]]:
    found = {}
    for name in read:
        values = read_field(read, name, list)
        known_ones = iter(read_number_list({name: [value for value in values if value is not None]}, name))
        found[name] = [None if value is None else next(known_ones) for value in values]
    return found


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
    def mean_steps(self) -> float:
        """How many steps the models have on average."""
        return float(np.mean([record.kept for record in self.records]))

    def to_dict(self) -> dict[str, Any]:
        """The result as a dictionary for JSON."""
        return {
            "settings": self.trial.settings,
            "budget": self.trial.budget,
            "value": self.value,
            "deviation": float(np.std([record.value for record in self.records])),
            "steps": self.mean_steps,
            "size": self.size,
            "experiments": len(self.records),
        }


def ranked(results: Sequence[TrialResult], space: Space, *, higher_is_better: bool) -> list[TrialResult]:
    """The trials, best first.

    Ties go to the smaller models, by leaves or weights; then to the settings that come earlier in the lists of the
    space, setting after setting, or are smaller; then to the trial that was made first.
    """
    sign = -1.0 if higher_is_better else 1.0

    def order(result: TrialResult) -> tuple[float, float, tuple[float, ...]]:
        value = math.inf if math.isnan(result.value) else sign * result.value
        return value, result.size, place(space, result.trial.settings)

    return sorted(results, key=order)


def steps_taken(trials: Sequence[TrialResult]) -> int:
    """How many steps these trials took together, none counted twice."""
    of_courses: dict[str, int] = {}
    for trial in trials:
        for record in trial.records:
            course = record.experiment.course
            of_courses[course] = max(of_courses.get(course, 0), record.steps)
    return sum(of_courses.values())


def none_if_nan(value: float) -> float | None:
    """The value, as JSON can hold it."""
    return None if math.isnan(value) else value


def for_json(values: Float64Array) -> list[float | None]:
    """The values, as JSON can hold them."""
    return [none_if_nan(value) for value in values.tolist()]


def from_json(values: Sequence[float | None]) -> Float64Array:
    """The values that `for_json` made ready for JSON."""
    return np.array([math.nan if value is None else value for value in values], np.float64)
