"""Coordinate ascent (Metzler and Croft 2007): a linear model whose weights climb a metric, one at a time.

A metric of ranked lists is flat almost everywhere, so there is no gradient to follow. Instead each weight in turn tries
steps up and down, each twice as far as the one before, and keeps the one with the highest metric. Only the ratios of
weights matter to an order: their sizes are scaled to add up to 1. When a sweep over all weights gains less than
`tolerance`, the climb has ended, and another starts elsewhere, because there are many local maxima.

For one weight, scores are s + d · x for all the steps d at once: only queries in which x differs are ranked again, the
sorting for each step starts from the order of the step before, and one call of the metric measures all steps.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, BoolArray, Float32Array, Float64Array, IntArray
from rankwright.boosters.climbing import ClimbingRecipe, MeasuredLists, WeightedSumRanker
from rankwright.boosters.model import weighted_sum
from rankwright.boosters.settings import CoordinateAscentSettings
from rankwright.container.checks import check_between, read_array
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.ranking.order import Ranking, Ties

REAL_GAIN = 1e-12  # a smaller gain is rounding
STARTS, SWEEPS = 0, 1  # streams of random numbers: starts and sweeps draw independently


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The weights after a sweep, their value, the gain of the sweep, and the number of its start."""

    weights: Float64Array
    reached: float
    gained: float  # infinite for the first sweep from a start
    start: int


class CoordinateAscentLearner:
    """The training of coordinate ascent, whose state is the last sweep."""

    def __init__(
        self, features: Float32Array, lists: MeasuredLists, settings: CoordinateAscentSettings, threads: int = 1
    ) -> None:
        self.lists, self.settings, self.threads = lists, settings, threads
        self.features = features[lists.rows]
        self.last: Sweep | None = None
        self._differing = _differing_queries(self.features, lists.groups)
        # The distances that a weight tries, up and down, in ascending order: 0, and 1, 3, 7, … first steps.
        up = settings.first_step * (2.0 ** np.arange(1, settings.n_doublings + 1) - 1)
        self._steps = np.concatenate([-up[::-1], [0.0], up])

    def take_step(self, step: int) -> bool:
        """Sweep once over all weights; False where the last start's climb has ended."""
        if not self._differing.any():
            return False
        before = self.last
        if before is not None and before.gained < max(self.settings.tolerance, REAL_GAIN):
            if before.start + 1 == self.settings.restarts:
                return False
            start, before = before.start + 1, None
        else:
            start = 0 if before is None else before.start
        features = np.flatnonzero(self._differing.any(axis=1))
        order = np.random.default_rng([self.settings.seed, SWEEPS, step]).permutation(features)
        weights, reached = self._sweep(self._start(start) if before is None else before.weights, order, start)
        self.last = Sweep(weights, reached, math.inf if before is None else reached - before.reached, start)
        return True

    def model(self) -> Arrays:
        """The weight of each feature."""
        return {"weights": np.zeros(self.features.shape[1]) if self.last is None else self.last.weights}

    def memory(self) -> Arrays:
        """The last sweep."""
        last = self.last
        assert last is not None  # a step was taken before
        values = np.array([last.reached, last.gained])
        return {"weights": last.weights, "values": values, "start": np.array([last.start])}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on after the last sweep of an earlier run."""
        weights = read_array(memory, "weights", np.float64, (self.features.shape[1],))
        reached, gained = read_array(memory, "values", np.float64, (2,), finite=False).tolist()
        start = read_array(memory, "start", np.int64, (1,))
        check_between("start", start, 0, self.settings.restarts - 1)
        if not math.isfinite(reached) or math.isnan(gained):
            raise InputError(f"the last sweep must have reached a finite value, got {reached} after {gained} more")
        self.last = Sweep(np.array(weights), reached, gained, int(start[0]))

    def _start(self, number: int) -> Float64Array:
        """The weights of a start, which add up to 1: equal for the first start, random for the others."""
        n_features = self.features.shape[1]
        if number == 0:
            return np.full(n_features, 1 / n_features)
        return np.random.default_rng([self.settings.seed, STARTS, number]).dirichlet(np.ones(n_features))

    def _sweep(self, weights: Float64Array, order: IntArray, start: int) -> tuple[Float64Array, float]:
        weights, origin = weights.copy(), self._start(start)
        # Computed from the weights alone, so that a resumed run goes on as if it had never stopped.
        scores = weighted_sum(self.features, weights)
        values = self.lists.of_scores(scores, threads=self.threads)
        reached = self._objective(values[None, :], weights[None, :], origin)[0]
        for feature in order.tolist():
            column = self.features[:, feature].astype(np.float64)
            moves = np.unique(np.append(self._steps, -weights[feature]))  # a weight may also go to 0
            tried = self._values_of_moves(scores, column, moves, self._differing[feature], values)
            candidates = np.repeat(weights[None, :], len(moves), axis=0)
            candidates[:, feature] += moves
            objectives = self._objective(tried, candidates, origin)
            objectives[np.abs(candidates).sum(axis=1) <= REAL_GAIN] = -np.inf  # no weight left
            best = _nearest_best(objectives, moves)
            if objectives[best] <= reached + REAL_GAIN:
                continue
            size = float(np.abs(candidates[best]).sum())
            weights, reached, values = candidates[best] / size, float(objectives[best]), tried[best]
            scores = (scores + moves[best] * column) / size
        return weights, float(reached)

    def _objective(self, values: Float64Array, weights: Float64Array, origin: Float64Array) -> Float64Array:
        """The mean of each row of values (a column is a query), less `slack` times how far the weights have moved."""
        means: Float64Array = np.einsum("mq,q->m", values, self.lists.weights / self.lists.weights.sum())
        if self.settings.slack == 0:
            return means
        sizes = np.maximum(np.abs(weights).sum(axis=1, keepdims=True), REAL_GAIN)
        gone: Float64Array = np.abs(weights / sizes - origin).sum(axis=1)
        return means - self.settings.slack * gone

    def _values_of_moves(
        self,
        scores: Float64Array,
        column: Float64Array,
        moves: Float64Array,
        differing: BoolArray,
        values: Float64Array,
    ) -> Float64Array:
        """The values after each move, a column for each query; queries in which `column` is constant keep theirs."""
        queries = np.flatnonzero(differing)
        groups = self.lists.groups
        rows = groups.rows_of(queries)
        sizes = groups.sizes[queries]
        moved, ranked = np.empty(len(moves) * len(rows)), np.empty(len(moves) * len(rows), np.int64)
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        kernels.rank_moves(scores[rows], column[rows], moves, offsets, moved, ranked, self.threads)
        stacked = Groups.of_sizes(np.tile(sizes, len(moves)))
        ranking = Ranking(ranked, stacked, moved, stacked.sizes, Ties.AVERAGED)
        labels = np.tile(self.lists.labels[rows], len(moves))
        after = np.repeat(values[None, :], len(moves), axis=0)
        measured = self.lists.of_ranking(ranking, labels, threads=self.threads)
        after[:, queries] = measured.reshape(len(moves), len(queries))
        return after


def _differing_queries(features: Float32Array, groups: Groups) -> BoolArray:
    """Whether documents of a query differ in a feature: a row for each feature, a column for each query."""
    differing = np.zeros((features.shape[1], groups.n_queries), np.bool_)
    for query, docs in enumerate(groups.slices()):
        differing[:, query] = (features[docs] != features[docs.start]).any(axis=0)
    return differing


def _nearest_best(objectives: Float64Array, moves: Float64Array) -> int:
    """The index of the best objective; among equals, that of the shortest move."""
    best = np.flatnonzero(objectives >= objectives.max() - REAL_GAIN)
    return int(best[np.argmin(np.abs(moves[best]))])


class CoordinateAscent(WeightedSumRanker, CoordinateAscentSettings):
    """`metric` is what is climbed, any metric between 0 and 1. In a sweep each weight in turn, in random order, tries
    `n_doublings` steps up and as many down, the first as long as `first_step` (the absolute values of all weights add
    up to 1), each twice as far as the one before, and the weight 0; it keeps the best. A climb ends with a sweep that
    gains less than `tolerance`; then the next of `restarts` begins, the first from equal weights, others from weights
    drawn at random. `n_sweeps` limits the sweeps of all climbs together. `slack` times the distance of the weights from
    their start, as a share of all weights, is subtracted from the metric: a larger `slack` keeps them closer.

    The weights kept are those after the sweep with the best value of `select` (default: `metric`) on the validation
    documents, or on the training ones where there are none. Queries count by their weight times the mean weight of
    their documents; those whose documents all have one label teach nothing and are left out. `scaling` decides how
    long a step is for each feature.
    """

    recipe = ClimbingRecipe(CoordinateAscentLearner)
