"""Clicks freed from position bias before a ranker is trained on them, where the log supports it.

A document's click rate is how likely it is examined times its relevance. Relevance is learned from features by forests,
on other queries than those it is used for; examination, by position and by the clicks above, is what then fits the
clicks. What a document is trained with is its clicks over its examinations, drawn to what its features tell as
strongly as the clicks themselves suggest: a click at a position that is hardly examined says much, but rarely, and no
click there says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.clicks.bias import Debiasing
from rankwright.clicks.estimates import effective_size
from rankwright.clicks.joint import (
    Examination,
    PositionBasedClicks,
    clicks_above,
    fitted_examination,
    relevance_of,
)
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import k_fold
from rankwright.errors import InputError
from rankwright.objectives.objective import Objective
from rankwright.objectives.registry import lambdarank

N_FOLDS = 5
SURE = 2.0  # standard errors by which a model of the clicks must be better than another
EVEN = 0.99  # share of the documents as which they count once weighed: what is left to correct is nothing
LEAST_EXAMINATION = 0.01  # relative to the first position: what is hardly ever examined tells nothing
GRADES = 15.0  # relevance becomes the label log2(1 + 15 · relevance): as labels from 0 to 4 have it
# Of the forests that learn relevance: quick ones, whose leaves are large enough for noisy clicks.
FOREST = {
    "max_leaves": 15, "learning_rate": 0.08, "min_docs_in_leaf": 20, "feature_fraction": 0.3,
    "query_fraction": 1.0, "growth": "best-first",
}  # fmt: skip
STAGES = (5, 15, 40, 120)  # numbers of trees, of which held-out clicks choose
LOGGING_TREES = 60  # that imitate the ranker which made the lists
LOGGING_BINS = 20
ROUNDS = 30  # of fitting examination and what is usual in a bin from each other
POWERS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4)  # of relevance that are tried
COMPANIES = (0.0, 0.25, 0.5, 0.75, 1.0)  # powers of how good the rest of the query is


class _Clicks(NamedTuple):
    """The documents that were shown: click rates, how often each was shown, where, and below how many clicks."""

    rates: Float64Array
    times: Float64Array
    positions: IntArray
    above: Float64Array
    queries: IntArray

    @property
    def least_chance(self) -> float:
        """The least part that chance has in rates: a rate of one click in n was seen n times."""
        known = bool((self.times != 1).any())
        return 1.0 if known else float(self.rates.min(initial=1.0, where=self.rates > 0))

    def likelihood(self, expected: Float64Array) -> Float64Array:
        """The Poisson log-likelihood of each document's clicks, up to a constant."""
        return self.times * (self.rates * np.log(np.maximum(expected, 1e-12)) - expected)

    def examination(self, relevance: Float64Array, *, fades: bool = True) -> Examination:
        """The examination that fits best, for given relevance."""
        return fitted_examination(self.rates, relevance, self.positions, self.times, self.above if fades else None)

    def surer(self, gain: Float64Array) -> float:
        """By how many standard errors a gain, added up by query, is above 0."""
        of_query = np.bincount(self.queries, gain)
        error = float(of_query.std(ddof=1)) / np.sqrt(len(of_query))
        return float(of_query.mean()) / error if error > 0 else 0.0


def debiased(
    data: RankingDataset, *, seed: int = 0, threads: int | None = None, always: bool = False
) -> tuple[RankingDataset, Debiasing]:
    """The data with relevance in place of click rates if the clicks support that, and what was found.

    Labels must be clicks (0 or 1) or click rates, and document weights, if any, how often each document was shown. With
    `always`, labels are corrected whatever was found.
    """
    rows, shown, clicks = _shown(data)
    settings: dict[str, Any] = {"seed": seed, "threads": threads}
    nowhere = np.zeros(shown.n_docs, np.int64)
    flat = replace(shown, positions=nowhere)
    relevance, both = _foretold(clicks, _out_of_fold(shown, PositionBasedClicks(), STAGES, **settings), fades=True)
    alone = clicks._replace(positions=nowhere)
    _, features = _foretold(alone, _out_of_fold(flat, PositionBasedClicks(False), STAGES, **settings), fades=False)
    rates_of_positions = clicks.examination(np.ones(len(rows)), fades=False).curve
    position = clicks.likelihood(rates_of_positions[clicks.positions])
    gains = {name: clicks.surer(both - other) for name, other in (("position", position), ("features", features))}
    relevance, examination = _calibrated(clicks, relevance, _logging_bins(data, rows, **settings))
    looked = examination.at(clicks.positions, clicks.above)
    size = effective_size(1 / looked)
    reason = _reason(gains, size / len(rows))
    labels = np.full(data.n_docs, np.nan, np.float32)
    trust, labels[rows] = _posterior(clicks, relevance, looked)
    found = Debiasing(
        applied=always or reason is None,
        reason=reason or _told(examination),
        examination=examination.curve,
        fading=examination.fading,
        held_out={
            name: float(values.mean()) for name, values in
            (("position", position), ("features", features), ("both", both))
        },
        better_than_position=gains["position"],
        better_than_features=gains["features"],
        trust=trust,
        effective_size=size,
    )  # fmt: skip
    if not found.applied:
        return replace(data, positions=None), found
    return replace(data, labels=labels, document_weights=None, positions=None), found


def _shown(data: RankingDataset) -> tuple[IntArray, RankingDataset, _Clicks]:
    """The rows of documents that were shown, those documents, and their clicks."""
    if data.labels is None or data.positions is None:
        raise InputError("position bias is corrected in clicks as labels, with the position of each document")
    if np.nanmax(data.labels, initial=0) > 1:
        raise InputError("position bias is corrected in clicks: labels must be clicks (0 or 1) or click rates up to 1")
    if data.positions.min(initial=0) < 0:
        raise InputError("positions are counted from 0")
    rows = np.flatnonzero(~np.isnan(data.labels))
    queries = np.unique(data.groups.query_of_row[rows], return_inverse=True)[1]
    if queries.max(initial=0) < 1:
        raise InputError("position bias is measured on held-out queries, and there is only one query")
    weights = None if data.document_weights is None else data.document_weights[rows]
    shown = RankingDataset.from_arrays(
        data.features[rows], data.labels[rows], qid=queries, positions=data.positions[rows], document_weights=weights
    )
    rates = data.labels[rows].astype(np.float64)
    times = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
    above = clicks_above(rates, data.positions[rows], shown.groups)
    return rows, shown, _Clicks(rates, times, data.positions[rows], above, queries)


def _out_of_fold(
    data: RankingDataset, objective: Objective, stages: Sequence[int], *, seed: int, threads: int | None
) -> Float64Array:
    """Each document's scores by forests that were grown on other queries: a row for each number of trees."""
    from rankwright.trees.lambdamart import LambdaMART

    scores = np.zeros((len(stages), data.n_docs))
    settings: dict[str, Any] = FOREST | {"n_trees": stages[-1], "seed": seed, "threads": threads, "debias": "none"}
    for fold in k_fold(data.groups, min(N_FOLDS, data.n_queries), seed=seed):
        train, test = np.sort(fold.train), np.sort(fold.test)
        ranker = LambdaMART(objective=objective, **settings).fit(data.take_queries(train), allow_empty=True)
        held, held_rows = data.take_queries(test), data.groups.rows_of(test)
        for stage, n_trees in enumerate(stages):
            fewer = ranker.with_forest(ranker.forest_.truncated(min(n_trees, ranker.n_trees_)))
            scores[stage, held_rows] = fewer.scores_in_place(held)
    return scores


def _foretold(clicks: _Clicks, scores: Float64Array, *, fades: bool) -> tuple[Float64Array, Float64Array]:
    """Relevance by as many trees, raised to the power, as foretell clicks best; and how likely the clicks are by it.

    Clicks that tell little want few trees, or a power that draws them to what is usual.
    """
    found = []
    for one, power in product(scores, POWERS):
        relevance = relevance_of(one * power)
        examination = clicks.examination(relevance, fades=fades)
        expected = examination.at(clicks.positions, clicks.above) * relevance
        found.append((relevance, clicks.likelihood(expected)))
    return max(found, key=lambda one: float(one[1].sum()))


def _logging_bins(data: RankingDataset, rows: IntArray, *, seed: int, threads: int | None) -> IntArray:
    """Shown documents in bins by what the ranker that made the lists thinks of them, as far as features tell.

    Forests tell documents apart too little, and what they miss is better at the top, where the other ranker saw it:
    documents that it values alike differ in position by chance, that is by their rivals.
    """
    assert data.positions is not None
    deepest = int(data.positions[rows].max(initial=0))
    labels = np.zeros(data.n_docs, np.float32)
    labels[rows] = deepest + 1 - data.positions[rows]
    plain = RankingDataset.from_arrays(data.features, labels, qid=data.groups.query_of_row)
    scores = _out_of_fold(plain, lambdarank("ndcg"), [LOGGING_TREES], seed=seed, threads=threads)[0][rows]
    cuts = np.quantile(scores, np.arange(1, LOGGING_BINS) / LOGGING_BINS)
    bins: IntArray = np.searchsorted(cuts, scores)
    return bins


class _Calibration(NamedTuple):
    """Relevance that fits all clicks, the examination that goes with it, and how likely both make each click."""

    relevance: Float64Array
    examination: Examination
    likelihood: Float64Array


def _calibrated(clicks: _Clicks, relevance: Float64Array, bins: IntArray) -> tuple[Float64Array, Examination]:
    """Relevance in clicks at the first position, and examination relative to it, by all clicks.

    Relevance is multiplied by the factor of its bin with which it fits the clicks best, and it is drawn, as far as fits
    best, to how good the other documents of the query turned out. Where those speak for a document, their clicks took
    no attention from it: then examination depends on positions alone.
    """

    def best(*, fades: bool) -> tuple[float, _Calibration]:
        fits = ((company, _fit_together(clicks, relevance, bins, company, fades=fades)) for company in COMPANIES)
        return max(fits, key=lambda one: float(one[1].likelihood.sum()))

    company, found = best(fades=False)
    if company == 0:
        _, found = best(fades=True)
    curve, fading, leaving = found.examination
    first = curve[0] if curve[0] > 0 else float(curve.max(initial=0.0)) or 1.0
    return found.relevance * first, Examination(np.maximum(curve / first, LEAST_EXAMINATION), fading, leaving)


def _fit_together(
    clicks: _Clicks, relevance: Float64Array, bins: IntArray, company: float, *, fades: bool
) -> _Calibration:
    """Factors of bins, factors of queries to the power `company`, and examination, found from each other."""
    clicked = np.bincount(bins, clicks.rates * clicks.times, minlength=LOGGING_BINS)
    factor, of_company = np.ones(LOGGING_BINS), np.ones(len(relevance))
    for _ in range(ROUNDS):
        own = relevance * factor[bins] * of_company
        examination = clicks.examination(own, fades=fades)
        looked = examination.at(clicks.positions, clicks.above) * clicks.times
        could = np.bincount(bins, looked * relevance * of_company, minlength=LOGGING_BINS)
        factor = (clicked + 1) / (could + 1)
        if company:
            of_company = _company(clicks, looked * relevance * factor[bins]) ** company
    own = relevance * factor[bins] * of_company
    examination = clicks.examination(own, fades=fades)
    expected = examination.at(clicks.positions, clicks.above) * own
    return _Calibration(own, examination, clicks.likelihood(expected))


def _company(clicks: _Clicks, expected: Float64Array) -> Float64Array:
    """How many more clicks than expected the other documents of a document's query have."""
    own = clicks.rates * clicks.times
    others = [np.bincount(clicks.queries, values)[clicks.queries] - values for values in (own, expected)]
    steady = float(expected.mean())  # as much as another document as is usual
    return (others[0] + steady) / (others[1] + steady)


def _posterior(clicks: _Clicks, usual: Float64Array, examination: Float64Array) -> tuple[float, Float32Array]:
    """How far a document's own clicks are trusted, on average, and labels from relevance that is drawn to the usual.

    What clicks differ from the usual by has two parts: chance, as p (1 - p) over how often it was shown, and what
    features do not tell, as p². Both are found from the clicks of all documents, whose p differ by position.
    """
    from scipy.optimize import nnls

    expected = np.clip(usual * examination, 1e-6, 1 - 1e-6)
    design = np.stack([expected * (1 - expected) / clicks.times, expected**2], axis=1)
    share = np.ones(2)
    for _ in range(3):  # squares of residuals vary as the squares of what is expected of them
        weight = 1 / np.maximum(design @ share, 1e-9)
        squares = (clicks.rates - expected) ** 2
        share = nnls(design * weight[:, None], squares * weight)[0]
        if share[0] < clicks.least_chance:
            rest = (squares - design[:, 0] * clicks.least_chance) * weight
            fitted = float((design[:, 1] * weight) @ rest / ((design[:, 1] * weight) ** 2).sum())
            share = np.array([clicks.least_chance, max(fitted, 0.0)])
    trust = design[:, 1] * share[1] / (design @ share)
    relevance = np.clip(usual + trust * (clicks.rates / examination - usual), 0, 1)
    return float(trust.mean()), np.log2(1 + GRADES * relevance).astype(np.float32)


def _reason(gains: dict[str, float], evenness: float) -> str | None:
    """Why clicks are not corrected; None if they are."""
    if gains["position"] < SURE:
        return "features foretell held-out clicks no better than positions alone: the log does not show relevance"
    if gains["features"] < SURE:
        return "positions foretell held-out clicks no better than features alone: the log shows no position bias"
    if evenness > EVEN:
        return "all documents seem to be examined alike: the log shows no position bias"
    return None


def _told(examination: Examination) -> str:
    by = "position, clicks above" if examination.fading > 0 else "position"
    return f"held-out clicks are foretold best by {by} and features together: labels were corrected"
