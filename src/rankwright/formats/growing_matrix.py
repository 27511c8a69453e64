"""Memory for features that arrive in blocks: kept until all have come, or used again for each block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np

from rankwright.arrays import FEATURE_DTYPE, Float32Array
from rankwright.data.sparse_rows import SparseRows, joined_rows
from rankwright.memory import free_memory, require_memory

LARGEST_GUESS = 64 << 20  # bytes of a part if the number of rows is unknown: `finish` holds this much twice
SURELY_TOO_MUCH = 2  # times the free memory, for a guess
GUESS_MARGIN = 1.05  # room beyond the number of rows that the first block suggests

# Gives memory for a block's features: from its rows, its columns, and the bytes of file that a row takes on average.
Room: TypeAlias = Callable[[int, int, float], Float32Array]


@dataclass(slots=True)
class _Part:
    """Room for rows of one width, filled from the top."""

    values: Float32Array
    n_rows: int = 0


class GrowingMatrix:
    """A feature matrix whose rows arrive in blocks, from files of `n_bytes` in all (0 = unknown).

    Rows stay where they were written: in one part where their number could be guessed, else in a few. Room that is
    never written costs address space only, so the guess is generous. Each part is freed as soon as it is copied into
    the final matrix, so memory never holds the whole matrix twice.
    """

    def __init__(self, n_bytes: int = 0) -> None:
        self.n_rows = 0
        self._n_bytes = n_bytes
        self._parts: list[_Part] = []
        self._given: Float32Array | None = None

    def room(self, n_rows: int, n_columns: int, bytes_per_row: float) -> Float32Array:
        """Empty rows to fill; `keep` keeps the rows that were given out last."""
        part = self._parts[-1] if self._parts else None
        if part is None or part.values.shape[1] != n_columns or len(part.values) - part.n_rows < n_rows:
            as_many_again = min(self.n_rows, LARGEST_GUESS // (FEATURE_DTYPE().itemsize * max(n_columns, 1)))
            part = _Part(_empty(self._capacity(max(n_rows, as_many_again), n_columns, bytes_per_row), n_columns))
            self._parts.append(part)
        self._given = part.values[part.n_rows : part.n_rows + n_rows]
        return self._given

    def _capacity(self, least: int, n_columns: int, bytes_per_row: float) -> int:
        """How many rows the next part has room for: as many as are expected, unless they may not fit into memory."""
        to_come = int(GUESS_MARGIN * self._n_bytes / bytes_per_row) - self.n_rows if bytes_per_row else 0
        expected = max(least, to_come)
        # The guess may be wrong: rows that seem to exceed memory a little are read, those that exceed it by far not.
        return least if 1 < _bytes_of(expected, n_columns) / max(1, free_memory()) < SURELY_TOO_MUCH else expected

    def keep(self, features: Float32Array) -> None:
        """Keep these rows without copying them: they are in the room given out last, or in memory of their own.

        They may also be sparse; then all are in the end.
        """
        if features is self._given:
            self._parts[-1].n_rows += len(features)
        else:
            self._parts.append(_Part(features, len(features)))
        self.n_rows += len(features)

    def finish(self, absent: float) -> Float32Array:
        """The matrix of all rows, as wide as the widest; columns that a row does not have are `absent`."""
        n_columns = max((part.values.shape[1] for part in self._parts), default=0)
        parts = [part for part in self._parts if part.n_rows]
        self._parts, self._given = [], None
        if any(isinstance(part.values, SparseRows) for part in parts):
            rows = [_sparse(parts.pop(0), n_columns, absent) for _ in range(len(parts))]
            return cast(Float32Array, joined_rows(rows))
        if len(parts) == 1 and parts[0].values.shape[1] == n_columns:
            return parts[0].values[: parts[0].n_rows]
        matrix = np.empty((self.n_rows, n_columns), FEATURE_DTYPE)
        stop = self.n_rows
        while parts:  # from the end, so that popping frees the part just copied
            part = parts.pop()
            start, width = stop - part.n_rows, part.values.shape[1]
            matrix[start:stop, :width] = part.values[: part.n_rows]
            matrix[start:stop, width:] = absent
            stop = start
        return matrix


def _sparse(part: _Part, n_columns: int, absent: float) -> SparseRows:
    """The rows of a part, with as many columns as all have in the end."""
    values: Any = part.values
    rows = values if isinstance(values, SparseRows) else SparseRows.of_matrix(values[: part.n_rows], absent)
    return replace(rows, n_columns=n_columns)


def takes_sparse(room: Room) -> bool:
    """Whether rows may come sparse instead of filling the room: where each block is kept as it is."""
    return room is fresh_room or isinstance(getattr(room, "__self__", None), GrowingMatrix)


class ReusedMemory:
    """The same memory for one block after another: the system has to clear fresh memory, which takes time."""

    def __init__(self) -> None:
        self._values: Float32Array = np.empty(0, FEATURE_DTYPE)

    def room(self, n_rows: int, n_columns: int, bytes_per_row: float) -> Float32Array:  # noqa: ARG002
        """Rows to fill; they still hold the block before."""
        if len(self._values) < n_rows * n_columns:
            self._values = np.empty(0, FEATURE_DTYPE)  # the old memory makes room for the new
            self._values = _empty(n_rows, n_columns).reshape(-1)
        return self._values[: n_rows * n_columns].reshape(n_rows, n_columns)


def fresh_room(n_rows: int, n_columns: int, bytes_per_row: float) -> Float32Array:  # noqa: ARG001
    """New memory for each block."""
    return _empty(n_rows, n_columns)


def _empty(n_rows: int, n_columns: int) -> Float32Array:
    """Room for features, where there is memory for them."""
    require_memory(_bytes_of(n_rows, n_columns), f"the matrix of {n_rows:,} documents and {n_columns:,} features")
    return np.empty((n_rows, n_columns), FEATURE_DTYPE)


def _bytes_of(n_rows: int, n_columns: int) -> int:
    return n_rows * n_columns * FEATURE_DTYPE().itemsize
