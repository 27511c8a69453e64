"""The model of raters: which grades are true and what kind each rater is, found together from overlapping grades.

Two models share the steps. In the ordinal one a rater is of one of the kinds of `rater_kinds`, which is what a few
grades can tell. In Dawid and Skene's (1979) each rater has a confusion matrix of its own, learned from its grades and
drawn to the matrix of the average rater, so that it needs many grades. Measurements with standard errors, such as
those of click models, join in: those of a source are normal around a mean for each true grade.

The steps are expectation-maximisation with factors for pairs and raters (mean field): the chances of the true grades
of all pairs from what is known of raters, then what is known of raters from the chances.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, Int32Array, IntArray
from rankwright.errors import UnknownNameError
from rankwright.judgments.combining.rater_kinds import RaterKinds, Search, begun_search, rater_kinds, searched
from rankwright.judgments.ratings import Ratings

MODELS = ("ordinal", "dawid-skene")
MOST_STEPS = 100
TOLERANCE = 3e-4  # steps end where no chance changes by more on average
FIRST_WIDTH = 0.6  # of the first guess around the mean of a pair's grades, in levels
IMAGINED_RATERS = 5.0  # how many raters the prior of kinds counts for
IMAGINED_OF_KIND = 20.0  # for how many grades of each true level what a kind is thought to answer counts
IMAGINED_PAIRS = 2.0  # how many pairs of each grade are imagined
IMAGINED_GRADES = 4.0  # Dawid-Skene: how many grades of the average rater each row of a confusion matrix counts for
IMAGINED_MEASUREMENTS = 5.0  # of each true grade, for a source of measurements
MOST_LEARNED_FROM = 250_000  # grades: of more, some pairs are chosen to learn raters from
FEWEST_ANCHORS = 10  # grades of trusted raters, to measure others by
FEWEST_SEARCHED = 100  # grades of a rater whose traits are looked for, not only its kind
FEWEST_OF_RATER = 100  # grades of a rater that are all learned from, where pairs are chosen
ROWS_AT_A_TIME = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredSource:
    """What a source of measurements says of each true grade: means, and a variance beyond its standard errors."""

    rater: int
    means: Float64Array
    variance: float


@dataclass(frozen=True, slots=True, eq=False)
class RaterModel:
    """What was learned of raters, and how frequent each true grade is."""

    name: str
    log_confusion: Float64Array  # rater, given level, true level: expected logarithms of chances
    confusion: Float64Array  # rater, true level, given level
    leniency: Float64Array  # of each rater: expected difference of a grade from the true one, in levels
    careless: Float64Array  # of each rater: expected share of answers that have nothing to do with the truth
    frequency: Float64Array  # of each true level
    sources: tuple[MeasuredSource, ...]
    n_steps: int

    def chances(self, ratings: Ratings) -> Float64Array:
        """The chance of each true level, for each pair."""
        logs = np.tile(np.log(self.frequency), (ratings.n_pairs, 1))
        _add_rated(logs, ratings, self.log_confusion)
        _add_measured(logs, ratings, self.sources)
        logs -= logs.max(axis=1, keepdims=True)
        np.exp(logs, out=logs)
        logs /= logs.sum(axis=1, keepdims=True)
        return logs


def fit_raters(ratings: Ratings, *, model: str = "ordinal", trusted: IntArray | None = None) -> RaterModel:
    """Learn what raters are like; those of `trusted` have no leniency and are seldom careless."""
    if model not in MODELS:
        raise UnknownNameError("model of raters", model, known=MODELS)
    learned = learned_from(ratings)
    is_trusted = np.zeros(ratings.n_raters, np.bool_)
    is_trusted[[] if trusted is None else trusted] = True
    given = np.bincount(learned.levels, minlength=ratings.n_levels) + 1.0
    n_of_rater = np.bincount(learned.raters, minlength=ratings.n_raters)
    beliefs = Beliefs(given / given.sum(), is_trusted, n_of_rater)
    anchors = _anchors(learned, is_trusted)
    chances = _first_guess(learned if anchors is None else anchors.take(is_trusted[anchors.raters]))
    sources = _first_sources(learned, chances.mean(axis=0))
    for step in range(1, MOST_STEPS + 1):
        # What raters are like is first told by the pairs that trusted ones graded, then by all.
        counts = _soft_counts(learned if anchors is None or step > 1 else anchors, chances)
        raters = beliefs.of_kinds(counts) if model == "ordinal" else beliefs.of_matrices(counts)
        totals = chances.sum(axis=0) + IMAGINED_PAIRS
        sources = tuple(_refined(source, learned, chances) for source in sources)
        found = RaterModel(model, *raters, totals / totals.sum(), sources, step)
        before, chances = chances, found.chances(learned)
        if float(np.abs(chances - before).mean()) < TOLERANCE:
            break
    return found


class Character(NamedTuple):
    """What is believed of raters; the fields are those of `RaterModel`."""

    log_confusion: Float64Array
    confusion: Float64Array
    leniency: Float64Array
    careless: Float64Array

    @classmethod
    def of(cls, expected_logs: Float64Array, confusion: Float64Array, careless: Float64Array) -> Character:
        """What follows from confusion matrices, and from the logarithms expected of their chances."""
        levels = np.arange(confusion.shape[1])
        drift = (confusion @ levels - levels).mean(axis=1)
        return cls(np.ascontiguousarray(expected_logs.transpose(0, 2, 1)), confusion, drift, careless)


class Beliefs:
    """What is believed of raters, from step to step: how frequent kinds are and what they answer, and the traits of
    those who judged much.

    `counts` are how often each rater gave each level where each one is true, by rater, true level and given level.
    """

    def __init__(self, shares: Float64Array, is_trusted: BoolArray, n_of_rater: IntArray) -> None:
        self._kinds: RaterKinds = rater_kinds(shares)
        self._frequency, self._answers = self._kinds.prior, self._kinds.confusion
        self._shares, self._is_trusted = shares, is_trusted
        self._judged, self._many = n_of_rater > 0, n_of_rater >= FEWEST_SEARCHED
        self._search: Search | None = None

    def of_kinds(self, counts: Float64Array) -> Character:
        """Raters of kinds, which are learned from all; those who judged much have traits of their own."""
        kinds, n_raters = self._kinds, len(counts)
        fits = counts.reshape(n_raters, -1) @ _flat_logs(self._answers).T + np.log(self._frequency)
        fits[self._is_trusted] = np.where(kinds.may_be_trusted, fits[self._is_trusted], -np.inf)
        chance_of_kind = _normalised(fits)
        frequency = chance_of_kind[self._judged].sum(axis=0) + IMAGINED_RATERS * kinds.prior
        self._frequency = frequency / frequency.sum()
        self._answers = self._learned_answers(chance_of_kind, counts)
        expected_logs = (chance_of_kind @ _flat_logs(self._answers)).reshape(counts.shape)
        confusion = (chance_of_kind @ self._answers.reshape(len(kinds.prior), -1)).reshape(counts.shape)
        careless = chance_of_kind @ kinds.traits.careless
        many = self._many
        if many.any():
            start = self._search or begun_search(kinds, chance_of_kind[many].argmax(axis=1))
            self._search = searched(start, counts[many], self._shares, self._is_trusted[many])
            own = self._search.traits
            confusion[many] = own.confusion(self._shares)
            expected_logs[many], careless[many] = np.log(confusion[many]), own.careless
        return Character.of(expected_logs, confusion, careless)

    def _learned_answers(self, chance_of_kind: Float64Array, counts: Float64Array) -> Float64Array:
        """What each kind answers, by those who are of it: raters may share habits that no list of kinds has.

        Kinds of trusted raters stay as they are where there are any, since all others are measured by them.
        """
        kinds = self._kinds
        by_kind = (chance_of_kind.T @ counts.reshape(len(counts), -1)).reshape(kinds.confusion.shape)
        answers = by_kind + IMAGINED_OF_KIND * kinds.confusion
        answers /= answers.sum(axis=2, keepdims=True)
        if self._is_trusted.any():
            answers[kinds.may_be_trusted] = kinds.confusion[kinds.may_be_trusted]
        return np.asarray(answers, np.float64)

    def of_matrices(self, counts: Float64Array) -> Character:
        """Raters with confusion matrices of their own, drawn to that of the average rater."""
        by_kind = self.of_kinds(counts)
        average = counts.sum(axis=0) + IMAGINED_GRADES * np.tensordot(self._kinds.prior, self._kinds.confusion, 1)
        average /= average.sum(axis=1, keepdims=True)
        confusion = counts + IMAGINED_GRADES * np.where(
            self._is_trusted[:, None, None], by_kind.confusion, average[None]
        )
        confusion /= confusion.sum(axis=2, keepdims=True)
        return Character.of(np.log(confusion), confusion, by_kind.careless)


def learned_from(ratings: Ratings) -> Ratings:
    """The grades to learn raters from: all, or those of evenly spaced pairs and of raters with few grades."""
    n_rows = len(ratings.pairs)
    if n_rows <= MOST_LEARNED_FROM:
        return ratings
    per_rater = np.bincount(ratings.raters, minlength=ratings.n_raters)
    chosen = np.zeros(ratings.n_pairs, np.bool_)
    chosen[:: -(-n_rows // MOST_LEARNED_FROM)] = True
    few = per_rater[ratings.raters] < FEWEST_OF_RATER
    chosen[ratings.pairs[few]] = True
    return _of_pairs(ratings, chosen)


def _of_pairs(ratings: Ratings, chosen: BoolArray) -> Ratings:
    """The grades of some pairs, numbered anew."""
    new = (np.cumsum(chosen) - 1).astype(np.int32)
    rows = chosen[ratings.pairs]
    measured = ratings.estimates
    kept = chosen[measured.pairs]
    return replace(
        ratings.take(rows),
        pairs=new[ratings.pairs[rows]],
        queries=ratings.queries[chosen],
        documents=ratings.documents[chosen],
        estimates=replace(
            measured,
            pairs=new[measured.pairs[kept]],
            raters=measured.raters[kept],
            values=measured.values[kept],
            errors=measured.errors[kept],
        ),
    )


def _anchors(ratings: Ratings, is_trusted: BoolArray) -> Ratings | None:
    """The grades of pairs that trusted raters graded; None where they graded too few to tell what others are like."""
    if is_trusted[ratings.raters].sum() < FEWEST_ANCHORS:
        return None
    anchored = np.zeros(ratings.n_pairs, np.bool_)
    anchored[ratings.pairs[is_trusted[ratings.raters]]] = True
    return ratings.take(anchored[ratings.pairs])


def _first_guess(ratings: Ratings) -> Float64Array:
    """Chances around the mean of each pair's grades; those of all grades where a pair has only measurements."""
    counts = ratings.counts()
    sizes, levels = counts.sum(axis=1), np.arange(ratings.n_levels)
    means = counts @ levels / np.maximum(sizes, 1)
    chances = np.exp(-(((levels - means[:, None]) / FIRST_WIDTH) ** 2) / 2)
    chances[sizes == 0] = counts.sum(axis=0) + IMAGINED_PAIRS
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float64)


def _soft_counts(ratings: Ratings, chances: Float64Array) -> Float64Array:
    """How often each rater gave each level where each one is true: by rater, true level, given level."""
    n_levels = ratings.n_levels
    cells = ratings.raters.astype(np.int64) * n_levels + ratings.levels
    counts = np.empty((ratings.n_raters, n_levels, n_levels))
    for level in range(n_levels):
        weights = chances[:, level][ratings.pairs]
        of_level = np.bincount(cells, weights=weights, minlength=ratings.n_raters * n_levels)
        counts[:, level] = of_level.reshape(ratings.n_raters, n_levels)
    return counts


def _flat_logs(confusion: Float64Array) -> Float64Array:
    return np.log(confusion).reshape(len(confusion), -1)


def _normalised(logs: Float64Array) -> Float64Array:
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(chances / chances.sum(axis=1, keepdims=True), np.float64)


def _add_rated(logs: Float64Array, ratings: Ratings, log_confusion: Float64Array) -> None:
    """Add to the logarithms of each pair what its grades say; rows are summed in their order, some at a time."""
    n_levels = ratings.n_levels
    table = log_confusion.reshape(-1, n_levels)
    for start in range(0, len(ratings.pairs), ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        pairs = ratings.pairs[rows]
        said = table[ratings.raters[rows].astype(np.int64) * n_levels + ratings.levels[rows]]
        starts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]]))
        logs[pairs[starts]] += np.add.reduceat(said, starts, axis=0)


# --- measurements ---


def _first_sources(ratings: Ratings, frequency: Float64Array) -> tuple[MeasuredSource, ...]:
    """For each source, means that are its quantiles at the middles of the true grades' shares."""
    measured = ratings.estimates
    middles = np.cumsum(frequency) - frequency / 2
    made = []
    for rater in np.unique(measured.raters).tolist():
        values = measured.values[measured.raters == rater]
        variance = max(float(values.var()) / 4, 1e-9)
        made.append(MeasuredSource(rater, np.quantile(values, middles), variance))
    return tuple(made)


def _refined(source: MeasuredSource, ratings: Ratings, chances: Float64Array) -> MeasuredSource:
    """The source by the chances of the pairs it measured; means ascend, and are drawn to what they were."""
    own = ratings.estimates.raters == source.rater
    pairs: Int32Array = ratings.estimates.pairs[own]
    values, errors = ratings.estimates.values[own], ratings.estimates.errors[own]
    trust = source.variance / (source.variance + errors**2)  # of a measurement, compared with an exact one
    weights = chances[pairs] * trust[:, None]
    totals = weights.sum(axis=0)
    means = (values @ weights + IMAGINED_MEASUREMENTS * source.means) / (totals + IMAGINED_MEASUREMENTS)
    means = np.maximum.accumulate(means)
    squares = ((values[:, None] - means) ** 2 - errors[:, None] ** 2) * weights
    variance = (float(squares.sum()) + IMAGINED_MEASUREMENTS * source.variance) / (totals.sum() + IMAGINED_MEASUREMENTS)
    return MeasuredSource(source.rater, means, max(variance, 1e-9))


def _add_measured(logs: Float64Array, ratings: Ratings, sources: tuple[MeasuredSource, ...]) -> None:
    measured = ratings.estimates
    for source in sources:
        own = measured.raters == source.rater
        variance = source.variance + measured.errors[own] ** 2
        said = -((measured.values[own, None] - source.means) ** 2) / (2 * variance[:, None])
        np.add.at(logs, measured.pairs[own], said)
