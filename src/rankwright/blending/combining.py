"""How scores of several rankers become one score: made comparable first, query by query or once for all.

A matrix of scores has a row for each document and a column for each ranker, which lies in one piece in memory. Nothing
depends on the order of a query's documents: sums run over sorted scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.blending.settings import Combine, Comparable
from rankwright.data.groups import Groups
from rankwright.errors import require
from rankwright.ranking.fusion import BY_SCORES, Fusion, fused_scores

OF_MEANS = ("z-score", "rank", "calibrated")  # what `scores` may be for the mean
OF_SUMS = ("min-max", "z-score")  # the same for the fusions by scores


@dataclass(frozen=True, slots=True)
class Combining:
    """A way of combining scores; `scores` says how they are made comparable, None for methods that look at ranks."""

    combine: Combine
    scores: Comparable | None

    @classmethod
    def of(cls, combine: Combine | None, scores: Comparable | None) -> Combining:
        """The way that settings name."""
        combine = combine or "mean"
        allowed = OF_MEANS if combine == "mean" else OF_SUMS if combine in BY_SCORES else ()
        if scores is None:
            return cls(combine, allowed[0] if allowed else None)  # type: ignore[arg-type]  # they are names of that type
        wanted = f"scores may be {' or '.join(allowed)} with it" if allowed else "it looks at ranks: leave scores out"
        require(scores in allowed, f"combine={combine} does not take scores={scores}; {wanted}")
        return cls(combine, scores)

    @property
    def is_sum(self) -> bool:
        """Whether the score is a sum of scores that each document has on its own."""
        return self.scores == "calibrated"

    @property
    def adds_up(self) -> bool:
        """Whether, within a list, the score is a sum of the rankers' scores, each times a number."""
        return self.is_sum or (self.combine == "mean" and self.scores == "z-score")

    def combined(self, matrix: Float64Array, groups: Groups, weights: Float64Array) -> Float64Array:
        """The score of each document; weights of `calibrated` scores have their factors in them."""
        if self.combine == "mean" and self.scores == "z-score":
            matrix = ListSpread.of(matrix, groups).z_scores(matrix, groups)
        elif self.scores != "calibrated":
            method = "borda" if self.combine == "mean" else self.combine
            normalisation = self.scores if method in BY_SCORES else None
            return fused_scores(matrix, groups, weights, Fusion(method, normalisation))
        found = np.zeros(len(matrix))
        for column, weight in zip(matrix.T, weights.tolist(), strict=True):  # one after another: the same bits anywhere
            found += weight * column
        return found


@dataclass(frozen=True, slots=True, eq=False)
class ListSpread:
    """The mean and the deviation of each ranker's scores in each query's list; 0 where all scores are equal."""

    mean: Float64Array  # (queries, rankers)
    deviation: Float64Array

    @classmethod
    def of(cls, matrix: Float64Array, groups: Groups) -> ListSpread:
        """The spread of scores in the lists; queries without documents have none."""
        mean, deviation = (np.zeros((groups.n_queries, matrix.shape[1])) for _ in range(2))
        filled = np.flatnonzero(groups.sizes)
        if len(filled) == 0:
            return cls(mean, deviation)
        # Sums are of sorted scores, so that the order of documents does not matter.
        if groups.n_queries == 1:
            ordered = np.sort(matrix, axis=0)
        else:
            query, ordered = groups.query_of_row, np.empty_like(matrix)
            for place, column in enumerate(matrix.T):
                ordered[:, place] = column[np.lexsort((column, query))]
        starts, counts = groups.offsets[:-1][filled], groups.sizes[filled][:, None]
        own = np.add.reduceat(ordered, starts, axis=0) / counts
        apart = ordered - (own if groups.n_queries == 1 else np.repeat(own, counts[:, 0], axis=0))
        variance = np.add.reduceat(apart * apart, starts, axis=0) / counts
        is_even = ordered[starts] == ordered[starts + counts[:, 0] - 1]
        variance[is_even] = 0
        mean[filled], deviation[filled] = own, np.sqrt(variance)
        return cls(mean, deviation)

    @property
    def factor(self) -> Float64Array:
        """What scores, less their mean, are multiplied by."""
        return np.divide(1.0, self.deviation, out=np.zeros_like(self.deviation), where=self.deviation > SMALLEST)

    def z_scores(self, matrix: Float64Array, groups: Groups) -> Float64Array:
        """Each score less its list's mean, in units of the deviation; 0 where all scores are equal."""
        if groups.n_queries == 1:
            return np.asarray((matrix - self.mean) * self.factor)
        query = groups.query_of_row
        return np.asarray((matrix - self.mean[query]) * self.factor[query])


SMALLEST = 1e-300  # a deviation below it has no inverse


def slopes(matrix: Float64Array, labels: Float64Array, groups: Groups) -> Float64Array:
    """What a point of each ranker's scores is worth in labels: least squares within queries, 0 or more.

    Unjudged documents are left out.
    """
    judged = ~np.isnan(labels)
    query = groups.query_of_row[judged]
    counts = np.bincount(query, minlength=groups.n_queries)

    def centred(values: Float64Array) -> Float64Array:
        means = np.bincount(query, values, minlength=groups.n_queries) / np.maximum(counts, 1)
        return np.asarray(values - means[query])

    wanted = centred(labels[judged])
    found = []
    for column in matrix[judged].T:
        apart = centred(column)
        size = float(apart @ apart)
        found.append(max(0.0, float(apart @ wanted) / size) if size > 0 else 0.0)
    return np.array(found) if any(found) else np.ones(len(found))
