"""Pairs of documents of which one should rank above the other, as given or made from labels."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import BoolArray, Float32Array, IntArray, as_vector
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Preferences:
    """Pairs of rows of one query, of which the first should rank above the second.

    Each pair has a target probability that it does (RankNet's P̄) and a weight. Pairs need not be complete, and they
    may contradict each other. Where a dataset has preferences, they replace the pairs made from labels.

    Parameters
    ----------
    better : array-like of int, shape (n_pairs,)
        The row of each pair that should rank higher.
    worse : array-like of int, shape (n_pairs,)
        The other row of each pair.
    probability : float or array-like, default 1.0
        The probability, from 0 to 1, that `better` ranks above `worse`: one for all pairs, or one for each.
    weight : float or array-like, default 1.0
        How much a pair counts, finite and 0 or more: one for all pairs, or one for each.

    Examples
    --------
    >>> import rankwright as rw
    >>> pairs = rw.Preferences([0, 2], [1, 1], probability=0.9)
    >>> len(pairs), pairs.weight.tolist()
    (2, [1.0, 1.0])
    >>> data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], group=[3], preferences=pairs)
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
        """Raise an error unless every pair lies within one query and joins two different rows.

        Parameters
        ----------
        groups : Groups
            The queries of the rows.

        Raises
        ------
        InputError
            Where a pair joins rows of different queries, a row to itself, or a row that does not exist.
        """
        self._check_rows(groups.n_docs)
        apart = np.flatnonzero(groups.query_of_row[self.better] != groups.query_of_row[self.worse])
        if len(apart):
            rows = f"rows {self.better[apart[0]]} and {self.worse[apart[0]]} of different queries"
            raise InputError(f"preference {apart[0]} joins {rows}; both must belong to one")
        if (self.better == self.worse).any():
            raise InputError(f"preference {int(np.flatnonzero(self.better == self.worse)[0])} joins a row to itself")

    def moved(self, new_row_of: IntArray) -> Preferences:
        """The pairs after rows were moved or removed.

        Parameters
        ----------
        new_row_of : array of int64
            The new place of each row, -1 where the row is gone.

        Returns
        -------
        Preferences
            The pairs whose two rows still exist, at their new places.
        """
        self._check_rows(len(new_row_of))
        better, worse = new_row_of[self.better], new_row_of[self.worse]
        kept = (better >= 0) & (worse >= 0)
        return Preferences(better[kept], worse[kept], self.probability[kept], self.weight[kept])

    def sorted(self) -> Preferences:
        """The same pairs in the order of their rows, whatever order they were given in.

        Returns
        -------
        Preferences
            The pairs, by better row, then by worse row, probability and weight.
        """
        order = np.lexsort((self.weight, self.probability, self.worse, self.better))
        return Preferences(self.better[order], self.worse[order], self.probability[order], self.weight[order])

    def _check_rows(self, n_docs: int) -> None:
        outside = (np.minimum(self.better, self.worse) < 0) | (np.maximum(self.better, self.worse) >= n_docs)
        if outside.any():
            pair = int(np.flatnonzero(outside)[0])
            rows = f"{self.better[pair]} and {self.worse[pair]}"
            raise InputError(f"preference {pair} joins rows {rows}: a row outside 0 to {n_docs - 1}")


def pairs_from_labels(
    labels: Float32Array, groups: Groups, *, ties: float | None = None, certainty: float = inf
) -> Preferences:
    """The pairs that labels imply: all pairs of judged documents of a query, the one with the higher label first.

    The target is logistic(certainty · label difference), 1 where `certainty` is infinite. Documents with equal labels
    form pairs only where `ties` is given: it is the target probability that the one that comes first in the data ranks
    higher.
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


def tells_apart(labels: Float32Array, groups: Groups) -> BoolArray:
    """For each query, whether two of its judged documents have different labels; no order is learned from others."""
    judged = ~np.isnan(labels)
    query = groups.query_of_row[judged]
    low, high = np.full(groups.n_queries, np.inf), np.full(groups.n_queries, -np.inf)
    np.minimum.at(low, query, labels[judged])
    np.maximum.at(high, query, labels[judged])
    return high > low
