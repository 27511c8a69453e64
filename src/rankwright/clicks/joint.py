"""Relevance and examination learned together from clicks and features.

A document's click rate is the examination of its position times its relevance, and relevance is what features tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array, IntArray
from rankwright.errors import InputError
from rankwright.objectives.objective import (
    GRADIENT_DTYPE,
    Judged,
    LambdaFn,
    Lambdas,
    batch_of,
    finite_scores,
    judged_labels,
)

LARGEST_SCORE = 20.0  # of the logarithm of relevance: beyond it, exponentials lose their meaning


@dataclass(frozen=True, slots=True)
class PositionBasedClicks:
    """An objective: click rates are the examination of a position times e^score, with Poisson noise.

    For given scores, the examination of a position that fits best is the clicks there over the sum of e^score there; so
    examination needs no steps of its own, and the objective keeps no state. The dataset must have positions.
    """

    name: ClassVar[str] = "position-based-clicks"

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:  # noqa: ARG002
        """Return the λ-function of a dataset's clicks; see `Objective.bind`."""
        documents: Any = getattr(dataset, "documents", dataset)  # a binned dataset's, without features
        if documents.positions is None:
            raise InputError(f"{self.name} needs the positions at which documents were shown")
        clicks = judged_labels(dataset, self.name).astype(np.float64)
        weights = np.ones(len(clicks)) if dataset.document_weights is None else dataset.document_weights
        return _BoundClicks(dataset, clicks, weights.astype(np.float64), documents.positions, dtype)


@dataclass(frozen=True, slots=True, eq=False)
class _BoundClicks:
    data: Judged
    clicks: Float64Array
    weights: Float64Array
    positions: IntArray
    dtype: type[np.floating[Any]]

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:  # noqa: ARG002
        """Return the forces on documents; see `LambdaFn`."""
        chosen, starts = batch_of(self.data.groups, queries)
        rows = slice(None) if queries is None else self.data.groups.rows_of(chosen)
        relevance = relevance_of(finite_scores(scores, length=int(starts[-1])))
        clicks, positions = self.clicks[rows], self.positions[rows]
        weights = np.where(np.isnan(clicks), 0.0, self.weights[rows])
        clicks = np.nan_to_num(clicks)
        expected = fitted_examination(clicks, relevance, positions, weights)[positions] * relevance
        return Lambdas(
            (weights * (expected - clicks)).astype(self.dtype),
            (weights * expected).astype(self.dtype),
            np.full(len(chosen), np.nan),
        )


def relevance_of(scores: Float64Array) -> Float64Array:
    """Relevance, up to a factor, by the scores of a model that was trained for `PositionBasedClicks`."""
    return np.exp(np.clip(scores, -LARGEST_SCORE, LARGEST_SCORE))


def fitted_examination(
    clicks: Float64Array, relevance: Float64Array, positions: IntArray, weights: Float64Array
) -> Float64Array:
    """The examination of each position that fits clicks best, for given relevance: clicks over relevance."""
    n = int(positions.max(initial=0)) + 1
    found = np.bincount(positions, weights=weights * clicks, minlength=n)
    could = np.bincount(positions, weights=weights * relevance, minlength=n)
    return found / np.maximum(could, 1e-12)
