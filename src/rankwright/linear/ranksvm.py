"""RankSVM: weights that put pairs of different labels a margin apart.

The cost is the square of how far pairs are from a distance of 1. Pairs of labels are summed over without being formed;
preferences are pairs as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Arrays, Float32Array, Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.features.missing import filled
from rankwright.features.nystrom import FittedNystrom, fit_nystrom
from rankwright.kernels.records import MarginPairs, PairSums
from rankwright.linear.linear_ranker import JudgedRows, Levels, LinearRanker, LinearRecipe, ordinal_levels
from rankwright.linear.model import RankSVMModel, mapped
from rankwright.linear.newton import NewtonLearner
from rankwright.linear.settings import RankSVMSettings
from rankwright.linear_algebra import inner
from rankwright.ranking.gains import EXPONENTIAL
from rankwright.training.driver import Learner

MOST_LEVELS = 64  # that have pair weights of their own, which are looked up for each document


@dataclass(frozen=True, slots=True, eq=False)
class SummedPairs(MarginPairs):
    """The pairs of documents of different labels, summed on some threads."""

    threads: int

    def active(self, scores: Float64Array, values: Float64Array) -> PairSums:
        """Sums over pairs whose better document is less than 1 above the other."""
        sums = PairSums(*(np.empty(len(scores)) for _ in range(4)))
        kernels.pair_margins(self, scores, values, sums, self.threads)
        return sums


def margin_pairs(rows: JudgedRows, *, per_query: bool, position_weights: bool, threads: int) -> SummedPairs:
    """The pairs of `rows`; with `per_query` the pairs of a query share its weight, otherwise each of them has it.

    With `position_weights` a pair counts by how much NDCG its two labels are worth (Cao et al. 2006).
    """
    levels, level_weights = rows.levels_in_query(), np.empty((0, 0))
    if position_weights:
        levels, _ = ordinal_levels(rows.labels, MOST_LEVELS)
        level_weights = worth_of_levels(rows, levels)
    ones = np.ones(rows.groups.n_queries)
    pairs = SummedPairs(rows.groups.offsets, levels, rows.document_weights, ones, level_weights, threads)
    factors = rows.query_weights.copy()
    if per_query:
        # With equal scores every pair is active: what is summed is the weight of all pairs.
        zeros = np.zeros(len(rows.labels))
        weight_below = pairs.active(zeros, zeros).weight_below
        total = np.bincount(rows.groups.query_of_row, weights=weight_below, minlength=len(factors))
        factors = np.divide(factors, total, out=np.zeros_like(factors), where=total > 0)
    return replace(pairs, query_factors=factors)


def worth_of_levels(rows: JudgedRows, levels: Levels) -> Float64Array:
    """For each two levels, what NDCG loses when two such documents of a perfect ranking change places.

    It is averaged over all such pairs of a query, then over the queries that have some, and scaled to a mean of 1.
    """
    n_levels = int(levels.max(initial=0)) + 1
    gains = EXPONENTIAL(rows.labels, 1)
    sums, counts = np.zeros((n_levels, n_levels)), np.zeros((n_levels, n_levels))
    for docs in rows.groups.slices():
        own, best_first = levels[docs], np.argsort(-gains[docs], kind="stable")
        discount = 1.0 / np.log2(np.arange(2.0, len(own) + 2))
        ideal = inner(discount, gains[docs][best_first])
        if ideal == 0:
            continue
        present, first = np.unique(own[best_first], return_index=True)
        size = np.bincount(own, minlength=n_levels)[present]
        by_level = np.bincount(own[best_first], weights=discount, minlength=n_levels)[present] / size
        gain = gains[docs][best_first][first]
        loss = (gain[:, None] - gain) * (by_level[:, None] - by_level) / ideal
        sums[np.ix_(present, present)] += loss
        counts[np.ix_(present, present)] += 1
    worth = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    mean = worth[worth > 0].mean() if (worth > 0).any() else 1.0
    return np.ascontiguousarray(worth / mean)


@dataclass(frozen=True, slots=True, eq=False)
class SquaredPairHinge:
    """C times the sum over pairs of weight · max(0, 1 - difference of scores)²."""

    pairs: SummedPairs
    C: float

    def evaluate(self, scores: Float64Array) -> tuple[float, Float64Array]:
        """The cost and its derivatives."""
        below, sum_below, above, sum_above = self.pairs.active(scores, scores)
        missing_below = (1.0 - scores) * below + sum_below  # Σ (1 - own + other) over worse partners
        missing_above = (1.0 + scores) * above - sum_above  # Σ (1 - other + own) over better ones
        forces = 2.0 * self.C * (missing_above - missing_below)
        # With h = 1 - difference, Σ h² = Σ h - Σ h · difference, and the forces along the scores give the latter.
        return self.C * float(missing_below.sum()) + 0.5 * inner(forces, scores), forces

    def curve(self, scores: Float64Array, direction: Float64Array) -> Float64Array:
        """The product of the second derivatives, of active pairs alone, with `direction`."""
        below, sum_below, above, sum_above = self.pairs.active(scores, direction)
        return 2.0 * self.C * ((below + above) * direction - sum_below - sum_above)


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
        out = np.bincount(self.better, values, minlength=n_docs).astype(np.float64)
        return out - np.bincount(self.worse, values, minlength=n_docs)


def listed_pairs(data: RankingDataset, C: float, *, per_query: bool) -> SquaredListedPairs:
    """The preferences of the data as pairs in both directions, weighted by how likely each direction is.

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


def by_labels(settings: RankSVMSettings, rows: JudgedRows, threads: int) -> Learner:
    """The learner of pairs of different labels."""
    by_place = settings.position_weights
    pairs = margin_pairs(rows, per_query=settings.per_query, position_weights=by_place, threads=threads)
    return _newton(settings, rows.features, SquaredPairHinge(pairs, settings.C), threads)


def by_preferences(settings: RankSVMSettings, data: RankingDataset, threads: int) -> Learner:
    """The learner of given pairs."""
    require(not settings.position_weights, "position_weights look at labels, and this dataset has preferences")
    pairs = listed_pairs(data, settings.C, per_query=settings.per_query)
    return _newton(settings, filled(data.features), pairs, threads)


def _newton(
    settings: RankSVMSettings, features: Float32Array, cost: SquaredPairHinge | SquaredListedPairs, threads: int
) -> Learner:
    if settings.kernel is None:
        return NewtonLearner(features, cost, l2=1.0, threads=threads)
    nystrom = fit_nystrom(
        features, settings.kernel, n_landmarks=settings.landmarks, gamma=settings.gamma, seed=settings.seed
    )
    return _OnNystromFeatures(NewtonLearner(mapped(features, nystrom), cost, l2=1.0, threads=threads), nystrom)


class RankSVM(LinearRanker, RankSVMSettings):
    """Minimises ½ |w|² + C · Σ weight · max(0, 1 - w·(better - worse))² over all pairs of different labels of a query,
    by Newton's method with conjugate gradients (Chapelle and Keerthi 2010). Sums over pairs come from sorting the
    scores, O(n log n) for n documents, whatever the number of different labels: no pair is formed. `max_iter` bounds
    the Newton steps, which end where the gradient is 1e-4 of the first one. The model is the minimum: `select` on
    validation documents is measured after each step, but does not choose an earlier one.

    With preferences in place of labels, each preference is a pair in both directions, weighted by how probable each
    direction is.

    A pair's weight is that of its query times those of both documents. Two more may multiply it (Cao et al. 2006):
    `per_query` makes the pairs of every query count the same together, and `position_weights` weighs a pair by what
    NDCG loses on average when two documents of its labels change places in a perfect ranking.

    `kernel` (rbf, quadratic, cubic) makes it a kernel machine through Nyström features of `landmarks` training
    documents; `gamma` is 1 over the number of features unless given.
    """

    model_kind = RankSVMModel
    chooses_steps: ClassVar[bool] = False

    recipe = LinearRecipe(by_labels, on_preferences=by_preferences)


class _OnNystromFeatures:
    """A learner whose model needs the kernel's map beside its weights."""

    def __init__(self, learner: NewtonLearner, nystrom: FittedNystrom) -> None:
        self.learner, self.nystrom = learner, nystrom
        self.take_step, self.memory, self.take_up = learner.take_step, learner.memory, learner.take_up

    def model(self) -> Arrays:
        return self.learner.model() | self.nystrom.learned | {"gamma": np.array([self.nystrom.gamma])}
