"""Events of a log while they are read: one list shown to a user at a time, and what was wrong with others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Int32Array, IntArray
from rankwright.clicks.logs.id_numbers import Codes
from rankwright.errors import FileFormatError

# What may be wrong with an event, which is then left out, unless the text says otherwise.
NOT_SHOWN = "clicks on what was not shown (the click is left out)"
NO_POSITION = "clicks that are no positions, which are whole numbers from 1 (the click is left out)"
REPEATED = "repeated clicks (counted once)"
SHOWN_TWICE = "documents shown twice in a list (kept)"
EMPTY = "lists without documents"
NO_QUERY = "events without a query"
BROKEN = "events that cannot be read"
MOST_PROPENSITY = 1e30  # still a finite number in float32
MOST_DETAIL = 100  # characters of an event that are shown
LOWEST_FIRST = 1_000_000  # the last position at which a page may begin
HARMLESS = (REPEATED, SHOWN_TWICE)  # ordinary logs have these: a strict reader goes on too


@dataclass(slots=True, eq=False)
class Problems:
    """What was wrong with events so far; if `strict`, the first problem is raised as an error."""

    path: str
    strict: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)  # where each was found first

    def note(self, problem: str, line: int, detail: str = "", times: int = 1) -> None:
        """Count a problem."""
        if self.strict and problem not in HARMLESS:
            raise FileFormatError(self.path, f"{problem}{': ' if detail else ''}{detail}", line)
        self.counts[problem] += times
        self.first.setdefault(problem, f"line {line}{': ' if detail else ''}{detail}")


@dataclass(frozen=True, slots=True, eq=False)
class LogBlock:
    """Some lists of a log, with ids as numbers."""

    queries: Int32Array
    offsets: IntArray
    documents: Int32Array
    clicked: BoolArray
    first_ranks: Int32Array | None = None
    propensities: Float32Array | None = None
    policies: Int32Array | None = None


class Naming:
    """The numbers of all ids of a log, looked up by so many threads."""

    def __init__(self, threads: int = 1, source: str = "the log") -> None:
        self.queries, self.documents, self.policies = (Codes(threads, source) for _ in range(3))


@dataclass(slots=True, eq=False)
class Gathered:
    """Lists gathered one by one until they make a block."""

    naming: Naming
    problems: Problems
    queries: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    clicked: list[bool] = field(default_factory=list)
    first_ranks: list[int] = field(default_factory=list)
    propensities: list[float] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.queries)

    def add(self, event: Mapping[str, Any], line: int) -> None:
        """Take an event with `query`, `shown` and `clicks` (positions from 1); it is left out if something is wrong."""
        query, shown, clicks = event.get("query"), event.get("shown"), event.get("clicks")
        if query is None or query == "":
            self.problems.note(NO_QUERY, line, f"its fields are {', '.join(map(repr, event))}"[:MOST_DETAIL])
            return
        if not isinstance(shown, list | tuple) or (clicks is not None and not isinstance(clicks, list | tuple)):
            self.problems.note(BROKEN, line, "shown and clicks must be lists")
            return
        if not shown:
            self.problems.note(EMPTY, line)
            return
        extras = self._extras(event, len(shown), line)
        if extras is None:
            return
        texts = list(map(str, shown))
        if not _is_unicode(str(query), *texts):
            self.problems.note(BROKEN, line, "an id is no text in Unicode")
            return
        self.queries.append(str(query))
        self.sizes.append(len(shown))
        self.documents.extend(texts)
        if len(set(texts)) < len(texts):
            self.problems.note(SHOWN_TWICE, line)
        self.clicked.extend(self._clicked(clicks or (), len(shown), line))
        first, chances, policy = extras
        self.first_ranks.append(first)
        self.propensities.extend(chances)
        self.policies.append(policy)

    def _clicked(self, clicks: Sequence[Any], n_shown: int, line: int) -> list[bool]:
        clicked = [False] * n_shown
        for position in clicks:
            if not isinstance(position, int) or isinstance(position, bool):
                self.problems.note(NO_POSITION, line, repr(position)[:MOST_DETAIL])
            elif not 1 <= position <= n_shown:
                self.problems.note(NOT_SHOWN, line, f"position {position!r} of {n_shown}")
            elif clicked[position - 1]:
                self.problems.note(REPEATED, line)
            else:
                clicked[position - 1] = True
        return clicked

    def _extras(self, event: Mapping[str, Any], n_shown: int, line: int) -> tuple[int, list[float], str] | None:
        """The rank of the first document, propensities and the policy; None if something is wrong with them."""
        first, chances = event.get("first", 1), event.get("propensity")
        if not isinstance(first, int) or not 1 <= first <= LOWEST_FIRST:
            self.problems.note(BROKEN, line, f"first must be a position from 1 to {LOWEST_FIRST:,}")
            return None
        if chances is None:
            chances = [np.nan] * n_shown
        elif isinstance(chances, int | float):
            chances = [chances] * n_shown
        if (
            not isinstance(chances, list | tuple)
            or len(chances) != n_shown
            or not all(map(_may_be_propensity, chances))
        ):
            self.problems.note(BROKEN, line, "propensity must be one number above 0, or one for each shown document")
            return None
        return first - 1, list(map(float, chances)), str(event.get("policy", ""))

    def block(self) -> LogBlock:
        """The lists so far as a block; the next ones make another."""
        sizes = np.array(self.sizes, np.int64)
        first, chances = np.array(self.first_ranks, np.int32), np.array(self.propensities, np.float32)
        made = LogBlock(
            self.naming.queries.of_texts(self.queries),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)]),
            self.naming.documents.of_texts(self.documents),
            np.array(self.clicked, np.bool_),
            first if first.any() else None,
            None if np.isnan(chances).all() else chances,
            self.naming.policies.of_texts(self.policies) if any(self.policies) else None,
        )
        for part in (self.queries, self.sizes, self.documents, self.clicked, self.first_ranks, self.propensities,
                     self.policies):  # fmt: skip
            part.clear()
        return made


def _is_unicode(*texts: str) -> bool:
    """Whether texts can be encoded: JSON may hold halves of characters, which cannot."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True


def _may_be_propensity(value: object) -> bool:
    """Whether it is a number above 0, or NaN for one that is not known."""
    return isinstance(value, int | float) and not value <= 0 and not value > MOST_PROPENSITY
