"""Relevance and examination learned together from clicks and features.

A document's click rate is how likely it is examined times its relevance, and relevance is what features tell. How
likely a document is examined depends on its position and on the clicks above it: users who found what they looked for
leave. `above` are those clicks, per list shown, counted in two ways: all of them, as users of the cascade model leave
after any click; and those that satisfy, as users of the dynamic Bayesian network do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.groups import Groups
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
FADINGS = (0.0, 0.25, 0.5, 0.75, 1.0)  # tried first; 0 is the position-based model, 1 the cascade model
LEAST_LEFT = 0.02  # of the attention: however much was clicked above, somebody may look further


class Examination(NamedTuple):
    """How likely documents are examined.

    Attributes
    ----------
    curve : array of float64
        The chance of each position where nothing was clicked above; up to a factor if relevance is.
    fading : float
        The share of the attention that a click above takes away: 0 in the position-based model, 1 in the cascade model.
    leaving : int
        Which clicks above take it away: 0 for all, 1 for those that satisfy (rows of `clicks_above`).
    """

    curve: Float64Array
    fading: float
    leaving: int = 0

    def at(self, positions: IntArray, above: Float64Array) -> Float64Array:
        """The chance that each document is examined."""
        left = attention_left(above[self.leaving], self.fading)
        return self.curve[np.minimum(positions, len(self.curve) - 1)] * left


def attention_left(above: Float64Array, fading: float) -> Float64Array:
    """The share of users who still look at a document after the clicks above it."""
    return np.maximum(1 - fading * above, LEAST_LEFT)


def clicks_above(rates: Float64Array, positions: IntArray, groups: Groups) -> Float64Array:
    """The clicks on what was shown above each document, per list: all of them, and those that satisfy, (2, documents).

    A click satisfies with the chance that users who examine the document click it, and satisfied users leave: so the
    second row also says how many users have left. Documents at the same position are not above each other.
    """
    query, clicks = groups.query_of_row, np.nan_to_num(rates)
    order = np.lexsort((positions, query))
    begins = np.ones(len(order), np.bool_)  # where a query or a position begins
    begins[1:] = (np.diff(query[order]) != 0) | (np.diff(positions[order]) != 0)
    count = np.cumsum(begins, dtype=np.int64)
    place = count - count[groups.offsets[:-1]][query[order]]  # 0 for the documents at the first position of their query
    above, gone = np.zeros((2, len(order))), np.zeros((2, groups.n_queries))
    by_place = np.argsort(place, kind="stable")
    for rows in np.split(order[by_place], np.cumsum(np.bincount(place))[:-1]):
        of = query[rows]
        above[:, rows] = gone[:, of]
        attraction = np.minimum(clicks[rows] / np.maximum(1 - gone[1, of], LEAST_LEFT), 1)
        for kind, clicked in enumerate((clicks[rows], clicks[rows] * attraction)):
            gone[kind] += np.bincount(of, clicked, minlength=groups.n_queries)
    return above


@dataclass(frozen=True, slots=True)
class PositionBasedClicks:
    """An objective: click rates are examination times e^score, with Poisson noise.

    For given scores, the examination that fits best is found at once (`fitted_examination`); so it needs no steps of
    its own, and the objective keeps no state. The dataset must have positions.

    Attributes
    ----------
    fades : bool
        Whether clicks above may take attention away; otherwise examination depends on the position alone.
    """

    fades: bool = True
    name: ClassVar[str] = "position-based-clicks"

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:  # noqa: ARG002
        """Return the λ-function of a dataset's clicks; see `Objective.bind`."""
        documents: Any = getattr(dataset, "documents", dataset)  # a binned dataset's, without features
        if documents.positions is None:
            raise InputError(f"{self.name} needs the positions at which documents were shown")
        clicks = judged_labels(dataset, self.name).astype(np.float64)
        weights = np.ones(len(clicks)) if dataset.document_weights is None else dataset.document_weights
        above = clicks_above(clicks, documents.positions, dataset.groups)
        return _BoundClicks(dataset, clicks, weights.astype(np.float64), documents.positions, above, self.fades, dtype)


@dataclass(frozen=True, slots=True, eq=False)
class _BoundClicks:
    data: Judged
    clicks: Float64Array
    weights: Float64Array
    positions: IntArray
    above: Float64Array
    fades: bool
    dtype: type[np.floating[Any]]

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:  # noqa: ARG002
        """Return the forces on documents; see `LambdaFn`."""
        chosen, starts = batch_of(self.data.groups, queries)
        rows = slice(None) if queries is None else self.data.groups.rows_of(chosen)
        relevance = relevance_of(finite_scores(scores, length=int(starts[-1])))
        clicks, positions, above = self.clicks[rows], self.positions[rows], self.above[:, rows]
        weights = np.where(np.isnan(clicks), 0.0, self.weights[rows])
        clicks = np.nan_to_num(clicks)
        examination = fitted_examination(clicks, relevance, positions, weights, above if self.fades else None)
        expected = examination.at(positions, above) * relevance
        return Lambdas(
            (weights * (expected - clicks)).astype(self.dtype),
            (weights * expected).astype(self.dtype),
            np.full(len(chosen), np.nan),
        )


def relevance_of(scores: Float64Array) -> Float64Array:
    """Relevance, up to a factor, by the scores of a model that was trained for `PositionBasedClicks`."""
    return np.exp(np.clip(scores, -LARGEST_SCORE, LARGEST_SCORE))


def fitted_examination(
    clicks: Float64Array,
    relevance: Float64Array,
    positions: IntArray,
    weights: Float64Array,
    above: Float64Array | None = None,
) -> Examination:
    """The examination that fits clicks best, for given relevance; without `above`, that of positions alone.

    For any fading, the best chance of a position is its clicks divided by the relevance that is still looked at there;
    so only the fading is searched for.
    """
    fit = _Fit(clicks, relevance, positions, weights)
    if above is None:
        return Examination(fit.curve(np.ones(len(clicks))), 0.0)
    best, most = Examination(fit.curve(np.ones(len(clicks))), 0.0), fit.likelihood(np.ones(len(clicks)))
    for leaving, gone in enumerate(above):
        fading = _best_fading(fit, gone, most)
        left = attention_left(gone, fading)
        likelihood = fit.likelihood(left)
        if likelihood > most:
            best, most = Examination(fit.curve(left), fading, leaving), likelihood
    return best


def _best_fading(fit: _Fit, gone: Float64Array, without: float) -> float:
    """The fading that fits best, by the parabola through the best of a few and its neighbours."""
    values = [without, *(fit.likelihood(attention_left(gone, fading)) for fading in FADINGS[1:])]
    middle = min(max(int(np.argmax(values)), 1), len(FADINGS) - 2)
    low, centre, high = values[middle - 1 : middle + 2]
    bend = low - 2 * centre + high
    step = 0.5 * (low - high) / bend if bend < 0 else np.sign(high - low)
    return float(np.clip(FADINGS[middle] + np.clip(step, -1, 1) * FADINGS[1], 0, 1))


class _Fit:
    """Clicks and relevance, from which the examination is found for a given share of users that still look."""

    def __init__(
        self, clicks: Float64Array, relevance: Float64Array, positions: IntArray, weights: Float64Array
    ) -> None:
        self.positions, self.clicks, self.could = positions, weights * clicks, weights * relevance
        self.found = np.bincount(positions, self.clicks)

    def curve(self, left: Float64Array) -> Float64Array:
        """The chance of each position."""
        return self.found / np.maximum(np.bincount(self.positions, self.could * left), 1e-12)

    def likelihood(self, left: Float64Array) -> float:
        """The log-likelihood of the clicks under the best curve, up to a constant."""
        curve = np.maximum(self.curve(left), 1e-12)
        return float((self.found * np.log(curve)).sum() + (self.clicks * np.log(left)).sum())
