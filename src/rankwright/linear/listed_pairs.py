"""RankSVM's cost of preferences: how far the two documents of each listed pair are from a distance of 1, squared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset


@dataclass(frozen=True, slots=True, eq=False)
class SquaredListedPairs:
    """C times the sum over pairs of weight · max(0, 1 - difference of scores)²."""

    better: IntArray
    worse: IntArray
    weights: Float64Array
    C: float

    def evaluate(self, scores: Float64Array) -> tuple[float, Float64Array]:
        """The cost and its derivatives."""
        missing = self._missing(scores)
        pulls = 2.0 * self.C * self.weights * missing
        return self.C * float((self.weights * missing**2).sum()), -self._spread(pulls, len(scores))

    def curve(self, scores: Float64Array, direction: Float64Array) -> Float64Array:
        """The product of the second derivatives, of active pairs alone, with `direction`."""
        active = self.weights * (self._missing(scores) > 0)
        apart = direction[self.better] - direction[self.worse]
        return self._spread(2.0 * self.C * active * apart, len(scores))

    def _missing(self, scores: Float64Array) -> Float64Array:
        return np.maximum(1.0 - (scores[self.better] - scores[self.worse]), 0.0)

    def _spread(self, values: Float64Array, n_docs: int) -> Float64Array:
        """Values of pairs, added up on better documents and taken from worse ones."""
        up, down = (np.bincount(rows, values, minlength=n_docs) for rows in (self.better, self.worse))
        return up - down


def listed_pairs(data: RankingDataset, C: float, *, per_query: bool) -> SquaredListedPairs:
    """The preferences of the data, each both ways: as much as it is likely the one way, and the other way the rest.

    With `per_query` the pairs of a query share its weight, otherwise each of them has it.
    """
    pairs = data.preferences
    assert pairs is not None
    better, worse = np.concatenate([pairs.better, pairs.worse]), np.concatenate([pairs.worse, pairs.better])
    likely = pairs.probability.astype(np.float64)
    weights = np.concatenate([likely, 1 - likely]) * np.tile(pairs.weight.astype(np.float64), 2)
    if data.document_weights is not None:
        weights *= data.document_weights[better].astype(np.float64) * data.document_weights[worse]
    query = data.groups.query_of_row[better]
    factors = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(np.float64)
    if per_query:
        total = np.bincount(query, weights, minlength=data.n_queries)
        factors = np.divide(factors, total, out=np.zeros_like(factors), where=total > 0)
    weights *= factors[query]
    used = weights > 0
    return SquaredListedPairs(better[used], worse[used], weights[used], C)
