"""ListNet's cost: cross entropy between the top-one probabilities that labels give and those that scores give."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.linear.rows import JudgedRows
from rankwright.objectives.listwise import Softmax


class TopOneCost:
    """The mean over queries of their cross entropies."""

    def __init__(self, rows: JudgedRows, *, threads: int) -> None:
        self.groups = rows.groups
        weights = rows.document_weights.astype(np.float32) if len(rows.document_weights) else None
        judged = RankingDataset(
            features=np.empty((len(rows.labels), 0), np.float32),
            labels=rows.labels,
            groups=rows.groups,
            document_weights=weights,
            query_weights=rows.query_weights.astype(np.float32),
        )
        self.lambda_fn = Softmax().bind(judged, threads=threads, dtype=np.float64)
        self.scale = 1.0 / max(1, rows.groups.n_queries)
        self.query_weights = np.repeat(rows.query_weights, rows.groups.sizes)
        self.shares = self._shares(rows)
        self._seen: tuple[Float64Array, Float64Array] | None = None  # scores, and their probabilities

    def _shares(self, rows: JudgedRows) -> Float64Array:
        """The probabilities that labels give: taken from the objective at equal scores, which have no effect there."""
        sizes = np.repeat(self.groups.sizes, self.groups.sizes)
        uniform = self.lambda_fn(np.zeros(len(rows.labels))).gradient
        return 1.0 / sizes - self._per_weight(uniform)

    def _per_weight(self, forces: Float64Array) -> Float64Array:
        return np.divide(forces, self.query_weights, out=np.zeros_like(forces), where=self.query_weights > 0)

    def evaluate(self, scores: Float64Array) -> tuple[float, Float64Array]:
        """The cost and its derivatives."""
        lambdas = self.lambda_fn(scores)
        return self.scale * float(lambdas.cost.sum()), self.scale * lambdas.gradient

    def curve(self, scores: Float64Array, direction: Float64Array) -> Float64Array:
        """The product of the second derivatives with `direction`: weight · (p ∘ d - p · (p·d)) for each query."""
        if self._seen is None or self._seen[0] is not scores:
            # The gradient is weight · (probability - share).
            self._seen = scores, self._per_weight(self.lambda_fn(scores).gradient) + self.shares
        probability = self._seen[1]
        along = probability * direction
        total = np.bincount(self.groups.query_of_row, weights=along, minlength=self.groups.n_queries)
        return self.scale * self.query_weights * (along - probability * np.repeat(total, self.groups.sizes))
