"""An exchange between threads of one process: the plainest there can be."""

from __future__ import annotations

from threading import Barrier
from typing import Any

import numpy as np

from rankwright.arrays import IntArray

PATIENCE = 300.0  # seconds


class ThreadExchange:
    """One worker's end of an exchange; `exchanges_of` makes those of all. See `Exchange`."""

    def __init__(self, rank: int, size: int, desk: list[Any], barrier: Barrier) -> None:
        self.rank, self.size = rank, size
        self._desk, self._barrier = desk, barrier  # where each lays what others read, and where all wait for each other
        self.bytes_sent = 0  # to other workers

    def add_up(self, values: IntArray) -> None:
        """Replace each value by its sum over the workers."""
        self.bytes_sent += (self.size - 1) * values.nbytes
        values[:] = sum(self._shown(values.copy()))
        self._barrier.wait(PATIENCE)

    def trade(self, out: IntArray, sizes: IntArray, into: IntArray) -> None:
        """Send `sizes[w]` values to worker w, and fill `into` with what each sent here."""
        own = slice(int(sizes[: self.rank].sum()), int(sizes[: self.rank + 1].sum()))
        self.bytes_sent += out.nbytes - out[own].nbytes
        into[:] = np.concatenate([theirs[own] for theirs in self._shown(out.copy())])
        self._barrier.wait(PATIENCE)

    def gather(self, own: IntArray, into: IntArray) -> None:
        """Fill `into` with the values of each worker."""
        self.bytes_sent += (self.size - 1) * own.nbytes
        into[:] = np.concatenate(self._shown(own.copy()))
        self._barrier.wait(PATIENCE)

    def close(self) -> None:
        """Let nobody wait for this worker any more."""
        self._barrier.abort()

    def _shown(self, values: IntArray) -> list[IntArray]:
        """What each worker has laid down."""
        self._desk[self.rank] = values
        self._barrier.wait(PATIENCE)
        return list(self._desk)


def exchanges_of(size: int) -> list[ThreadExchange]:
    """The ends of an exchange between so many threads."""
    desk, barrier = [None] * size, Barrier(size)
    return [ThreadExchange(rank, size, desk, barrier) for rank in range(size)]
