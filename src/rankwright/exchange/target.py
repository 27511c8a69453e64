"""What a target is: a format that an engine reads, how it is written, and how its scores are had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.arrays import Float32Array
from rankwright.errors import RankwrightError
from rankwright.exchange.subject import Subject

Missing = Literal["kept", "never"]
RowTest = Callable[[Float32Array], Any]  # of the rows of a matrix, or of its values: for which of them something holds


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What the user decides.

    `missing` is `never` where documents never lack a value: targets without a side for missing values can then be had.
    """

    name: str = "model"
    missing: Missing = "kept"


@dataclass(frozen=True, slots=True)
class Limit:
    """Documents that a target cannot score as we do: what they are, and a test that finds their rows in a matrix."""

    text: str
    rows: RowTest


@dataclass(frozen=True, slots=True)
class Written:
    """What a writer made: files by name, the model's first; what is good to know; which documents are out of reach.

    The target's scores are ours plus `offset`.
    """

    files: dict[str, bytes]
    notes: Sequence[str] = ()
    limits: Sequence[Limit] = ()
    offset: float = 0.0


class NotRunError(RankwrightError):
    """A program is installed, but it reads the file differently from the target; the message says how."""


@dataclass(frozen=True, slots=True)
class TargetRun:
    """The scores that a target gives, and what computed them."""

    scores: NDArray[np.floating]
    by: str


Runner = Callable[[Path, Float32Array, Sequence[str]], TargetRun]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An engine's format. `runners` are tried in turn: each scores rows with the written file, or is not at hand."""

    name: str
    suffix: str
    summary: str
    write: Callable[[Subject, ExportOptions], Written]
    runners: Sequence[Runner]
    takes: tuple[str, ...] = ("forest",)  # of forest, linear, net, blend
    sums: str = "float32"  # in what the target adds up
    # A skeleton, whose queries are to be filled in.
    feature_set: Callable[[Subject, ExportOptions], bytes] | None = None
    feature_set_ending: str = ".featureset.json"


def in_features(features: ArrayLike, is_odd: RowTest) -> RowTest:
    """Which rows have a value for which `is_odd` holds in one of the features."""
    columns = np.unique(np.asarray(features, np.int64))
    return lambda rows: is_odd(rows[:, columns]).any(axis=1)


def any_infinite(who: str) -> Limit:
    """The limit of a target, or of what runs it, that takes no infinite values."""
    return Limit(f"infinite values, which {who} refuses", lambda rows: np.isinf(rows).any(axis=1))


def any_missing(why: str) -> Limit:
    """The limit of a target that has no missing values."""
    return Limit(f"missing values, which {why}", lambda rows: np.isnan(rows).any(axis=1))


def by_rule(score: Callable[..., NDArray[np.floating]], *, takes_names: bool = False) -> Runner:
    """A runner that scores by the engine's rules, for engines that are not run here."""

    def run(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:
        more = (names,) if takes_names else ()
        return TargetRun(score(path.read_bytes(), features, *more), "by rule, not run")

    return run
