"""A sample of rows that does not depend on how the rows arrive.

Each row has a fixed random priority, a hash of the seed and its number, and the rows with the lowest priorities are the
sample: so rows read in chunks of any size give the same sample as the whole matrix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, IntArray, as_features
from rankwright.errors import InputError, require
from rankwright.kernels.naive.common.counter_random import stream_of
from rankwright.memory import require_memory

SAMPLE_SIZE = 200_000  # rows: enough to place 255 bins within a small part of their width
SURPLUS = 0.25  # held beyond the sample before it is cut down: less memory, or less moving of rows
ROWS_MOVED_AT_ONCE = 1024
ROWS_COMPARED_AT_ONCE = 1 << 22  # 64 MB of numbers and priorities, however many rows there are


def sample_rows(n_rows: int, size: int, seed: int) -> IntArray:
    """The sample's rows in ascending order: all of them where there are no more than `size`."""
    rows = np.empty(0, np.int64)
    for start in range(0, n_rows, ROWS_COMPARED_AT_ONCE):
        rows = np.concatenate([rows, np.arange(start, min(start + ROWS_COMPARED_AT_ONCE, n_rows))])
        if len(rows) > size:
            rows = rows[np.argpartition(row_priorities(rows, seed), size)[:size]]
    return np.sort(rows)


def row_priorities(rows: IntArray, seed: int) -> NDArray[np.uint64]:
    """A random number for each row, no two alike."""
    return stream_of(seed & (2**64 - 1), rows)


class RowSample:
    """Collects the sample of rows that come in chunks, in memory for little more than the sample.

    A chunk may be wider than those before it: their rows get `absent` in the new columns.
    """

    def __init__(self, size: int = SAMPLE_SIZE, seed: int = 0, absent: float = 0.0) -> None:
        require(size >= 1, f"size must be 1 or more, got {size}")
        self.size, self.seed, self.absent = size, seed, absent
        self.n_rows = 0  # seen so far
        self._n_held = 0
        self._rows: Float32Array | None = None  # those held, and room for more
        self._priorities = np.empty(0, np.uint64)
        self._highest = np.uint64(0xFFFF_FFFF_FFFF_FFFF)  # a row above it is surely not in the sample

    def add(self, features: Float32Array) -> None:
        """Take in the rows that follow those seen so far."""
        matrix = as_features(features)
        if self._rows is not None and matrix.shape[1] < self._rows.shape[1]:
            raise InputError(f"chunks must have {self._rows.shape[1]} columns or more, got {matrix.shape[1]}")
        if self._rows is None or matrix.shape[1] > self._rows.shape[1] or self._is_full(len(matrix)):
            self._make_room(len(matrix), matrix.shape[1])
        priorities = row_priorities(np.arange(self.n_rows, self.n_rows + len(matrix)), self.seed)
        self.n_rows += len(matrix)
        start = 0
        while start < len(matrix):
            start += self._hold(matrix[start:], priorities[start:])

    def features(self) -> Float32Array:
        """The values of the sample's rows, in the order of rows."""
        if self._rows is None:
            raise InputError("no rows to sample: add a chunk first")
        self._drop_surplus()
        return self._rows[: self._n_held]

    def _hold(self, matrix: Float32Array, priorities: NDArray[np.uint64]) -> int:
        """Hold rows that may be in the sample, while there is room; returns how many rows were looked at."""
        assert self._rows is not None
        chosen = np.flatnonzero(priorities <= self._highest)
        room = len(self._rows) - self._n_held
        fits = chosen[:room]
        matrix.take(
            fits, axis=0, out=self._rows[self._n_held : self._n_held + len(fits)], mode="clip"
        )  # no copy of its own
        self._priorities[self._n_held : self._n_held + len(fits)] = priorities[fits]
        self._n_held += len(fits)
        if len(chosen) <= room:
            return len(matrix)
        self._drop_surplus()
        return int(fits[-1]) + 1 if len(fits) else 0

    def _drop_surplus(self) -> None:
        if self._n_held <= self.size:
            return
        assert self._rows is not None
        kept = np.sort(np.argpartition(self._priorities[: self._n_held], self.size)[: self.size])
        # Rows move towards the beginning, a few at a time, so that none is overwritten before it has moved.
        for start in range(0, self.size, ROWS_MOVED_AT_ONCE):
            moved = kept[start : start + ROWS_MOVED_AT_ONCE]
            self._rows[start : start + len(moved)] = self._rows[moved]
        self._priorities[: self.size] = self._priorities[kept]
        self._n_held = self.size
        self._highest = self._priorities[: self.size].max()

    @property
    def _most_held(self) -> int:
        return self.size + max(1, int(SURPLUS * self.size))

    def _is_full(self, n_rows: int) -> bool:
        """Whether so many more rows need more room, and may have it."""
        return self._rows is not None and len(self._rows) < min(self._n_held + n_rows, self._most_held)

    def _make_room(self, n_rows: int, n_columns: int) -> None:
        """Room for so many rows and columns besides what is held so far, within that for the whole sample."""
        # Room that is never written costs address space only, but even that has its limits.
        n_before = 0 if self._rows is None else len(self._rows)
        capacity = min(self._most_held, max(self._n_held + n_rows, 2 * n_before))
        require_memory(4 * capacity * n_columns, f"the sample of {capacity:,} documents and {n_columns:,} features")
        rows = np.empty((capacity, n_columns), np.float32)
        self._priorities = np.append(self._priorities[: self._n_held], np.zeros(capacity - self._n_held, np.uint64))
        if self._rows is not None:
            width = self._rows.shape[1]
            rows[: self._n_held, :width] = self._rows[: self._n_held]
            rows[: self._n_held, width:] = self.absent
        self._rows = rows
