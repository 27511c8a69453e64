"""Shards divided among workers: each gets whole queries, one after another, and about as many documents.

Parquet files are divided between any two queries, from an index of their query ids. Text cannot be entered in the
middle: whole files are given out, by their size.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.formats.data_file import DataFile
from rankwright.formats.shards import ShardIndex, ShardRows, Shards
from rankwright.formats.storage.places import size_of


@dataclass(frozen=True, slots=True)
class ShardPart:
    """Some of the rows of shards, by file: from `start` up to `stop`, or the whole file where that is None."""

    rows: tuple[tuple[str, int, int | None], ...]
    format: str | None
    options: Mapping[str, Any] = field(default_factory=dict)

    def file(self, **defaults: Any) -> DataFile | None:
        """What reads like a file of these rows, None where there are none; `defaults` are options of `read`."""
        if not self.rows:
            return None
        if self.format != "parquet":
            return DataFile([path for path, _, _ in self.rows], format=self.format, **self.options).with_defaults(
                **defaults
            )
        options = {name: value for name, value in defaults.items() if name in ("features",)} | dict(self.options)
        return ShardRows({path: np.arange(start, stop) for path, start, stop in self.rows}, options)


def divided_shards(shards: Shards, index: ShardIndex | None, n_parts: int) -> list[ShardPart]:
    """So many parts of the shards, in their order; there may be empty ones."""
    if index is None:
        sizes = np.array([size_of(path) for path in shards.paths], np.int64)
        bounds = _bounds(sizes, n_parts)
        whole = [(path, 0, None) for path in shards.paths]
        return [
            ShardPart(tuple(whole[begin:end]), shards.format, shards.options)
            for begin, end in itertools.pairwise(bounds)
        ]
    bounds = query_bounds(index, n_parts)
    return [
        ShardPart(_ranges(index, begin, end), "parquet", shards.options) for begin, end in itertools.pairwise(bounds)
    ]


def query_bounds(index: ShardIndex, n_parts: int) -> list[int]:
    """The first query of each part, and the number of all."""
    return _bounds(index.groups.sizes, n_parts)


def _bounds(sizes: IntArray, n_parts: int) -> list[int]:
    """Where runs of about the same size begin, and the end."""
    middles = np.cumsum(sizes) - sizes / 2
    shares = np.arange(n_parts + 1) * (int(sizes.sum()) / n_parts)
    bounds = np.searchsorted(middles, shares)
    bounds[-1] = len(sizes)
    return [int(bound) for bound in bounds]


def _ranges(index: ShardIndex, begin: int, end: int) -> tuple[tuple[str, int, int | None], ...]:
    """The rows of the queries from `begin` up to `end`, by file."""
    offsets, found = index.groups.offsets, []
    firsts: Sequence[int] = index.first_queries.tolist()
    for path, first, last in zip(index.paths, firsts[:-1], firsts[1:], strict=True):
        low, high = max(first, begin), min(last, end)
        if low < high:
            before = int(offsets[first])
            found.append((path, int(offsets[low]) - before, int(offsets[high]) - before))
    return tuple(found)
