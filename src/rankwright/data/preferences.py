"""Pairs of documents of which one should rank above the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, IntArray, as_vector
from rankwright.data.groups import Groups
from rankwright.errors import InputError


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Preferences:
    """Pairs of rows of one query with a target probability that `better` ranks higher (RankNet's P̄).

    They may be incomplete and inconsistent. Where a dataset has them they replace the pairs made from labels.
    A single probability or weight stands for every pair.
    """

    better: IntArray
    worse: IntArray
    probability: Float32Array
    weight: Float32Array

    def __init__(
        self, better: ArrayLike, worse: ArrayLike, probability: ArrayLike = 1.0, weight: ArrayLike = 1.0
    ) -> None:
        rows = as_vector(better, name="better", dtype=np.int64)
        object.__setattr__(self, "better", rows)
        object.__setattr__(self, "worse", as_vector(worse, name="worse", dtype=np.int64, length=len(rows)))
        for name, values in (("probability", probability), ("weight", weight)):
            every = np.full(len(rows), values) if np.ndim(values) == 0 else values
            object.__setattr__(self, name, as_vector(every, name=name, dtype=np.float32, length=len(rows)))
        if not ((self.probability >= 0) & (self.probability <= 1)).all():
            raise InputError("a pair's probability must lie between 0 and 1")
        if not ((self.weight >= 0) & np.isfinite(self.weight)).all():
            raise InputError("a pair's weight must be 0 or more, and finite")

    @classmethod
    def from_votes(cls, first: ArrayLike, second: ArrayLike, wins: ArrayLike, losses: ArrayLike) -> Preferences:
        """Pairs that people voted on: the target is the share of votes for `first`, the weight the number of votes."""
        counts = [as_vector(votes, name="votes", dtype=np.float64) for votes in (wins, losses)]
        if len(counts[0]) != len(counts[1]) or not all((votes >= 0).all() for votes in counts):
            raise InputError("wins and losses must be numbers of votes, 0 or more, one of each a pair")
        total = counts[0] + counts[1]
        share = np.divide(counts[0], total, out=np.full(len(total), 0.5), where=total > 0)
        return cls(first, second, share, total)

    def __len__(self) -> int:
        return len(self.better)

    def check(self, groups: Groups) -> None:
        """Raise unless every pair lies within one query of `groups` and joins two different rows."""
        self._check_rows(groups.n_docs)
        query_of_row = groups.query_of_row
        if (query_of_row[self.better] != query_of_row[self.worse]).any():
            pair = int(np.flatnonzero(query_of_row[self.better] != query_of_row[self.worse])[0])
            raise InputError(
                f"preference {pair} joins rows {self.better[pair]} and {self.worse[pair]} of different queries; "
                f"both must belong to one"
            )
        if (self.better == self.worse).any():
            raise InputError(f"preference {int(np.flatnonzero(self.better == self.worse)[0])} joins a row to itself")

    def moved(self, new_row_of: IntArray) -> Preferences:
        """The pairs whose two rows still exist, with row r now at `new_row_of[r]`; -1 marks a row that is gone."""
        self._check_rows(len(new_row_of))
        better, worse = new_row_of[self.better], new_row_of[self.worse]
        kept = (better >= 0) & (worse >= 0)
        return Preferences(better[kept], worse[kept], self.probability[kept], self.weight[kept])

    def _check_rows(self, n_docs: int) -> None:
        outside = (np.minimum(self.better, self.worse) < 0) | (np.maximum(self.better, self.worse) >= n_docs)
        if outside.any():
            pair = int(np.flatnonzero(outside)[0])
            rows = f"{self.better[pair]} and {self.worse[pair]}"
            raise InputError(f"preference {pair} joins rows {rows}: a row outside 0 to {n_docs - 1}")
