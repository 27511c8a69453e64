"""Grades ready for counting: one for each pair and rater, as places on the scale.

A `pair` is a query and a document. A `level` is a place on the scale, from 0. Rows are sorted by pair, and within a
pair by rater.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, Int32Array, IntArray
from rankwright.errors import InputError
from rankwright.judgments.judgment_table import Judgments
from rankwright.tables.text import counted

MOST_LEVELS = 20  # of a scale: beyond it grades are measurements, which say so by a standard error


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """Pairs that a rater judged more than once."""

    n_same: int  # judged again with the same grade
    n_flipped: int  # judged again with another grade
    n_undecided: int  # of these, without times that tell which grade came last: left out
    flips_of_rater: IntArray

    def to_dict(self) -> dict[str, int]:
        """How many there are of each sort."""
        return {"judged twice": self.n_same, "flipped": self.n_flipped, "undecided": self.n_undecided}

    @property
    def told(self) -> list[str]:
        """The same in words, a line for each sort that occurs."""
        lines = []
        if self.n_same:
            lines.append(
                f"{counted(self.n_same, 'document')} judged twice by a rater with the same grade, counted once"
            )
        if self.n_flipped:
            what = f"{counted(self.n_flipped, 'document')} judged twice by a rater with different grades"
            if not self.n_undecided:
                lines.append(f"{what}: the later one counts")
            elif self.n_undecided == self.n_flipped:
                lines.append(f"{what}: left out, as no times tell which came last")
            else:
                lines.append(f"{what}: the later one counts; {self.n_undecided:,} without times are left out")
        return lines


NO_REPEATS = Repeats(0, 0, 0, np.empty(0, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Grades that are measurements with standard errors, such as what a click model thinks of a document."""

    pairs: Int32Array
    raters: Int32Array
    values: Float64Array
    errors: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Grades of pairs by raters, each pair at most once by each rater."""

    pairs: Int32Array
    raters: Int32Array
    levels: Int32Array
    scale: Float64Array  # the grade of each level, ascending
    queries: Int32Array  # of each pair, as places in the ids of the judgments
    documents: Int32Array
    n_raters: int
    repeats: Repeats
    estimates: Estimates

    @property
    def n_pairs(self) -> int:
        """How many pairs were graded."""
        return len(self.queries)

    @property
    def n_levels(self) -> int:
        """How many grades the scale has."""
        return len(self.scale)

    @property
    def sizes(self) -> IntArray:
        """How many raters graded each pair."""
        return np.bincount(self.pairs, minlength=self.n_pairs)

    @property
    def has_something(self) -> BoolArray:
        """Which pairs have a grade or a measurement: contradicting grades may have left nothing."""
        found = self.sizes > 0
        found[self.estimates.pairs] = True
        return np.asarray(found, np.bool_)

    def counts(self) -> Float64Array:
        """How often each pair got each grade."""
        flat = np.bincount(
            self.pairs.astype(np.int64) * self.n_levels + self.levels, minlength=self.n_pairs * self.n_levels
        )
        return flat.reshape(self.n_pairs, self.n_levels).astype(np.float64)

    def take(self, rows: BoolArray) -> Ratings:
        """Some of the grades; pairs, raters and the scale stay."""
        return replace(self, pairs=self.pairs[rows], raters=self.raters[rows], levels=self.levels[rows])


def ratings_of(judgments: Judgments, scale: tuple[float, float] | None = None) -> Ratings:
    """The grades among judgments. `scale` adds whole grades that nobody gave, where they are few."""
    graded = judgments.graded()
    if not len(graded):
        raise InputError("there are no grades, only preferences")
    pairs, is_first = _pairs_of(graded)
    measured = ~np.isnan(graded.errors)
    found = np.unique(graded.values[~measured]).astype(np.float64)
    levels = _levels(found, scale)
    kept, repeats = _settled(graded, pairs, ~measured)
    estimates = Estimates(
        pairs[measured],
        graded.raters[measured],
        graded.values[measured].astype(np.float64),
        graded.errors[measured].astype(np.float64),
    )
    return Ratings(
        pairs[kept],
        graded.raters[kept],
        np.searchsorted(levels, graded.values[kept]).astype(np.int32),
        levels,
        graded.queries[is_first],
        graded.documents[is_first],
        len(graded.rater_ids),
        repeats,
        estimates,
    )


def without_repeats(judgments: Judgments) -> tuple[Judgments, Repeats]:
    """The grades, one for each pair and rater, and what was judged more than once."""
    graded = judgments.graded()
    if not len(graded):
        return graded, NO_REPEATS
    kept, repeats = _settled(graded, _pairs_of(graded)[0], np.ones(len(graded), np.bool_))
    return graded.take(kept), repeats


def _pairs_of(graded: Judgments) -> tuple[Int32Array, BoolArray]:
    """The number of each row's pair, and which rows are the first of theirs."""
    keys = graded.pair_keys
    is_first = np.concatenate([np.ones(1, np.bool_), keys[1:] != keys[:-1]])
    return (np.cumsum(is_first) - 1).astype(np.int32), is_first


def _levels(found: Float64Array, scale: tuple[float, float] | None) -> Float64Array:
    if len(found) > MOST_LEVELS:
        raise InputError(
            f"there are {len(found):,} different grades, and a scale has {MOST_LEVELS} at most; measurements need "
            f"standard errors"
        )
    if scale is None:
        return found
    first, last = np.ceil(scale[0]), np.floor(scale[1])
    if not last - first < MOST_LEVELS:  # of 0 to 100, those that were given tell how fine the scale is
        return found
    return np.unique(np.concatenate([found, np.arange(first, last + 1)]))


def _settled(graded: Judgments, pairs: Int32Array, is_level: BoolArray) -> tuple[IntArray, Repeats]:
    """One row for each pair and rater: the last by time. Where times do not tell, contradicting rows are left out."""
    rows = np.flatnonzero(is_level)
    key = pairs[rows].astype(np.int64) * max(1, len(graded.rater_ids)) + graded.raters[rows]
    again = np.zeros(len(rows), np.bool_)
    again[1:] = key[1:] == key[:-1]
    flips = np.zeros(len(graded.rater_ids), np.int64)
    if not again.any():
        return rows, Repeats(0, 0, 0, flips)
    keep, n_same, n_flipped, n_undecided = np.ones(len(rows), np.bool_), 0, 0, 0
    starts = np.flatnonzero(~again)
    stops = np.append(starts[1:], len(rows))
    several = stops - starts > 1
    for start, stop in zip(starts[several].tolist(), stops[several].tolist(), strict=True):
        own = rows[start:stop]
        values, times = graded.values[own], graded.times[own]
        keep[start:stop] = False
        if (values == values[0]).all():
            n_same += 1
            keep[start] = True
            continue
        n_flipped += 1
        flips[graded.raters[own[0]]] += 1
        last = np.flatnonzero(times == np.nanmax(times)) if not np.isnan(times).any() else np.empty(0, np.int64)
        if len(last) == 1:
            keep[start + int(last[0])] = True
        else:
            n_undecided += 1
    return rows[keep], Repeats(n_same, n_flipped, n_undecided, flips)
