"""Where to look for the value of a setting: what a ranker declares next to its settings and a search draws from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankwright.errors import require


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some values, the simplest first: where two do equally well, the earlier one is taken."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        require(len(self.values) > 0, "a choice needs at least one value")


@dataclass(frozen=True, slots=True)
class Real:
    """A number between two ends; with `log`, as likely between 1 and 10 as between 10 and 100."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        _check_ends(self.low, self.high, self.log)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number between two ends, both included."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        _check_ends(self.low, self.high, self.log)


Dimension = Choice | Real | Whole
Space = Mapping[str, Dimension]


def _check_ends(low: float, high: float, log: bool) -> None:
    require(low < high, f"the lower end must lie below the upper one, got {low} and {high}")
    require(low > 0 or not log, f"a logarithmic scale needs a lower end above 0, got {low}")
