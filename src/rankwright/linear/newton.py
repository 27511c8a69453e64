"""Newton's method for a convex cost of linear scores: each step solves for its direction by conjugate gradients.

The Hessian is never formed: its product with a vector takes two passes over the documents. From step to step, only
the weights and the length of the first gradient are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float32Array, Float64Array
from rankwright.container.checks import check_alike
from rankwright.linear.model import linear_scores, sum_rows
from rankwright.linear_algebra import inner, length

LEAST_DECREASE = 1e-4  # of what the slope promises: Armijo's rule
SHORTEST_STEP = 2.0**-20
MOST_PRODUCTS = 30  # with the Hessian, in a step: later steps begin where this one ends
LOOSEST_SOLUTION = 0.1  # a direction is good enough when this share of the gradient is left


class ScoreCost(Protocol):
    """A convex cost of the scores of all documents."""

    def evaluate(self, scores: Float64Array) -> tuple[float, Float64Array]:
        """The cost and its derivatives."""

    def curve(self, scores: Float64Array, direction: Float64Array) -> Float64Array:
        """The product of the second derivatives at `scores` with `direction`."""


class NewtonLearner:
    """Minimises cost(X · weights) + ½ · l2 · |weights|²."""

    def __init__(
        self, features: Float32Array, cost: ScoreCost, *, l2: float, tolerance: float = 1e-4, threads: int
    ) -> None:
        self.features, self.cost, self.l2, self.tolerance, self.threads = features, cost, l2, tolerance, threads
        self.weights = np.zeros(features.shape[1])
        self.scores = np.zeros(len(features))
        self.first_slope: float | None = None  # the length of the first gradient

    def take_step(self, step: int) -> bool:  # noqa: ARG002
        """One Newton step; False where the gradient has become small against the first one."""
        cost, forces = self.cost.evaluate(self.scores)
        gradient = sum_rows(self.features, forces, threads=self.threads) + self.l2 * self.weights
        slope = length(gradient)
        if self.first_slope is None:
            self.first_slope = slope
        if slope <= self.tolerance * self.first_slope:
            return False
        direction = self._direction(gradient, slope)
        moved = self._search(cost + 0.5 * self.l2 * inner(self.weights, self.weights), gradient, direction)
        if moved is None:
            return False
        self._put(moved)
        return True

    def _direction(self, gradient: Float64Array, slope: float) -> Float64Array:
        """An approximation of -H⁻¹ · gradient."""
        direction, rest = np.zeros_like(gradient), -gradient
        along, square = rest.copy(), inner(rest, rest)
        goal = min(LOOSEST_SOLUTION, np.sqrt(slope / (self.first_slope or 1.0))) * slope
        for _ in range(MOST_PRODUCTS):
            product = self._product(along)
            bend = inner(along, product)
            if bend <= 0:
                break
            share = square / bend
            direction += share * along
            rest -= share * product
            before, square = square, inner(rest, rest)
            if np.sqrt(square) <= goal:
                break
            along = rest + (square / before) * along
        return direction

    def _product(self, vector: Float64Array) -> Float64Array:
        of_scores = linear_scores(self.features, vector, threads=self.threads)
        forces = self.cost.curve(self.scores, of_scores)
        return sum_rows(self.features, forces, threads=self.threads) + self.l2 * vector

    def _search(self, value: float, gradient: Float64Array, direction: Float64Array) -> Float64Array | None:
        """The weights after the longest of the steps 1, ½, ¼, … that lowers the cost enough."""
        promise = inner(gradient, direction)
        of_scores = linear_scores(self.features, direction, threads=self.threads)
        share = 1.0
        while share >= SHORTEST_STEP and promise < 0:
            weights = self.weights + share * direction
            cost = self.cost.evaluate(self.scores + share * of_scores)[0] + 0.5 * self.l2 * inner(weights, weights)
            if cost <= value + LEAST_DECREASE * share * promise:
                return weights
            share *= 0.5
        return None

    def _put(self, weights: Float64Array) -> None:
        # Scores are computed anew, not moved: a run resumed from its weights must have the same.
        self.weights = weights
        self.scores = linear_scores(self.features, weights, threads=self.threads)

    def model(self) -> Arrays:
        """The weights."""
        return {"weights": self.weights.copy()}

    def memory(self) -> Arrays:
        """The weights, and the length of the first gradient."""
        return {"weights": self.weights, "first_slope": np.array([self.first_slope or 0.0])}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue from saved weights."""
        check_alike(memory, self.memory())
        self.first_slope = float(memory["first_slope"][0])
        self._put(np.array(memory["weights"]))
