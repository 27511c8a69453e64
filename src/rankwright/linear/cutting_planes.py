"""Structural SVMs with one slack variable, trained by cutting planes (Joachims, Finley, Yu 2009).

Minimise ½ |w|² + C · ξ, where ξ is the cost of the worst ranking of all queries together. Of the constraints, one for
every joint ranking, only the most violated ones are looked at: each step finds one by an oracle, adds it, and solves
the problem of those found so far, whose dual has a variable for each.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import ClassVar, Protocol

import numpy as np

from rankwright.arrays import Arrays, Float32Array, Float64Array
from rankwright.errors import MissingExtraError
from rankwright.linear.scorers import linear_scores, sum_rows
from rankwright.training.driver import RemembersArrays

SMALLEST_CURVATURE = 1e-10  # added to the dual, as a share of its largest: repeated planes leave none


class Oracle(Protocol):
    """Finds the joint ranking that breaks the constraints most."""

    def __call__(self, scores: Float64Array) -> tuple[Float64Array, float]:
        """The coefficient of each document's features in Ψ(right) - Ψ(found), and the cost of the found ranking."""


class CuttingPlanes(RemembersArrays):
    """Weights, and the constraints w·plane ≥ loss - ξ found so far."""

    remembered: ClassVar[tuple[str, ...]] = ("weights", "planes", "losses")
    grown: ClassVar[tuple[str, ...]] = ("planes", "losses")

    def __init__(
        self, features: Float32Array, oracle: Oracle, *, C: float, tolerance: float, threads: int, purpose: str
    ) -> None:
        if find_spec("clarabel") is None:
            raise MissingExtraError(f"ranker {purpose}", "clarabel", "svm")
        self.features, self.oracle, self.C, self.tolerance, self.threads = features, oracle, C, tolerance, threads
        n = features.shape[1]
        self.weights, self.planes, self.losses = np.zeros(n), np.zeros((0, n)), np.zeros(0)

    def take_step(self, step: int) -> bool:  # noqa: ARG002
        """Add a constraint; False where none is broken by more than the tolerance."""
        coefficients, loss = self.oracle(linear_scores(self.features, self.weights, threads=self.threads))
        plane = sum_rows(self.features, coefficients, threads=self.threads)
        slack = float((self.losses - self.planes @ self.weights).max(initial=0.0))
        if loss - float(plane @ self.weights) <= slack + self.tolerance:
            return False
        self.planes, self.losses = np.vstack([self.planes, plane]), np.append(self.losses, loss)
        self.weights = solve_dual(self.planes, self.losses, self.C) @ self.planes
        return True

    def model(self) -> Arrays:
        """The weights."""
        return {"weights": self.weights.copy()}


def solve_dual(planes: Float64Array, losses: Float64Array, C: float) -> Float64Array:
    """The α ≥ 0 with Σ α ≤ C that maximise α·losses - ½ |α·planes|²; α·planes are the weights."""
    import clarabel
    from scipy import sparse

    n = len(losses)
    products = planes @ planes.T
    largest = float(np.diag(products).max(initial=0.0)) or 1.0
    # In units where the dual's curvature is at most 1, so that the solver's tolerances mean something.
    curvature = sparse.csc_matrix(np.triu(products / largest + SMALLEST_CURVATURE * np.eye(n)))
    bounds = sparse.csc_matrix(np.vstack([np.ones((1, n)), -np.eye(n)]))
    limits = np.concatenate([[C * largest], np.zeros(n)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    cones = [clarabel.NonnegativeConeT(n + 1)]
    found = clarabel.DefaultSolver(curvature, -losses, bounds, limits, cones, settings).solve()
    alphas: Float64Array = np.maximum(np.array(found.x), 0.0) / largest
    return alphas * min(1.0, C / max(float(alphas.sum()), np.finfo(float).tiny))
