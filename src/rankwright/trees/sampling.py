"""A sample of rows that does not depend on how the rows arrive.

Each row has a fixed random priority, a hash of the seed and its number, and the rows with the lowest are the sample:
so rows read in chunks, of any size, give the sample that the whole matrix gives.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, IntArray, as_features
from rankwright.errors import InputError, require
from rankwright.kernels.naive.counter_random import stream_of

SAMPLE_SIZE = 200_000  # rows: enough to place 255 bins within a small part of their width


def sample_rows(n_rows: int, size: int, seed: int) -> IntArray:
    """The sample's rows in ascending order: all of them where there are no more than `size`."""
    rows = np.arange(n_rows)
    if n_rows <= size:
        return rows
    return np.sort(np.argpartition(row_priorities(rows, seed), size)[:size])


def row_priorities(rows: IntArray, seed: int) -> NDArray[np.uint64]:
    """A random number for each row, no two alike."""
    return stream_of(seed & (2**64 - 1), rows)


class RowSample:
    """Collects the sample of rows that come in chunks, in memory for at most twice the sample."""

    def __init__(self, size: int = SAMPLE_SIZE, seed: int = 0) -> None:
        require(size >= 1, f"size must be 1 or more, got {size}")
        self.size, self.seed = size, seed
        self.n_rows = 0  # seen so far
        self._chunks: list[Float32Array] = []
        self._priorities: list[NDArray[np.uint64]] = []
        self._n_held = 0
        self._highest = np.uint64(0xFFFF_FFFF_FFFF_FFFF)  # a row above it is surely not in the sample

    def add(self, features: Float32Array) -> None:
        """Take in the rows that follow those seen so far."""
        matrix = as_features(features)
        if self._chunks and matrix.shape[1] != self._chunks[0].shape[1]:
            raise InputError(f"chunks must have {self._chunks[0].shape[1]} columns each, got {matrix.shape[1]}")
        priorities = row_priorities(np.arange(self.n_rows, self.n_rows + len(matrix)), self.seed)
        kept = priorities <= self._highest
        self.n_rows += len(matrix)
        self._chunks.append(matrix[kept])
        self._priorities.append(priorities[kept])
        self._n_held += int(kept.sum())
        if self._n_held > 2 * self.size:
            self._drop_surplus()

    def features(self) -> Float32Array:
        """The values of the sample's rows, in the order of rows."""
        if not self._chunks:
            raise InputError("no rows to sample: add a chunk first")
        self._drop_surplus()
        return self._chunks[0]

    def _drop_surplus(self) -> None:
        rows, priorities = np.concatenate(self._chunks), np.concatenate(self._priorities)
        if len(rows) > self.size:
            kept = np.sort(np.argpartition(priorities, self.size)[: self.size])
            rows, priorities = rows[kept], priorities[kept]
            self._highest = priorities.max()
        self._chunks, self._priorities, self._n_held = [rows], [priorities], len(rows)
