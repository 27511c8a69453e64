"""What is mutated, and what must hold of every mutant."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from rankwright.errors import RankwrightError

Result = TypeVar("Result")


class Finding(AssertionError):
    """Something that no file may bring about."""


class Refused(Exception):  # no error of the code under test
    """The library said in one line what is wrong with a file."""


class Subject(Protocol):
    """A kind of file, or of folder."""

    def prepare(self, seeds: Path) -> None:
        """Write seed files, unless they are there."""

    def warm_up(self, seeds: Path) -> None:
        """Use the seeds as they are: libraries are loaded, and each must be accepted."""

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        """Write a mutant to `target`, which is a file or a folder."""

    def judge(self, target: Path) -> None:
        """Use the mutant as users do. Raises `Refused`, `Finding`, or whatever else the library let through."""


def generator(seed: int, number: int) -> np.random.Generator:
    """What mutant `number` is drawn from."""
    return np.random.default_rng([seed, number])


def refusing(action: Callable[[], Result], name: str) -> Result:
    """What the action gives; `Refused` where it raises one line of ours that names the file."""
    try:
        with quiet():
            return action()
    except RankwrightError as error:
        told = str(error)
        if "\n" in told or name not in told:
            raise Finding(f"the message is not one line that names {name}: {told!r}") from error
        raise Refused(told) from error


@contextmanager
def quiet() -> Iterator[None]:
    """Arithmetic on odd numbers warns, which is no fault of a file's reader."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def require(holds: bool, problem: str) -> None:
    if not holds:
        raise Finding(problem)
