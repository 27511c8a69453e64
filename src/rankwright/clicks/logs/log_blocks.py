"""What readers of logs share: blocks of lists, ids turned into numbers, and what was wrong with events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, IdArray, Int32Array, IntArray, ids_of_text
from rankwright.errors import FileFormatError, InputError, require_input
from rankwright.kernels.records import IdTable, Texts

MOST_PROPENSITY = 1e30  # still a finite number in float32
LOWEST_FIRST = 1_000_000  # the last position at which a page may begin
MOST_IDS = 2**31 - 1  # numbers are stored in 32 bits
LEAST_SLOTS = 1 << 12  # of a table of ids
GROWTH = 4  # times as many slots, where a table is half full
LEAST_BYTES = 1 << 16  # of texts


class LogFault:
    """What may be wrong with an event, which is then left out, unless the text says otherwise."""

    NOT_SHOWN = "clicks on what was not shown (the click is left out)"
    NO_POSITION = "clicks that are no positions, which are whole numbers from 1 (the click is left out)"
    REPEATED = "repeated clicks (counted once)"
    SHOWN_TWICE = "documents shown twice in a list (kept)"
    EMPTY = "lists without documents"
    NO_QUERY = "events without a query"
    BROKEN = "events that cannot be read"
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
        if self.strict and problem not in LogFault.HARMLESS:
            raise FileFormatError(self.path, f"{problem}{': ' if detail else ''}{detail}", line)
        self.counts[problem] += times
        self.first.setdefault(problem, f"line {line}{': ' if detail else ''}{detail}")


@dataclass(frozen=True, eq=False)
class LogBlock:
    """Some lists of a log, with ids as numbers; the fields are those of `ClickLog`."""

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


class Codes:
    """The number of each id, in the order in which ids were first seen.

    What is kept is each distinct id, once. Ids that come as whole numbers are kept as such; once a text comes, all are
    texts, and only those that look like numbers throughout are numbers again in the end.
    """

    def __init__(self, threads: int = 1, source: str = "the log") -> None:
        self._integers = _IntegerNumbers(threads)
        self._source = source
        self._texts: _TextNumbers | None = None
        self._threads = threads

    def __len__(self) -> int:
        return len(self._integers if self._texts is None else self._texts)

    def of_texts(self, texts: Sequence[str]) -> Int32Array:
        """The numbers of these ids; those not seen before get the next ones."""
        return self.of_encoded(encoded(texts))

    def of_encoded(self, texts: Texts) -> Int32Array:
        """The numbers of ids that are given as UTF-8."""
        if self._texts is None:
            self._texts = _TextNumbers(self._threads)
            self._texts.number(encoded([str(one) for one in self._integers.ids.tolist()]))
            self._integers = _IntegerNumbers(self._threads)
        return self._texts.number(texts)

    def of_integers(self, ids: IntArray) -> Int32Array:
        """The numbers of ids that are whole numbers."""
        if self._texts is not None:
            distinct, places = np.unique(ids, return_inverse=True)
            return self.of_texts([str(one) for one in distinct.tolist()])[places]
        return self._integers.number(ids)

    def encoded(self) -> Texts:
        """The ids by number, as UTF-8."""
        return encoded([str(one) for one in self._integers.ids.tolist()]) if self._texts is None else self._texts.known

    def ids(self) -> IdArray:
        """The ids by number: whole numbers if all are, else strings."""
        if self._texts is None:
            return self._integers.ids.copy()
        try:
            return ids_of_text(self._texts.ids)
        except UnicodeDecodeError:
            raise InputError(f"{self._source}: an id is no text in UTF-8") from None


class _IntegerNumbers:
    """Whole numbers seen so far, and a table to find them in."""

    def __init__(self, threads: int, n_slots: int = LEAST_SLOTS) -> None:
        self._threads = threads
        self._table, self._progress = _empty_table(n_slots), np.zeros(2, np.int64)
        self._known = np.empty(n_slots // 2, np.int64)

    def __len__(self) -> int:
        return int(self._progress[0])

    @property
    def ids(self) -> IntArray:
        """The ids by number."""
        return self._known[: len(self)]

    def number(self, ids: IntArray) -> Int32Array:
        """The number of each id."""
        numbers = np.empty(len(ids), np.int32)
        self._progress[1] = 0
        while True:
            kernels.number_integers(ids, self._table, self._known, self._progress, numbers, self._threads)
            if self._progress[1] == len(ids):
                return numbers
            larger = _IntegerNumbers(self._threads, _larger(len(self._table.hashes), len(self)))
            larger.number(self.ids)
            self._table, self._known = larger._table, larger._known


class _TextNumbers:
    """Texts seen so far, and a table to find them in."""

    def __init__(self, threads: int, n_slots: int = LEAST_SLOTS, n_bytes: int = LEAST_BYTES) -> None:
        self._threads = threads
        self._table, self._progress = _empty_table(n_slots), np.zeros(2, np.int64)
        self._known = Texts(np.empty(n_bytes, np.uint8), np.zeros(n_slots // 2 + 1, np.int64))

    def __len__(self) -> int:
        return int(self._progress[0])

    @property
    def known(self) -> Texts:
        """The texts by number."""
        starts = self._known.starts[: len(self) + 1]
        return Texts(self._known.bytes[: starts[-1]], starts)

    @property
    def ids(self) -> list[str]:
        """The ids by number."""
        starts = self._known.starts[: len(self) + 1].tolist()
        joined = self._known.bytes.tobytes()
        return [joined[start:stop].decode() for start, stop in pairwise(starts)]

    def number(self, ids: Texts) -> Int32Array:
        """The number of each id."""
        numbers = np.empty(len(ids.starts) - 1, np.int32)
        self._progress[1] = 0
        while True:
            kernels.number_texts(ids, self._table, self._known, self._progress, numbers, self._threads)
            row = int(self._progress[1])
            if row == len(numbers):
                return numbers
            n_used = int(self._known.starts[len(self)])
            n_wanted = n_used + int(ids.starts[row + 1] - ids.starts[row])
            n_slots, n_bytes = len(self._table.hashes), len(self._known.bytes)
            if n_wanted > n_bytes:
                n_bytes = max(n_wanted, GROWTH * n_bytes)
            else:
                n_slots = _larger(n_slots, len(self))
            larger = _TextNumbers(self._threads, n_slots, n_bytes)
            larger.number(Texts(self._known.bytes[:n_used], self._known.starts[: len(self) + 1]))
            self._table, self._known = larger._table, larger._known


def _empty_table(n_slots: int) -> IdTable:
    return IdTable(np.zeros(n_slots, np.uint64), np.full(n_slots, -1, np.int32))


def _larger(n_slots: int, n_known: int) -> int:
    require_input(n_known < MOST_IDS, f"a log may have {MOST_IDS:,} different ids at most")
    return GROWTH * n_slots


def encoded(texts: Sequence[str]) -> Texts:
    """Texts as UTF-8, one after another."""
    parts = [text.encode() for text in texts]
    starts = np.zeros(len(parts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, len(parts)), out=starts[1:])
    return Texts(np.frombuffer(b"".join(parts), np.uint8), starts)


def sorted_codes(ids: IdArray) -> tuple[IdArray, Int32Array]:
    """The ids in ascending order, and the new number of each: so that numbers do not depend on the order of a log."""
    order = np.argsort(ids, kind="stable")
    new = np.empty(len(ids), np.int32)
    new[order] = np.arange(len(ids), dtype=np.int32)
    return ids[order], new
