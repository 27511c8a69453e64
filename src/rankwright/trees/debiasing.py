"""Clicks freed from position bias before a ranker is trained on them, where the log supports it.

A document's click rate is the examination of its position times its relevance. Relevance is learned from features by a
forest, on other queries than those it is used for; examination is what then fits the clicks. What a document is trained
with is its clicks over its examinations, drawn to what its features tell as strongly as the clicks themselves suggest:
a click at a position that is hardly examined says much, but rarely, and no click there says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.clicks.estimates import effective_size
from rankwright.clicks.joint import PositionBasedClicks, fitted_examination, relevance_of
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import k_fold
from rankwright.errors import InputError

N_FOLDS = 5
SURE = 2.0  # standard errors by which a model of the clicks must be better than another
LEAST_EXAMINATION = 0.01  # relative to the first position: what is hardly ever examined tells nothing
STRENGTHS = np.geomspace(0.5, 500, 21)  # imagined examinations, of which the clicks choose
GRADES = 15.0  # relevance becomes the label log2(1 + 15 · relevance): as labels from 0 to 4 have it
# Of the forests that learn relevance: quick ones, whose leaves are large enough for noisy clicks.
FOREST = {
    "max_leaves": 15, "learning_rate": 0.08, "min_docs_in_leaf": 20, "feature_fraction": 0.3,
    "query_fraction": 1.0, "growth": "best-first",
}  # fmt: skip
STAGES = (5, 15, 40, 120, 300)  # numbers of trees, of which held-out clicks choose


@dataclass(frozen=True, slots=True, eq=False)
class Debiasing:
    """What was found about position bias in clicks, and what was done about it.

    Attributes
    ----------
    applied : bool
        Whether labels were corrected.
    reason : str
        Why, or why not, in a sentence.
    examination : array of float64
        How likely each position is examined, relative to the first.
    held_out : dict from str to float
        The log-likelihood of held-out clicks of a document by its position alone, by its features alone, and by both.
    better_than_position, better_than_features : float
        By how many standard errors both together foretell held-out clicks better than either.
    strength : float
        How many imagined examinations draw a document's relevance to what its features tell.
    effective_size : float
        As how many documents with equal weights the examined ones count: (Σ w)² / Σ w² of inverse examinations.
    """

    applied: bool
    reason: str
    examination: Float64Array
    held_out: dict[str, float]
    better_than_position: float
    better_than_features: float
    strength: float
    effective_size: float


@dataclass(frozen=True, slots=True, eq=False)
class _Clicks:
    """The documents that were shown: click rates, how often each was shown, and where."""

    rates: Float64Array
    times: Float64Array
    positions: IntArray


def debiased(
    data: RankingDataset, *, seed: int = 0, threads: int | None = None, always: bool = False
) -> tuple[RankingDataset, Debiasing]:
    """The data with relevance in place of click rates if the clicks support that, and what was found.

    Labels must be clicks (0 or 1) or click rates, and document weights, if any, how often each document was shown. With
    `always`, labels are corrected whatever was found.
    """
    clicks = _clicks_of(data)
    relevance, sharpest, both = _cross_fitted(data, clicks, STAGES, seed=seed, threads=threads)
    without_positions = replace(clicks, positions=np.zeros_like(clicks.positions))
    _, _, features = _cross_fitted(data, without_positions, STAGES[:-1], seed=seed, threads=threads)
    position = _by_position_alone(data, clicks)
    known = ~np.isnan(clicks.rates)
    # Forests that stop early tell documents apart too little, and would make the top positions, which hold the better
    # documents, seem to be examined more than they are.
    curve, scale = _curve(clicks, sharpest), _curve(clicks, relevance)[0]
    examination = np.maximum(curve / (curve[0] if curve[0] > 0 else float(curve.max(initial=1.0))), LEAST_EXAMINATION)
    gains = {name: _sure(data, both - other) for name, other in (("position", position), ("features", features))}
    reason = _reason(gains)
    applied = always or reason is None
    strength, labels = _posterior(clicks, relevance * scale, examination)
    found = Debiasing(
        applied=applied,
        reason=reason or "held-out clicks are foretold best by position and features together: labels were corrected",
        examination=examination,
        held_out={"position": float(position[known].mean()), "features": float(features[known].mean()),
                  "both": float(both[known].mean())},
        better_than_position=gains["position"],
        better_than_features=gains["features"],
        strength=strength,
        effective_size=effective_size(1 / examination[clicks.positions[known]]),
    )  # fmt: skip
    if not found.applied:
        return replace(data, positions=None), found
    return replace(data, labels=labels, document_weights=None, positions=None), found


def _clicks_of(data: RankingDataset) -> _Clicks:
    if data.labels is None or data.positions is None:
        raise InputError("position bias is corrected in clicks as labels, with the position of each document")
    rates = data.labels.astype(np.float64)
    if np.nanmax(rates, initial=0) > 1:
        raise InputError("position bias is corrected in clicks: labels must be clicks (0 or 1) or click rates up to 1")
    if data.positions.min(initial=0) < 0:
        raise InputError("positions are counted from 0")
    times = np.ones(data.n_docs) if data.document_weights is None else data.document_weights.astype(np.float64)
    # Documents that were never shown have no position of their own.
    deepest = int(data.positions[~np.isnan(rates)].max(initial=0))
    return _Clicks(rates, times, np.minimum(data.positions, deepest))


def _cross_fitted(
    data: RankingDataset, clicks: _Clicks, stages: Sequence[int], *, seed: int, threads: int | None
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Each document's relevance by a forest that was grown on other queries, by few trees and by many, and how likely
    its clicks are.

    The few are as many as foretell held-out clicks best, of some numbers: clicks that tell little want few.
    """
    from rankwright.trees.lambdamart import LambdaMART

    n_folds = min(N_FOLDS, data.n_queries)
    if n_folds < 2:
        raise InputError("position bias is measured on held-out queries, and there is only one query")
    relevance, likelihood = np.ones((len(stages), data.n_docs)), np.zeros((len(stages), data.n_docs))
    plain = replace(data, positions=clicks.positions, preferences=None, initial_scores=None, query_weights=None)
    settings: dict[str, Any] = FOREST | {"n_trees": stages[-1], "seed": seed, "threads": threads, "debias": "none"}
    for fold in k_fold(data.groups, n_folds, seed=seed):
        train, held = np.sort(fold.train), data.groups.rows_of(np.sort(fold.test))
        ranker = LambdaMART(objective=PositionBasedClicks(), **settings).fit(
            plain.take_queries(train), allow_empty=True
        )
        for stage, n_trees in enumerate(stages):
            scores = ranker.with_forest(ranker.forest_.truncated(min(n_trees, ranker.n_trees_))).scores_in_place(plain)
            found = _on_held_out(clicks, relevance_of(scores), data.groups.rows_of(train), held)
            relevance[stage, held], likelihood[stage, held] = found
    best = int(np.argmax(likelihood.sum(axis=1)))
    return relevance[best], relevance[-1], likelihood[best]


def _on_held_out(
    clicks: _Clicks, relevance: Float64Array, train: IntArray, held: IntArray
) -> tuple[Float64Array, Float64Array]:
    """Relevance of held-out documents in units of clicks at the first position, and how likely their clicks are."""
    seen = clicks.times[train] * ~np.isnan(clicks.rates[train])
    curve = fitted_examination(np.nan_to_num(clicks.rates[train]), relevance[train], clicks.positions[train], seen)
    curve = np.append(curve, np.full(int(clicks.positions.max()) + 1 - len(curve), curve[-1]))
    expected = curve[clicks.positions[held]] * relevance[held]
    return relevance[held] * (curve[0] if curve[0] > 0 else 1.0), _likelihood(clicks, held, expected)


def _curve(clicks: _Clicks, relevance: Float64Array) -> Float64Array:
    """The examination of each position that fits all clicks best."""
    seen = clicks.times * ~np.isnan(clicks.rates)
    return fitted_examination(np.nan_to_num(clicks.rates), relevance, clicks.positions, seen)


def _likelihood(clicks: _Clicks, rows: IntArray, expected: Float64Array) -> Float64Array:
    """The Poisson log-likelihood of documents' clicks, up to a constant; 0 where nobody looked."""
    rates, times = clicks.rates[rows], clicks.times[rows]
    values = times * (np.nan_to_num(rates) * np.log(np.maximum(expected, 1e-12)) - expected)
    return np.where(np.isnan(rates), 0.0, values)


def _by_position_alone(data: RankingDataset, clicks: _Clicks) -> Float64Array:
    """How likely documents' clicks are by the click rates of positions."""
    known, rows = ~np.isnan(clicks.rates), np.arange(data.n_docs)
    rates = fitted_examination(
        np.nan_to_num(clicks.rates), np.ones(data.n_docs), clicks.positions, clicks.times * known
    )
    return _likelihood(clicks, rows, rates[clicks.positions])


def _sure(data: RankingDataset, gain: Float64Array) -> float:
    """By how many standard errors a gain, added up by query, is above 0."""
    of_query = np.add.reduceat(gain, data.groups.offsets[:-1])
    error = float(of_query.std(ddof=1)) / np.sqrt(len(of_query))
    return float(of_query.mean()) / error if error > 0 else 0.0


def _reason(gains: dict[str, float]) -> str | None:
    """Why clicks are not corrected; None if they are."""
    if gains["position"] < SURE:
        return "features foretell held-out clicks no better than positions alone: the log does not show relevance"
    if gains["features"] < SURE:
        return "positions foretell held-out clicks no better than features alone: the log shows no position bias"
    return None


def _posterior(clicks: _Clicks, usual: Float64Array, examination: Float64Array) -> tuple[float, Any]:
    """The strength that makes the clicks most likely, and labels from relevance drawn to the usual one with it.

    Clicks are taken as Poisson around examinations times relevance, and relevance as gamma around the usual one.
    """
    from scipy.special import gammaln

    known = ~np.isnan(clicks.rates)
    found, looked = (clicks.rates * clicks.times)[known], (examination[clicks.positions] * clicks.times)[known]
    prior = np.maximum(usual[known], 1e-6)
    fits = [
        (gammaln(s * prior + found) - gammaln(s * prior) + s * prior * np.log(s / (s + looked))
         - found * np.log(s + looked)).sum()
        for s in STRENGTHS
    ]  # fmt: skip
    strength = float(STRENGTHS[int(np.argmax(fits))])
    relevance = np.full(len(clicks.rates), np.nan)
    relevance[known] = np.minimum((found + strength * prior) / (looked + strength), 1.0)
    return strength, np.log2(1 + GRADES * relevance).astype(np.float32)
