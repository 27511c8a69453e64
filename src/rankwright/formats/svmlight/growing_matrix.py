"""A feature matrix whose rows arrive in blocks, and whose size and width are known only when all have come."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import FEATURE_DTYPE, Float32Array

LARGEST_GUESS = 64 << 20  # bytes of a piece whose rows were not foreseen: what `finish` holds twice


@dataclass(slots=True)
class _Chunk:
    """Room for rows of one width, filled from the top."""

    values: Float32Array
    n_rows: int = 0


class GrowingMatrix:
    """Rows kept where they were written: in one piece where their number was foreseen, else in a few.

    Room that is never written costs address space only, so it is asked for generously. Putting the pieces together
    frees each one as soon as it is copied: memory never holds the whole matrix twice.
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self._chunks: list[_Chunk] = []

    def room(self, n_rows: int, n_columns: int, expected_rows: int) -> Float32Array:
        """Unset rows to fill, kept by `keep`; `expected_rows` is a guess at all rows still to come."""
        chunk = self._chunks[-1] if self._chunks else None
        if chunk is None or chunk.values.shape[1] != n_columns or len(chunk.values) - chunk.n_rows < n_rows:
            as_many_again = min(self.n_rows, LARGEST_GUESS // (FEATURE_DTYPE().itemsize * max(n_columns, 1)))
            capacity = max(n_rows, expected_rows, as_many_again)
            chunk = _Chunk(np.empty((capacity, n_columns), FEATURE_DTYPE))
            self._chunks.append(chunk)
        return chunk.values[chunk.n_rows : chunk.n_rows + n_rows]

    def keep(self, n_rows: int) -> None:
        """Keep the rows that were last given out."""
        self._chunks[-1].n_rows += n_rows
        self.n_rows += n_rows

    def finish(self, n_columns: int, absent: float) -> Float32Array:
        """The matrix of all rows; columns that a row had no room for are `absent`. The pieces are given up."""
        chunks = [chunk for chunk in self._chunks if chunk.n_rows]
        self._chunks = []
        if len(chunks) == 1 and chunks[0].values.shape[1] == n_columns:
            return chunks[0].values[: chunks[0].n_rows]
        matrix = np.empty((self.n_rows, n_columns), FEATURE_DTYPE)
        stop = self.n_rows
        while chunks:  # from the end, so that popping frees the piece just copied
            chunk = chunks.pop()
            start, width = stop - chunk.n_rows, chunk.values.shape[1]
            matrix[start:stop, :width] = chunk.values[: chunk.n_rows]
            matrix[start:stop, width:] = absent
            stop = start
        return matrix


def memory_of_machine() -> int:
    """The bytes of physical memory."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
