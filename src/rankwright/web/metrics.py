"""Counters, gauges and histograms of several processes, as Prometheus reads them.

Numbers stand in memory that all processes share, a row for each: a process adds to its own row, and whichever is asked
gives the sums. What is counted is declared before the processes start.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array

LATENCY_BUCKETS = (0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ServedMetric:
    """A metric: its name, its kind, what it tells, and its lines by labels, each with the place of its number."""

    name: str
    kind: str
    help: str
    lines: list[tuple[str, int]] = field(default_factory=list)  # what stands before the number, and its place


class MetricBoard:
    """All metrics of a server; `start` gives a process its own row."""

    def __init__(self, n_processes: int = 1) -> None:
        self._n_processes, self._n_slots = n_processes, 0
        self._families: dict[str, ServedMetric] = {}
        self._computed: list[Callable[[], Iterable[str]]] = []
        self._lock = multiprocessing.get_context("fork").Lock()
        self._rows: Float64Array = np.zeros((n_processes, 0))
        self._own: Any = memoryview(bytearray()).cast("d")  # a memoryview of floats

    def counter(self, name: str, help: str, labels: Labels = ()) -> int:
        """The place of a number that only grows."""
        return self._line(name, "counter", help, name, labels)

    def gauge(self, name: str, help: str, labels: Labels = ()) -> int:
        """The place of a number that goes up and down; those of all processes are added up."""
        return self._line(name, "gauge", help, name, labels)

    def histogram(
        self, name: str, help: str, labels: Labels = (), buckets: Sequence[float] = LATENCY_BUCKETS
    ) -> Histogram:
        """Counts of values up to each bound, with their sum."""
        places = [
            self._line(name, "histogram", help, f"{name}_bucket", (*labels, ("le", bound)))
            for bound in (*(f"{one:g}" for one in buckets), "+Inf")
        ]
        total = self._line(name, "histogram", help, f"{name}_sum", labels)
        count = self._line(name, "histogram", help, f"{name}_count", labels)
        return Histogram(self, tuple(buckets), places[0], total, count)

    def table(self, n: int) -> int:
        """The first of `n` places for numbers that `computed` lines are made from."""
        self._n_slots += n
        return self._n_slots - n

    def computed(self, lines: Callable[[], Iterable[str]]) -> None:
        """Add lines that are made when metrics are asked for."""
        self._computed.append(lines)

    def _line(self, name: str, kind: str, help: str, shown: str, labels: Labels) -> int:
        family = self._families.setdefault(name, ServedMetric(name, kind, help))
        place = self.table(1)
        family.lines.append((shown + labels_text(labels), place))
        return place

    def open(self) -> None:
        """Make room for all that was declared; processes that are forked afterwards share it."""
        size = max(1, self._n_slots + 1)  # the first number of a row is the process that has it
        shared = mmap.mmap(-1, self._n_processes * size * 8)
        self._rows = np.frombuffer(shared, np.float64).reshape(self._n_processes, size)
        self._own = memoryview(self._rows[0]).cast("B").cast("d")

    def start(self) -> None:
        """Take a row for this process: one that nobody has, or whose process is gone, whose numbers go on."""
        with self._lock:
            row = next((row for row, pid in enumerate(self._rows[:, 0]) if not _is_alive(int(pid))), 0)
            self._rows[row, 0] = os.getpid()
        self._own = memoryview(self._rows[row]).cast("B").cast("d")

    def add(self, place: int, amount: float = 1.0) -> None:
        """Add to a number of this process."""
        self._own[place + 1] += amount

    def set(self, place: int, value: float) -> None:
        """Set a number of this process."""
        self._own[place + 1] = value

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Let this process's numbers be afterwards what they were."""
        before = bytes(self._own)
        try:
            yield
        finally:
            self._own.cast("B")[:] = before

    def own(self, place: int, n: int) -> Float64Array:
        """A part of this process's row, to add to."""
        return np.frombuffer(self._own, np.float64)[place + 1 : place + 1 + n]

    def total(self, place: int, n: int = 1) -> Float64Array:
        """The sums of all processes."""
        sums: Float64Array = self._rows[:, place + 1 : place + 1 + n].sum(axis=0)
        return sums

    def text(self) -> str:
        """All metrics in Prometheus's text format."""
        told: list[str] = []
        for family in self._families.values():
            told += heading(family.name, family.kind, family.help)
            told += self._lines_of(family)
        for lines in self._computed:
            told += lines()
        return "\n".join(told) + "\n"

    def _lines_of(self, family: ServedMetric) -> Iterator[str]:
        """A metric's lines; each bucket of a histogram also counts what is in those before it."""
        below = 0.0
        for line, place in family.lines:
            value = float(self.total(place)[0])
            if line.startswith(f"{family.name}_bucket"):
                value = below = below + value
            else:
                below = 0.0
            yield f"{line} {value:.17g}"


@dataclass(frozen=True, slots=True)
class Histogram:
    """A histogram's places on the board: the buckets, one behind the other, and the sum and the count."""

    board: MetricBoard
    buckets: tuple[float, ...]
    first: int
    total: int
    count: int

    def observe(self, value: float) -> None:
        """Count a value in the first bucket that reaches up to it."""
        self.board.add(self.first + bisect_left(self.buckets, value))
        self.board.add(self.total, value)
        self.board.add(self.count)


def heading(name: str, kind: str, help: str) -> list[str]:
    """The two lines before a metric's own."""
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]


def labels_text(labels: Labels) -> str:
    """Labels as they stand behind a metric's name."""
    if not labels:
        return ""
    escaped = ((name, value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")) for name, value in labels)
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}"


def _is_alive(pid: int) -> bool:
    if pid == 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
