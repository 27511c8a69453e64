"""Clicks freed from position bias before a ranker is trained on them, where the log supports it.

A document's click rate is how likely it is examined times its relevance. Relevance is learned from features by forests,
on other queries than those it is used for; examination, by position and by the clicks above, is what then fits the
clicks, or the propensities that somebody else measured. What a document is trained with is its clicks over its
examinations, drawn to what its features tell as strongly as the clicks themselves suggest: a click at a position that
is hardly examined says much, but rarely, and no click there says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.clicks.bias import Debiasing
from rankwright.clicks.estimates import effective_size
from rankwright.clicks.joint_examination import (
    Examination,
    PositionBasedClicks,
    clicks_above,
    fitted_examination,
    relevance_of,
)
from rankwright.clicks.weights import SMALLEST
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import k_fold
from rankwright.errors import InputError, require_input
from rankwright.linear_algebra import inner, solve_symmetric, times
from rankwright.objectives.families import lambdarank
from rankwright.objectives.objective import Objective
from rankwright.progress.stages import announce
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.forests.forest import Forest
from rankwright.trees.params import TreeParams

SURE = 2.0  # standard errors by which a model of the clicks must be better than another
EVEN = 0.99  # share of the documents as which they count once weighed: what is left to correct is nothing
LEAST_EXAMINATION = 0.01  # relative to the first position: what is hardly ever examined tells nothing
GRADES = 15.0  # relevance becomes the label log2(1 + 15 · relevance): as labels from 0 to 4 have it
LAST_POSITION = 1_000_000  # far below what anybody looks at; the curve has a value for each
WHAT = "measuring position bias"
STAGES = (5, 15, 40, 120)  # numbers of trees, of which held-out clicks choose
LOGGING_TREES = 60  # that imitate the ranker which made the lists
LOGGING_BINS = 20
ROUNDS = 30  # of fitting examination and what is usual in a bin from each other
POWERS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4)  # of relevance that are tried
COMPANIES = (0.0, 0.25, 0.5, 0.75, 1.0)  # powers of how good the rest of the query is

# Forests that score the documents of queries on which they were not grown:
N_FOLDS = 5
TREE = TreeParams(max_leaves=15, learning_rate=0.08, min_docs_in_leaf=20)  # large leaves, since clicks are noisy
MAX_BINS = 255
FEATURE_FRACTION = 0.3
FEW_FEATURES = 20  # of which each tree sees all: fewer would make trees that are blind to what matters


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

    def explained_by(self, relevance: Float64Array, *, fades: bool) -> tuple[Examination, Float64Array]:
        """The examination that fits best, and the log-likelihood of each document's clicks under both."""
        examination = self.examination(relevance, fades=fades)
        return examination, self.likelihood(examination.at(self.positions, self.above) * relevance)

    def surer(self, gain: Float64Array) -> float:
        """By how many standard errors a gain, added up by query, is above 0."""
        return standard_errors(np.bincount(self.queries, gain).astype(np.float64))

    def follow(self, relevance: Float64Array, places: IntArray) -> bool:
        """Whether what was shown first is more relevant, beyond chance."""
        middle = np.bincount(self.queries, places) / np.bincount(self.queries)
        return self.surer((middle[self.queries] - places) * np.log(relevance)) >= SURE


class _Explained(NamedTuple):
    """Clicks as examination times relevance.

    `gains` tell by how many standard errors both together predict held-out clicks better than examination without
    features ("position") and than features alone; `likelihoods` are those of all three. `reverses` tells whether the
    order shown follows what features tell of clicks as they are, and no longer follows relevance.
    """

    relevance: Float64Array
    looked: Float64Array
    examination: Examination
    gains: dict[str, float]
    likelihoods: dict[str, float]
    reverses: bool


def standard_errors(gains: Float64Array) -> float:
    """By how many standard errors the mean of gains is above 0."""
    error = float(gains.std(ddof=1)) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return float(gains.mean()) / error if error > 0 else 0.0


def debiased(
    data: RankingDataset, *, seed: int = 0, threads: int | None = None, always: bool = False
) -> tuple[RankingDataset, Debiasing]:
    """The data with relevance in place of click rates if the clicks support that, and what was found.

    Labels must be clicks (0 or 1) or click rates, and document weights, if any, how often each document was shown.
    Examination is that of the propensities, if the data has them, and otherwise found by its positions. With `always`,
    labels are corrected whatever was found.
    """
    rows, shown, clicks = shown_documents(data)
    explain = _by_position if data.propensities is None else _by_propensity
    explained = explain(data, rows, shown, clicks, seed=seed, threads=threads)
    applied, reason = _verdict(explained, always=always)
    looked, gains = explained.looked, explained.gains
    trust, relevance = _posterior(clicks, explained.relevance, looked)
    found = Debiasing(
        applied=applied,
        reason=reason,
        examination=explained.examination.curve,
        fading=explained.examination.fading,
        held_out=explained.likelihoods,
        better_than_position=gains["position"],
        better_than_features=gains["features"],
        trust=trust,
        effective_size=effective_size(1 / looked),
    )
    plain = replace(data, positions=None, propensities=None)
    if not found.applied:
        return plain, found
    labels = np.full(data.n_docs, np.nan, np.float32)
    labels[rows] = np.log2(1 + GRADES * relevance)
    return replace(plain, labels=labels, document_weights=None), found


def shown_documents(data: RankingDataset) -> tuple[IntArray, RankingDataset, _Clicks]:
    """The rows of documents that were shown, those documents, and their clicks."""
    positions = np.zeros(data.n_docs, np.int64) if data.propensities is not None else data.positions
    if data.labels is None or positions is None:
        raise InputError("position bias is corrected in clicks as labels, with the position of each document")
    if np.nanmax(data.labels, initial=0) > 1:
        raise InputError(
            "position bias is corrected in clicks: labels must be clicks (0 or 1) or click rates up to 1; "
            "debias='none' takes others as they are"
        )
    if positions.min(initial=0) < 0 or positions.max(initial=0) > LAST_POSITION:
        raise InputError(f"positions are places in a list, from 0 to {LAST_POSITION:,} at most")
    rows = np.flatnonzero(~np.isnan(data.labels))
    require_input(len(rows) != 0, "position bias is measured on clicks, and no document has a label")
    queries = np.unique(data.groups.query_of_row[rows], return_inverse=True)[1]
    if queries.max(initial=0) < 1:
        told = "position bias is measured on held-out queries, and there is only one query: set debias to none"
        raise InputError(told)
    weights = None if data.document_weights is None else data.document_weights[rows]
    shown = RankingDataset.from_arrays(
        data.features[rows], data.labels[rows], qid=queries, positions=positions[rows], document_weights=weights
    )
    rates = data.labels[rows].astype(np.float64)
    times = np.ones(len(rows)) if weights is None else weights.astype(np.float64)
    above = clicks_above(rates, positions[rows], shown.groups)
    return rows, shown, _Clicks(rates, times, positions[rows], above, queries)


def _by_position(
    data: RankingDataset, rows: IntArray, shown: RankingDataset, clicks: _Clicks, **settings: Any
) -> _Explained:
    """Examination by positions, and by the clicks above, that is learned together with relevance."""
    scores = held_out_scores(
        shown, PositionBasedClicks(), STAGES, what=f"{WHAT}, by features and positions", **settings
    )
    relevance, both = _best_prediction(clicks, scores, fades=True)
    clicked, features = _by_features(shown, clicks, **settings)
    rates_of_positions = clicks.examination(np.ones(len(rows)), fades=False).curve
    position = clicks.likelihood(rates_of_positions[clicks.positions])
    relevance, examination = _calibrated(clicks, relevance, _logging_bins(data, rows, clicks.positions, **settings))
    looked = examination.at(clicks.positions, clicks.above)
    reverses = clicks.follow(clicked, clicks.positions) and not clicks.follow(relevance, clicks.positions)
    return _Explained(relevance, looked, examination, *_compared(clicks, position, features, both), reverses)


def _by_propensity(
    data: RankingDataset, rows: IntArray, shown: RankingDataset, clicks: _Clicks, **settings: Any
) -> _Explained:
    """Examination by the propensities that were given; relevance is fitted to the clicks divided by them."""
    assert data.propensities is not None
    looked = np.maximum(data.propensities[rows].astype(np.float64), SMALLEST)
    exposed = clicks._replace(rates=clicks.rates / looked, times=clicks.times * looked)
    freed = replace(shown, labels=exposed.rates.astype(np.float32), document_weights=exposed.times.astype(np.float32))
    scores = held_out_scores(freed, PositionBasedClicks(False), STAGES, what=f"{WHAT}, by propensities", **settings)
    relevance, _ = _best_prediction(exposed, scores, fades=False)
    relevance = relevance * exposed.examination(relevance, fades=False).curve
    usual = exposed.examination(np.ones(len(rows)), fades=False).curve
    position, both = clicks.likelihood(usual * looked), clicks.likelihood(relevance * looked)
    clicked, features = _by_features(shown, clicks, **settings)
    gains, likelihoods = _compared(clicks, position, features, both)
    places = _places(looked, clicks.queries)
    if gains["position"] >= SURE:  # otherwise the ranker that made the lists would speak through chance alone
        bins = _logging_bins(data, rows, places, **settings)
        relevance = relevance * _factors(clicks, bins, relevance * looked * clicks.times)[bins]
    reverses = clicks.follow(clicked, places) and not clicks.follow(relevance, places)
    return _Explained(relevance, looked, Examination(np.empty(0), 0.0), gains, likelihoods, reverses)


def _places(looked: Float64Array, queries: IntArray) -> IntArray:
    """The place where each document seems to have been shown: how many of its query were likelier to be examined."""
    order = np.lexsort((-looked, queries))
    begins = np.r_[True, (np.diff(queries[order]) != 0) | (np.diff(looked[order]) != 0)]
    place = np.arange(len(order)) - np.searchsorted(queries[order], queries[order])
    places = np.empty(len(order), np.int64)
    places[order] = place[np.flatnonzero(begins)[np.cumsum(begins) - 1]]
    return places


def _factors(clicks: _Clicks, bins: IntArray, expected: Float64Array) -> Float64Array:
    """How many more clicks than expected the documents of each bin have."""
    clicked = np.bincount(bins, clicks.rates * clicks.times, minlength=LOGGING_BINS)
    return (clicked + 1) / (np.bincount(bins, expected, minlength=LOGGING_BINS) + 1)


def _by_features(shown: RankingDataset, clicks: _Clicks, **settings: Any) -> tuple[Float64Array, Float64Array]:
    """The relevance that features give if all documents are examined alike, and how likely it makes held-out clicks."""
    nowhere = np.zeros(shown.n_docs, np.int64)
    flat, alone = replace(shown, positions=nowhere), clicks._replace(positions=nowhere)
    scores = held_out_scores(flat, PositionBasedClicks(False), STAGES, what=f"{WHAT}, by features", **settings)
    return _best_prediction(alone, scores, fades=False)


def _compared(
    clicks: _Clicks, position: Float64Array, features: Float64Array, both: Float64Array
) -> tuple[dict[str, float], dict[str, float]]:
    """The gains and the likelihoods of `_Explained`."""
    gains = {name: clicks.surer(both - other) for name, other in (("position", position), ("features", features))}
    values = (("position", position), ("features", features), ("both", both))
    return gains, {name: float(likelihood.mean()) for name, likelihood in values}


def _best_prediction(clicks: _Clicks, scores: Float64Array, *, fades: bool) -> tuple[Float64Array, Float64Array]:
    """The relevance that predicts clicks best, and how likely it makes each click.

    The number of trees and the power that relevance is raised to are chosen. Where clicks tell little, few trees are
    best, or a power that draws relevance to what is usual.
    """
    tried = [relevance_of(one * power) for one, power in product(scores, POWERS)]
    found = [(relevance, clicks.explained_by(relevance, fades=fades)[1]) for relevance in tried]
    return max(found, key=lambda one: float(one[1].sum()))


def _logging_bins(
    data: RankingDataset, rows: IntArray, places: IntArray, *, seed: int, threads: int | None
) -> IntArray:
    """Shown documents in bins by what the ranker that made the lists thinks of them, as far as features tell.

    Forests tell documents apart too little, and what they miss is better at the top, where the other ranker saw it:
    documents that it values alike differ in position by chance, that is by their rivals.
    """
    labels = np.zeros(data.n_docs, np.float32)
    labels[rows] = places.max(initial=0) + 1 - places
    plain = RankingDataset.from_arrays(data.features, labels, qid=data.groups.query_of_row)
    what = f"{WHAT}, by the order shown"
    scores = held_out_scores(plain, lambdarank("ndcg"), [LOGGING_TREES], what=what, seed=seed, threads=threads)[0][rows]
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
    curve = found.examination.curve
    first = float(next(iter(curve[curve > 0]), 1.0))  # of the first position with a click, which others are relative to
    relative = np.maximum(curve / first, LEAST_EXAMINATION)
    return found.relevance * first, found.examination._replace(curve=relative)


def _fit_together(
    clicks: _Clicks, relevance: Float64Array, bins: IntArray, company: float, *, fades: bool
) -> _Calibration:
    """Factors of bins, factors of queries to the power `company`, and examination, found from each other."""
    factor, of_company = np.ones(LOGGING_BINS), np.ones(len(relevance))
    for _ in range(ROUNDS):
        own = relevance * factor[bins] * of_company
        examination = clicks.examination(own, fades=fades)
        looked = examination.at(clicks.positions, clicks.above) * clicks.times
        factor = _factors(clicks, bins, looked * relevance * of_company)
        if company:
            of_company = _company(clicks, looked * relevance * factor[bins]) ** company
    own = relevance * factor[bins] * of_company
    return _Calibration(own, *clicks.explained_by(own, fades=fades))


def _company(clicks: _Clicks, expected: Float64Array) -> Float64Array:
    """How many more clicks than expected the other documents of a document's query have."""
    own = clicks.rates * clicks.times
    others = [np.bincount(clicks.queries, values)[clicks.queries] - values for values in (own, expected)]
    steady = max(float(expected.mean()), 1e-12)  # as much as another document as is usual
    return (others[0] + steady) / (others[1] + steady)


def _posterior(clicks: _Clicks, usual: Float64Array, examination: Float64Array) -> tuple[float, Float64Array]:
    """How far a document's own clicks are trusted, on average, and relevance that is drawn to the usual.

    What clicks differ from the usual by has two parts: chance, as p (1 - p) over how often it was shown, and what
    features do not tell, as p². Both are found from the clicks of all documents, whose p differ by position.
    """
    expected = np.clip(usual * examination, 1e-6, 1 - 1e-6)
    design = np.stack([expected * (1 - expected) / clicks.times, expected**2], axis=1)
    share = np.ones(2)
    for _ in range(3):  # squares of residuals vary as the squares of what is expected of them
        weight = 1 / np.maximum(times(design, share), 1e-9)
        squares = (clicks.rates - expected) ** 2
        weighed, aim = design * weight[:, None], squares * weight
        share = solve_symmetric(np.einsum("pi,pj->ij", weighed, weighed), times(weighed.T, aim))
        if share[1] < 0:
            share = np.array([inner(weighed[:, 0], aim) / inner(weighed[:, 0], weighed[:, 0]), 0.0])
        if share[0] < clicks.least_chance:
            rest = aim - weighed[:, 0] * clicks.least_chance
            fitted = inner(weighed[:, 1], rest) / inner(weighed[:, 1], weighed[:, 1])
            share = np.array([clicks.least_chance, max(fitted, 0.0)])
    trust = design[:, 1] * share[1] / times(design, share)
    relevance = np.clip(usual + trust * (clicks.rates / examination - usual), 0, 1)
    return float(trust.mean()), relevance


def _verdict(explained: _Explained, *, always: bool) -> tuple[bool, str]:
    """Whether to correct, and why."""
    gains, by = explained.gains, "propensities" if len(explained.examination.curve) == 0 else "positions"
    against = None
    if gains["features"] < SURE:
        against = f"{by} predict held-out clicks no better than features alone: the log shows no position bias"
    elif effective_size(1 / explained.looked) > EVEN * len(explained.looked):
        against = "all documents seem to be examined alike: the log shows no position bias"
    elif gains["position"] < SURE:
        against = f"features predict held-out clicks no better than {by} alone: the log does not show relevance"
    elif explained.reverses:
        against = (
            f"freed from {by}, the order shown would be no better than chance: its ranker may know more than features"
        )
    if against is not None:
        return always, f"{against}, but labels were corrected all the same" if always else against
    above = ", clicks above" if explained.examination.fading > 0 else ""
    return True, f"{by}{above} and features together predict held-out clicks best: labels were corrected"


def held_out_scores(
    data: RankingDataset, objective: Objective, stages: Sequence[int], *, what: str, seed: int, threads: int | None
) -> Float64Array:
    """Each document's scores by forests that were grown on other queries: a row for each number of trees.

    `what` is the stage of the work that is shown meanwhile.
    """
    scores = np.zeros((len(stages), data.n_docs))
    share = max(FEATURE_FRACTION, min(FEW_FEATURES / max(data.n_features, 1), 1.0))
    params = BoostingParams(tree=TREE, feature_fraction=share, seed=seed)
    folds = list(k_fold(data.groups, min(N_FOLDS, data.n_queries), seed=seed))
    announce(what)
    for done, fold in enumerate(folds):
        announce(what, done, len(folds), unit="forests")
        train, test = np.sort(fold.train), np.sort(fold.test)
        forest = _quick_forest(data.take_queries(train), objective, params, stages[-1], threads)
        held_out, rows = data.take_queries(test), data.groups.rows_of(test)
        for stage, n_trees in enumerate(stages):
            fewer = forest.truncated(min(n_trees, forest.n_trees))
            scores[stage, rows] = fewer.predict(held_out.features, threads=threads)
    announce(what, len(folds), len(folds), unit="forests")
    return scores


def _quick_forest(
    data: RankingDataset, objective: Objective, params: BoostingParams, n_trees: int, threads: int | None
) -> Forest:
    """A forest of at most so many trees that follows the objective's forces."""
    binned = bin_dataset(data, max_bins=MAX_BINS, seed=params.seed, threads=threads)
    n_threads = thread_count(threads)
    boosting = Boosting(binned, objective.bind(binned, threads=n_threads), params, base_score=0.0, threads=n_threads)
    for step in range(n_trees):
        if not boosting.take_step(step):
            break
    return boosting.forest()
