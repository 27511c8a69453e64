"""Proof that a target scores as we do.

Two things are looked at. Leaves: the forest is written once more with whole numbers in its leaves, so small that any
sum of them is exact in float32; the target must then give our sums exactly, or some document went to a wrong leaf.
Scores: with the real leaves, no score may lie further from ours than the rounding of sums allows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array
from rankwright.container.checks import as_one_line
from rankwright.errors import InputError, MissingExtraError, RankwrightError
from rankwright.exchange.bounds import UNIT, bound_of
from rankwright.exchange.subject import ForestSubject, Subject
from rankwright.exchange.target import ExportOptions, NotRunError, Runner, Target, TargetRun, Written
from rankwright.tables.text import counted

EXACT = 2**24  # whole numbers below it are exact in float32


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of running a target.

    Attributes
    ----------
    by : str
        What computed the scores: a library with its version, or `by rule, not run`.
    documents : int
        How many documents were scored.
    left_out : int
        How many were not, because they are beyond the target's limits.
    wrong_leaves : int or None
        How many documents reached another leaf in some tree; None where there are no trees.
    beyond_bound : int
        How many scores lie further from ours than rounding allows.
    largest_difference, bound : float
        The largest difference of a score from ours, and the most that rounding allows any of them.
    swapped : int
        How many pairs of neighbours in our order the target has the other way round: closer than rounding tells apart.
    """

    by: str
    documents: int
    left_out: int
    wrong_leaves: int | None
    beyond_bound: int
    largest_difference: float
    bound: float
    swapped: int

    @property
    def passed(self) -> bool:
        """Whether every document is scored as we do."""
        return not self.wrong_leaves and self.beyond_bound == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as a dictionary for JSON.

        Returns
        -------
        dict
            Its attributes by name, and `passed`.
        """
        return {"passed": self.passed} | asdict(self)

    def __str__(self) -> str:
        leaves = "" if self.wrong_leaves is None else f"{self.wrong_leaves} in a wrong leaf, "
        documents = counted(self.documents, "document")
        return (
            f"{'ok' if self.passed else 'FAILED'} ({self.by}): {documents}, {leaves}largest difference "
            f"{self.largest_difference:.3g}, bound {self.bound:.3g}"
        )


def verify(
    target: Target, subject: Subject, options: ExportOptions, written: Written, rows: Float32Array
) -> tuple[list[Verdict], list[str]]:
    """The verdicts of all runners that are at hand, and what was said by those that are not."""
    verdicts, absent = [], []
    outside = beyond_limits(written, rows)
    inside = np.ascontiguousarray(rows[~outside])
    for runner in target.runners:
        try:
            verdicts.append(_judged(runner, target, subject, options, written, inside, int(outside.sum())))
        except (MissingExtraError, NotRunError) as error:
            absent.append(str(error))
    return verdicts, absent


def beyond_limits(written: Written, rows: Float32Array) -> BoolArray:
    """Which documents the target cannot score as we do."""
    outside = np.zeros(len(rows), np.bool_)
    for limit in written.limits:
        outside |= limit.rows(rows)
    return outside


def _judged(
    runner: Runner,
    target: Target,
    subject: Subject,
    options: ExportOptions,
    written: Written,
    rows: Float32Array,
    left_out: int,
) -> Verdict:
    run = _scored(runner, target, options, written, rows, subject)
    ours = subject.scores(rows) + written.offset
    theirs = np.asarray(run.scores, np.float64)
    difference = np.abs(theirs - ours)
    bound = bound_of(subject, rows, target.sums)
    bound = bound + 4 * UNIT * abs(written.offset)  # the target's scores are rounded without it
    wrong = None
    if isinstance(subject, ForestSubject):
        marked = _marked(subject)
        again = target.write(marked, options)
        probe = _scored(runner, target, options, again, rows, marked)
        wrong = int((np.asarray(probe.scores, np.float64) != marked.scores(rows)).sum())
    order = np.argsort(ours, kind="stable")
    return Verdict(
        by=run.by,
        documents=len(rows),
        left_out=left_out,
        wrong_leaves=wrong,
        beyond_bound=int((~(difference <= bound)).sum()),
        largest_difference=float(difference.max(initial=0.0)),
        bound=float(bound.max(initial=0.0)),
        swapped=int(((np.diff(theirs[order]) < 0) & (np.diff(ours[order]) > 0)).sum()),
    )


def _scored(
    runner: Runner, target: Target, options: ExportOptions, written: Written, rows: Float32Array, subject: Subject
) -> TargetRun:
    with TemporaryDirectory() as folder:
        for ending, content in written.files.items():
            Path(folder, options.name + (ending or target.suffix)).write_bytes(content)
        try:
            return runner(Path(folder, options.name + target.suffix), rows, subject.names)
        except RankwrightError:
            raise
        except Exception as error:  # of another library, whose messages may be as long as the model
            raise InputError(f"what runs {target.name} refuses the file: {as_one_line(str(error))}") from error


def _marked(subject: ForestSubject) -> ForestSubject:
    """The same splits with whole numbers in the leaves, drawn so that two leaves of a tree rarely have the same."""
    forest = subject.forest
    largest = max(EXACT // max(forest.n_trees, 1) - 1, 1)
    marks = np.random.default_rng(0).integers(0, largest, size=len(forest.feature), endpoint=True)
    value: Float64Array = np.where(forest.feature < 0, marks, 0)
    return replace(subject, forest=replace(forest, value=value.astype(np.float32)), base_score=0.0)
