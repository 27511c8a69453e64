"""Judgments gathered block by block from files: ids become numbers, and what cannot be used is counted, with its place.

A block is a set of columns of equal length. Ids come as numbers that the gathering gave them; a value of NaN is absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, Int32Array, IntArray, thread_count
from rankwright.clicks.logs.log_blocks import Codes
from rankwright.errors import FileFormatError, InputError
from rankwright.judgments.judgment_table import COLUMNS, KINDS, NO_DOCUMENT, Judgment, Judgments, in_canonical_order

ROWS_AT_A_TIME = 1 << 16
UNKNOWN_KIND = -1


class RowFault:
    """What may be wrong with a row, which is then left out."""

    NO_QUERY = "rows without a query"
    NO_DOCUMENT = "rows without a document"
    NO_RATER = "rows without a rater"
    NO_GRADE = "rows without a grade"
    NOT_FINITE = "grades that are infinite"
    OUTSIDE = "grades outside the scale"
    NO_PREFERENCE = "preferences that are no number from 0 to 1"
    ITSELF = "documents compared with themselves"
    BAD_ERROR = "standard errors below 0"
    UNRATEABLE = "documents that the rater could not or would not judge yet"


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some rows of a file: numbers of ids, -1 where there is none, and values."""

    queries: Int32Array
    documents: Int32Array
    raters: Int32Array
    grades: Float64Array
    others: Int32Array | None = None
    preferences: Float64Array | None = None
    errors: Float64Array | None = None
    times: Float64Array | None = None
    comments: Sequence[str] | None = None


@dataclass(slots=True, eq=False)
class Gathering:
    """The rows of all files so far; `scale` is the lowest and the highest grade that there may be."""

    scale: tuple[float, float] | None = None
    threads: int | None = None
    problems: dict[str, int] = field(default_factory=dict)
    first_problems: dict[str, str] = field(default_factory=dict)

    queries: Codes = field(init=False)
    documents: Codes = field(init=False)
    raters: Codes = field(init=False)
    _kinds: dict[int, int] = field(init=False, default_factory=dict)
    _parts: list[dict[str, Any]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.queries, self.documents, self.raters = (
            Codes(thread_count(self.threads), "the judgments") for _ in range(3)
        )

    def note(self, problem: str, place: str, times: int = 1) -> None:
        """Count a problem."""
        self.problems[problem] = self.problems.get(problem, 0) + times
        self.first_problems.setdefault(problem, place)

    def name_kind(self, rater: int, kind: int, place: str = "") -> None:
        """Remember what a rater is; it cannot be two things."""
        known = self._kinds.setdefault(rater, kind)
        if known != kind:
            name = str(self.raters.ids()[rater])
            told = f"rater {name!r} is a {KINDS[known]} in one row and a {KINDS[kind]} in another{place}"
            raise InputError(f"{told}: give the two different names")

    def name_kinds(self, raters: Int32Array, kinds: Sequence[str], place_of: Any) -> None:
        """Remember what the raters of some rows are."""
        places = kind_places(kinds, place_of)
        _, rows = np.unique(raters.astype(np.int64) * len(KINDS) + places, return_index=True)
        for row in rows.tolist():
            if raters[row] >= 0:
                self.name_kind(int(raters[row]), int(places[row]), f" ({place_of(row)})")

    def add(self, block: RowBlock, place_of: Any) -> None:
        """Take the rows that can be used; `place_of(row)` tells where a row stands."""
        n_rows = len(block.queries)
        others = np.full(n_rows, NO_DOCUMENT, np.int32) if block.others is None else block.others
        is_grade = others == NO_DOCUMENT
        preferences = np.ones(n_rows) if block.preferences is None else np.nan_to_num(block.preferences, nan=1.0)
        values = np.where(is_grade, block.grades, preferences)
        absent = np.full(n_rows, np.nan)
        errors, times = (absent if column is None else column for column in (block.errors, block.times))
        faults: list[tuple[str, BoolArray]] = [
            (RowFault.NO_QUERY, block.queries < 0),
            (RowFault.NO_DOCUMENT, block.documents < 0),
            (RowFault.NO_RATER, block.raters < 0),
            (RowFault.NO_GRADE, np.isnan(values)),
            (RowFault.NOT_FINITE, ~np.isfinite(values.astype(np.float32))),
            (RowFault.NO_PREFERENCE, ~is_grade & ~((values >= 0) & (values <= 1))),
            (RowFault.ITSELF, others == block.documents),
            (RowFault.BAD_ERROR, (errors < 0) | np.isinf(errors)),
        ]
        if self.scale is not None:
            low, high = self.scale
            faults.append((RowFault.OUTSIDE, is_grade & np.isnan(errors) & ((values < low) | (values > high))))
        usable = self._usable(faults, n_rows, place_of)
        columns: dict[str, Any] = {
            "queries": block.queries,
            "documents": block.documents,
            "raters": block.raters,
            "values": values.astype(np.float32),
            "others": others,
            "errors": errors.astype(np.float32),
            "times": np.asarray(times, np.float64),
        }
        kept: dict[str, Any] = {name: column if usable.all() else column[usable] for name, column in columns.items()}
        if block.comments is not None:
            kept["comments"] = np.array(block.comments, np.dtypes.StringDType())[usable]
        self._parts.append(kept)

    def _usable(self, faults: list[tuple[str, BoolArray]], n_rows: int, place_of: Any) -> BoolArray:
        usable = np.ones(n_rows, np.bool_)
        for problem, found in faults:
            found = found & usable
            if found.any():
                self.note(problem, place_of(int(np.argmax(found))), int(found.sum()))
                usable &= ~found
        return usable

    def add_judgments(self, judgments: Iterable[Judgment], source: str = "") -> None:
        """Take single judgments; `source` says where they are from."""
        rows, n_before = iter(judgments), 0
        while chunk := list(islice(rows, ROWS_AT_A_TIME)):
            self.add(self.block_of(chunk), lambda row, first=n_before: f"{source}judgment {first + row + 1}")
            n_before += len(chunk)

    def block_of(self, chunk: Sequence[Judgment]) -> RowBlock:
        """Single judgments as a block."""
        raters = self.raters.of_texts([one.rater for one in chunk])
        for rater, one in zip(raters.tolist(), chunk, strict=True):
            self.name_kind(rater, KINDS.index(one.kind))
        documents = self.documents.of_texts([one.document for one in chunk])
        has_other = [one.other is not None for one in chunk]
        others = self.documents.of_texts([one.other or one.document for one in chunk])
        return RowBlock(
            self.queries.of_texts([one.query for one in chunk]),
            documents,
            raters,
            _numbers([one.grade for one in chunk]),
            np.where(has_other, others, NO_DOCUMENT).astype(np.int32),
            _numbers([one.preference for one in chunk]),
            _numbers([one.error for one in chunk]),
            _numbers([one.time for one in chunk]),
            [one.comment for one in chunk] if any(one.comment for one in chunk) else None,
        )

    def table(self) -> Judgments:
        """All rows as a table, in canonical order."""
        sizes = [len(part["queries"]) for part in self._parts]
        if not sum(sizes):
            found = [f"{problem} ({self.first_problems[problem]})" for problem in self.problems]
            raise InputError(f"there are no judgments: {'; '.join(found) or 'nothing was read'}")
        n_raters = len(self.raters)
        ids: dict[str, Any] = {
            "query_ids": self.queries.ids(),
            "document_ids": self.documents.ids(),
            "rater_ids": self.raters.ids(),
        }
        self.queries, self.documents, self.raters = (Codes() for _ in range(3))  # their tables are large
        comments = self._comments(sizes)
        columns: dict[str, Any] = {}
        for name in COLUMNS:
            columns[name] = np.concatenate([part.pop(name) for part in self._parts])
        kinds = np.array([self._kinds.get(rater, 0) for rater in range(n_raters)], np.int8)
        told: dict[str, Any] = {"problems": dict(self.problems), "first_problems": dict(self.first_problems)}
        return in_canonical_order(Judgments(**columns, **ids, comments=comments, kinds=kinds, **told))

    def _comments(self, sizes: Sequence[int]) -> Any:
        if not any("comments" in part for part in self._parts):
            return None
        blank = np.dtypes.StringDType()
        texts = [part.get("comments", np.full(size, "", blank)) for part, size in zip(self._parts, sizes, strict=True)]
        return np.concatenate(texts)


def gather(judgments: Iterable[Judgment]) -> Judgments:
    """Return the table of single judgments.

    Parameters
    ----------
    judgments : iterable of Judgment
        The judgments, in any order.

    Returns
    -------
    Judgments
        The same table for any order of the same judgments.

    Examples
    --------
    >>> import rankwright as rw
    >>> one = rw.judgments.Judgment
    >>> rw.judgments.gather([one("q", "a", "ann", 2), one("q", "a", "bob", 1)])
    Judgments(2 judgments of 1 document of 1 query by 2 raters)
    """
    gathering = Gathering()
    gathering.add_judgments(judgments)
    return gathering.table()


def _numbers(values: Sequence[float | None]) -> Float64Array:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def kind_places(names: Sequence[str], place_of: Any) -> IntArray:
    """The places of kinds in `KINDS`; an empty one is a person."""
    place = {"": 0} | {kind: number for number, kind in enumerate(KINDS)}
    found = np.array([place.get(name.strip().lower(), UNKNOWN_KIND) for name in names], np.int64)
    if (found == UNKNOWN_KIND).any():
        row = int(np.argmax(found == UNKNOWN_KIND))
        wanted = f"wanted {', '.join(KINDS)}"
        raise FileFormatError(place_of(row), f"the kind of a rater is {names[row][:40]!r}; {wanted}")
    return found
