"""What a target is: a format that an engine reads, how it is written, and how its scores are had."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.errors import RankwrightError
from rankwright.exchange.subject import ForestSubject, NotExportableError, Subject

Missing = Literal["kept", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportOptions:
    """What the user decides.

    `missing` is `never` where documents never lack a value: targets without a side for missing values can then be had.
    """

    name: str = "model"
    missing: Missing = "kept"


@dataclass(frozen=True, slots=True)
class Limit:
    """Documents that a target cannot score as we do: what they are, and which rows of a matrix they are."""

    text: str
    rows: Callable[[Float32Array], Any]  # of bool


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
    """A program that is at hand and reads the file otherwise than the target does; the message says what."""


@dataclass(frozen=True, slots=True)
class TargetRun:
    """Scores of the target itself, and by what they were computed."""

    scores: Any
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """An engine's format. `runners` are tried in turn: each scores rows with the written file, or is not at hand."""

    name: str
    suffix: str
    summary: str
    takes: tuple[str, ...]  # of forest, linear, net
    write: Callable[[Subject, ExportOptions], Written]
    runners: Sequence[Callable[[Path, Float32Array, Sequence[str]], TargetRun]]
    sums: str = "float32"  # in what the target adds up
    nearest: str = "onnx or c"  # what to take instead where this target cannot
    feature_set: Callable[[Subject, ExportOptions], dict[str, bytes]] | None = field(default=None)


def as_forest(subject: Subject, target: str) -> ForestSubject:
    """The subject, which must be a forest."""
    if not isinstance(subject, ForestSubject):
        raise NotExportableError(f"{target} holds trees, and this is a {subject.kind}: onnx, c and solr hold nets")
    return subject


def in_features(features: Sequence[int], found: Callable[[Float32Array], Any]) -> Callable[[Float32Array], Any]:
    """Which rows have a value that `found` finds in one of the features."""
    columns = np.unique(np.asarray(features, np.int64))
    return lambda rows: found(rows[:, columns]).any(axis=1)
