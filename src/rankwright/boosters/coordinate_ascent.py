"""Coordinate ascent (Metzler and Croft 2007): a linear model whose weights climb a metric, one at a time.

A metric of ranked lists is flat almost everywhere, so there is no gradient to follow. Instead each weight in turn tries
steps up and down, each twice as far as the one before, and keeps the one after which the metric is highest. Only the
ratios of weights matter to an order: they are scaled to add up to 1 in size. When a sweep over all weights gains less
than `tolerance`, the climb has ended, and another starts elsewhere: there are many local maxima.

For one weight, scores are s + d · x for all the steps d at once: only queries in which x differs are ranked again, each
step's order is where sorting for the next begins, and one call of the metric measures all steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.boosters.measured_lists import MeasuredLists
from rankwright.boosters.weighted_sum import column_of, weighted_sum
from rankwright.data.groups import Groups
from rankwright.errors import require
from rankwright.ranking.order import Ranking, Ties

REAL_GAIN = 1e-12  # less is rounding
STARTS, SWEEPS = 0, 1  # what is drawn for a start and for a sweep does not depend on each other


@dataclass(frozen=True, slots=True, kw_only=True)
class ClimbParams:
    """How weights climb."""

    restarts: int = 5
    first_step: float = 0.001
    n_doublings: int = 10
    tolerance: float = 0.001
    slack: float = 0.0  # what a weight's distance from its start, as a share of all weights, takes off the metric
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.restarts >= 1, f"restarts must be 1 or more, got {self.restarts}")
        require(self.first_step > 0, f"first_step must lie above 0, got {self.first_step}")
        require(1 <= self.n_doublings <= 60, f"n_doublings must lie between 1 and 60, got {self.n_doublings}")
        require(self.tolerance >= 0, f"tolerance must be 0 or more, got {self.tolerance}")
        require(self.slack >= 0, f"slack must be 0 or more, got {self.slack}")

    def steps(self) -> Float64Array:
        """The distances a weight tries, up and down, in ascending order: 1, 3, 7, … first steps, and none."""
        up = self.first_step * (2.0 ** np.arange(1, self.n_doublings + 1) - 1)
        return np.concatenate([-up[::-1], [0.0], up])


@dataclass(frozen=True, slots=True, eq=False)
class Sweep:
    """The weights after a sweep, what they reach, and which of the starts they come from."""

    weights: Float64Array
    reached: float
    start: int


class CoordinateAscent:
    """Coordinate ascent in the making: the sweeps so far."""

    def __init__(
        self,
        features: Float32Array,
        lists: MeasuredLists,
        params: ClimbParams,
        *,
        watched: Float32Array | None = None,
        threads: int = 1,
    ) -> None:
        self.lists, self.params, self.threads = lists, params, threads
        self.features = features[lists.rows]
        self.watched = np.empty((0, features.shape[1]), np.float32) if watched is None else watched
        self.sweeps: list[Sweep] = []
        self.watched_scores = np.zeros(len(self.watched))
        self._differing = _differing_queries(self.features, lists.groups)
        self._steps = params.steps()

    @property
    def n_rounds(self) -> int:
        """How many sweeps have been made, from all starts together."""
        return len(self.sweeps)

    def take_step(self, step: int) -> bool:
        """Sweep once over all weights; False where the last start's climb has ended."""
        if not self._differing.any():
            return False
        last = self.sweeps[-1] if self.sweeps else None
        if last is None:
            start, weights = 0, self._start(0)
        elif self._has_ended():
            start, weights = last.start + 1, self._start(last.start + 1)
        else:
            start, weights = last.start, last.weights
        if start == self.params.restarts:
            return False
        features = np.flatnonzero(self._differing.any(axis=1))
        order = np.random.default_rng([self.params.seed, SWEEPS, step]).permutation(features)
        self._keep(self._sweep(weights, order, start))
        return True

    def weights(self, n_rounds: int) -> Float64Array:
        """The weights after that many sweeps."""
        return self.sweeps[n_rounds - 1].weights if n_rounds else np.zeros(self.features.shape[1])

    def to_arrays(self) -> Mapping[str, NDArray[Any]]:
        """The sweeps so far."""
        n_features = self.features.shape[1]
        return {
            "weights": np.array([sweep.weights for sweep in self.sweeps]).reshape(-1, n_features),
            "reached": np.array([sweep.reached for sweep in self.sweeps]),
            "start": np.array([sweep.start for sweep in self.sweeps], np.int64),
        }

    def take_up(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue after sweeps that were written down."""
        for weights, reached, start in zip(arrays["weights"], arrays["reached"], arrays["start"], strict=True):
            self._keep(Sweep(np.array(weights), float(reached), int(start)))

    def _keep(self, sweep: Sweep) -> None:
        self.sweeps.append(sweep)
        self.watched_scores = weighted_sum(self.watched, sweep.weights)

    def _has_ended(self) -> bool:
        own = [sweep.reached for sweep in self.sweeps if sweep.start == self.sweeps[-1].start]
        return len(own) > 1 and own[-1] - own[-2] < max(self.params.tolerance, REAL_GAIN)

    def _start(self, number: int) -> Float64Array:
        """The first start has equal weights, others weights drawn at random; all add up to 1."""
        n_features = self.features.shape[1]
        if number == 0:
            return np.full(n_features, 1 / n_features)
        return np.random.default_rng([self.params.seed, STARTS, number]).dirichlet(np.ones(n_features))

    def _sweep(self, weights: Float64Array, order: IntArray, start: int) -> Sweep:
        weights, origin = weights.copy(), self._start(start)
        # From the weights alone, so that a run that is taken up again goes on as if it had never stopped.
        scores = weighted_sum(self.features, weights)
        values = self.lists.of_scores(scores, threads=self.threads)
        reached = self._objective(values[None, :], weights[None, :], origin)[0]
        for feature in order.tolist():
            column = column_of(self.features, feature)
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
        return Sweep(weights, float(reached), start)

    def _objective(self, values: Float64Array, weights: Float64Array, origin: Float64Array) -> Float64Array:
        """For each row of values, a column a query: their mean, less `slack` times how far the weights have gone."""
        means: Float64Array = np.einsum("mq,q->m", values, self.lists.weights / self.lists.weights.sum())
        if self.params.slack == 0:
            return means
        sizes = np.maximum(np.abs(weights).sum(axis=1, keepdims=True), REAL_GAIN)
        gone: Float64Array = np.abs(weights / sizes - origin).sum(axis=1)
        return means - self.params.slack * gone

    def _values_of_moves(
        self,
        scores: Float64Array,
        column: Float64Array,
        moves: Float64Array,
        differing: BoolArray,
        values: Float64Array,
    ) -> Float64Array:
        """The values of all queries, a column each, after each move; where the column is constant they stay."""
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
    """For each feature, a row, in which queries not all documents have the same value of it."""
    differing = np.zeros((features.shape[1], groups.n_queries), np.bool_)
    known = np.nan_to_num(features, nan=0.0)
    for query, docs in enumerate(groups.slices()):
        differing[:, query] = (known[docs] != known[docs.start]).any(axis=0)
    return differing


def _nearest_best(objectives: Float64Array, moves: Float64Array) -> int:
    """The place of the best objective; of several, that of the shortest move."""
    best = np.flatnonzero(objectives >= objectives.max() - REAL_GAIN)
    return int(best[np.argmin(np.abs(moves[best]))])
