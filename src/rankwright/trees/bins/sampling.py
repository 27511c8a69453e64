"""A sample of rows that does not depend on the order of the data, nor on how it arrives.

Each row has a fixed random priority, made from the seed, the features of its query's documents and its own place among
these, and the rows with the lowest priorities are the sample. So rows read in chunks of any size give the same sample
as the whole matrix, and the samples of parts that keep queries whole can be merged into that of all.
"""

from __future__ import annotations

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, IntArray, Uint64Array, as_features
from rankwright.data.groups import Groups
from rankwright.data.keys import query_sums, row_hashes, widened
from rankwright.errors import InputError, require
from rankwright.formats.blocks import Rows
from rankwright.kernels.naive.common import mix, stream_of
from rankwright.memory import require_memory

SAMPLE_SIZE = 200_000  # rows: enough to place 255 bins within a small part of their width
SURPLUS = 0.25  # held beyond the sample before it is cut down: less memory, or less moving of rows
ROWS_MOVED_AT_ONCE = 1024
HIGHEST_PRIORITY = 2**64 - 1
SPARE = 0.05  # by how much the lowest priorities of all rows may be more or fewer than expected


def highest_of_sample(size: int, n_rows: int) -> int:
    """A priority that the sample of so many rows hardly ever reaches: they are spread evenly over all numbers."""
    return min(HIGHEST_PRIORITY, int(HIGHEST_PRIORITY * ((1 + SPARE) * size / max(n_rows, 1))))


def row_priorities(hashes: Uint64Array, groups: Groups, seed: int) -> Uint64Array:
    """A random number for each row, given the hashes of the rows' features."""
    rows = np.empty(groups.n_docs, np.int64)
    kernels.order_by_key(hashes, hashes, groups.offsets, np.arange(groups.n_queries), rows, 1)
    place = np.empty(groups.n_docs, np.int64)
    place[rows] = np.arange(groups.n_docs) - np.repeat(groups.offsets[:-1], groups.sizes)
    of_queries = stream_of(seed & (2**64 - 1), query_sums(mix(hashes), groups))
    return stream_of(np.repeat(of_queries, groups.sizes), place)


def lowest(priorities: Uint64Array, size: int) -> IntArray:
    """The rows with the lowest priorities, in ascending order: all of them where there are no more than `size`."""
    if len(priorities) <= size:
        return np.arange(len(priorities))
    return np.sort(np.argpartition(priorities, size)[:size])


def sample_rows(hashes: Uint64Array, groups: Groups, size: int, seed: int) -> IntArray:
    """The sample's rows in ascending order."""
    require(size >= 1, f"sample_size must be 1 or more, got {size}")
    if groups.n_docs <= size:
        return np.arange(groups.n_docs)
    return lowest(row_priorities(hashes, groups, seed), size)


class RowSample:
    """Collects the sample of rows that come in blocks, in memory for little more than the sample.

    A block may be wider than those before it: their rows get `absent` in the new columns. Where the file names no
    queries, or new columns are missing values, priorities are not known before the end: `is_known` is False, and the
    sample is right only if it has every row. Where these rows are a part of more, those above the priority
    `highest` are known to be in nobody's sample.
    """

    def __init__(
        self, size: int = SAMPLE_SIZE, seed: int = 0, absent: float = 0.0, highest: int = HIGHEST_PRIORITY
    ) -> None:
        require(size >= 1, f"sample_size must be 1 or more, got {size}")
        self.size, self.seed, self.absent = size, seed, absent
        self.is_known = True
        self._hashes: list[tuple[Uint64Array, int]] = []  # of each block's rows, and the block's width
        self._pending: list[tuple[Float32Array, Uint64Array]] = []  # the rows so far of a query that may go on
        self._last_query: str | None = None
        self._n_held = 0
        self._rows: Float32Array | None = None  # those held, and room for more
        self._priorities = np.empty(0, np.uint64)
        self._highest = np.uint64(highest)  # a row above it is surely not in the sample

    @property
    def n_rows(self) -> int:
        """How many rows were seen so far."""
        return sum(len(hashes) for hashes, _ in self._hashes)

    @property
    def width(self) -> int:
        """How many columns the widest block had."""
        return self._hashes[-1][1]

    def add(self, rows: Rows) -> None:
        """Take in the rows that follow those seen so far."""
        features = as_features(rows.features)
        if self._rows is not None and features.shape[1] < self._rows.shape[1]:
            raise InputError(f"chunks must have {self._rows.shape[1]} columns or more, got {features.shape[1]}")
        hashes = row_hashes(features)
        wider = bool(self._hashes) and features.shape[1] > self._hashes[-1][1]
        self._hashes.append((hashes, features.shape[1]))
        ids, sizes, _ = rows.runs
        if ids is None or not self.is_known or (wider and self.absent != 0):
            self._hold_unknown(features, hashes)
            return
        goes_on = self._last_query == str(ids[0])
        self._last_query = str(ids[-1])
        if not goes_on:
            self._close()
        ends = np.cumsum(sizes)
        first_end, last_start = int(ends[0]), int(ends[-1] - sizes[-1])
        if len(sizes) == 1:
            self._pending.append((features.copy(), hashes))
            return
        if goes_on:
            self._pending.append((features[:first_end].copy(), hashes[:first_end]))
            self._close()
            inner, inner_sizes = slice(first_end, last_start), sizes[1:-1]
        else:
            inner, inner_sizes = slice(0, last_start), sizes[:-1]
        self._hold(features[inner], hashes[inner], inner_sizes)
        self._pending.append((features[last_start:].copy(), hashes[last_start:]))

    def features(self) -> Float32Array:
        """The values of the sample's rows, in the order in which they came."""
        return self.with_priorities()[0]

    def with_priorities(self) -> tuple[Float32Array, Uint64Array]:
        """The values and the priorities of the sample's rows."""
        self._close()
        if self._rows is None:
            raise InputError("no rows to sample: add a chunk first")
        self._drop_surplus()
        return self._rows[: self._n_held], self._priorities[: self._n_held]

    def hashes(self) -> Uint64Array:
        """The hash of the features of each row seen, as wide as the widest."""
        width = self.width
        parts = [hashes if own == width else widened(hashes, own, width, self.absent) for hashes, own in self._hashes]
        return np.concatenate(parts)

    def _hold_unknown(self, features: Float32Array, hashes: Uint64Array) -> None:
        """Hold rows while all fit into the sample, since their priorities are not known."""
        self._close()
        self.is_known = False
        if self.n_rows <= self.size:
            self._hold(features, hashes, np.array([len(features)]))

    def _close(self) -> None:
        """Hold the rows of the query that has just ended."""
        if not self._pending:
            return
        width = self._pending[-1][0].shape[1]
        parts, self._pending = self._pending, []
        features = np.full((sum(len(part) for part, _ in parts), width), self.absent, np.float32)
        hashes, start = [], 0
        for part, own in parts:
            features[start : start + len(part), : part.shape[1]] = part
            hashes.append(own if part.shape[1] == width else widened(own, part.shape[1], width, self.absent))
            start += len(part)
        self._hold(features, np.concatenate(hashes), np.array([len(features)]))

    def _hold(self, features: Float32Array, hashes: Uint64Array, sizes: IntArray) -> None:
        """Hold rows of whole queries that may be in the sample."""
        priorities = row_priorities(hashes, Groups.of_sizes(sizes), self.seed)
        start = 0
        while start < len(features):
            start += self._hold_some(features[start:], priorities[start:])

    def _hold_some(self, features: Float32Array, priorities: Uint64Array) -> int:
        """Hold rows while there is room; returns how many rows were looked at."""
        chosen = np.flatnonzero(priorities <= self._highest)
        self._make_room(len(chosen), features.shape[1])
        assert self._rows is not None
        room = len(self._rows) - self._n_held
        fits = chosen[:room]
        held = self._rows[self._n_held : self._n_held + len(fits)]
        features.take(fits, axis=0, out=held, mode="clip")  # no copy of its own
        self._priorities[self._n_held : self._n_held + len(fits)] = priorities[fits]
        self._n_held += len(fits)
        if len(chosen) <= room:
            return len(features)
        self._drop_surplus()
        return int(fits[-1]) + 1 if len(fits) else 0

    def _drop_surplus(self) -> None:
        if self._n_held <= self.size:
            return
        assert self._rows is not None
        kept = lowest(self._priorities[: self._n_held], self.size)
        # Rows move towards the beginning, a few at a time, so that none is overwritten before it has moved.
        for start in range(0, self.size, ROWS_MOVED_AT_ONCE):
            moved = kept[start : start + ROWS_MOVED_AT_ONCE]
            self._rows[start : start + len(moved)] = self._rows[moved]
        self._priorities[: self.size] = self._priorities[kept]
        self._n_held = self.size
        self._highest = self._priorities[: self.size].max()

    def _make_room(self, n_more: int, n_columns: int) -> None:
        """Room for more rows of so many columns, up to a little more than the sample."""
        most = self.size + max(1, int(SURPLUS * self.size))
        wanted = min(most, self._n_held + n_more)
        if self._rows is not None and len(self._rows) >= wanted and self._rows.shape[1] == n_columns:
            return
        n_before = 0 if self._rows is None else len(self._rows)
        capacity = n_before if n_before >= wanted else min(most, max(wanted, 2 * n_before))
        require_memory(4 * capacity * n_columns, f"the sample of {capacity:,} documents and {n_columns:,} features")
        rows, priorities = np.empty((capacity, n_columns), np.float32), np.empty(capacity, np.uint64)
        if self._rows is not None:
            width = self._rows.shape[1]
            rows[: self._n_held, :width] = self._rows[: self._n_held]
            rows[: self._n_held, width:] = self.absent
            priorities[: self._n_held] = self._priorities[: self._n_held]
        self._rows, self._priorities = rows, priorities
