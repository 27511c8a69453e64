"""Pairs of documents of which one should rank above the other."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, IntArray, as_vector
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require


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


def pairs_from_labels(
    labels: Float32Array, groups: Groups, *, ties: float | None = None, certainty: float = inf
) -> Preferences:
    """Every pair of judged documents of a query, the one with the higher label first.

    The target is logistic(certainty · label difference), 1 where `certainty` is infinite. Documents of equal labels
    pair where `ties` is given: it is the target probability that the one that comes first in the data ranks higher.
    """
    require(ties is None or 0 <= ties <= 1, f"ties must be a probability, or None to leave them out, got {ties}")
    require(certainty > 0, f"certainty must be above 0, got {certainty}")
    better, worse = [], []
    for docs in groups.slices():
        own = labels[docs]
        first, second = np.triu_indices(len(own), k=1)
        difference = own[first] - own[second]
        kept = ~np.isnan(difference) if ties is not None else np.abs(difference) > 0
        first, second, falls = first[kept], second[kept], difference[kept] >= 0
        better.append(docs.start + np.where(falls, first, second))
        worse.append(docs.start + np.where(falls, second, first))
    above, below = (np.concatenate([np.empty(0, np.int64), *rows]) for rows in (better, worse))
    difference = (labels[above] - labels[below]).astype(np.float64)
    target = np.ones(len(above)) if certainty == inf else 1.0 / (1.0 + np.exp(-certainty * difference))
    return Preferences(above, below, np.where(difference == 0, 0.5 if ties is None else ties, target))
