"""SmoothRank: NDCG with documents at a rank softly, sharpened step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array
from rankwright.linear.least_squares import ridge
from rankwright.linear.models import linear_scores, sum_rows
from rankwright.linear.rows import JudgedRows
from rankwright.ranking.gains import EXPONENTIAL, LOG2, ideal_gains

MOST_ITERATIONS = 30  # of the minimiser, at one softness: the next begins where this one ends
REGRESSION_L2 = 1e-3  # of the start: enough to tell apart features that say the same


class SmoothRank:
    """Weights that maximise the mean smooth NDCG minus ½ · l2 · |weights - start|²; a step halves the softness σ."""

    def __init__(self, rows: JudgedRows, *, cutoff: int | None, sigma: float, l2: float, threads: int) -> None:
        self.rows, self.sigma, self.l2, self.threads = rows, sigma, l2, threads
        self.gains = EXPONENTIAL(rows.labels, threads)
        deepest = int(rows.groups.sizes.max(initial=0))
        self.discounts = LOG2.table(deepest if cutoff is None else min(cutoff, deepest))
        ideal = ideal_gains(self.gains, rows.groups, self.discounts, threads)
        total = float(rows.query_weights.sum()) or 1.0
        self.factors = np.divide(rows.query_weights, total * ideal, out=np.zeros_like(ideal), where=ideal > 0)
        self.start, _ = ridge(rows, rows.labels.astype(np.float64), l2=REGRESSION_L2, threads=threads)
        self.weights = self.start.copy()

    def cost(self, weights: Float64Array, sigma: float) -> tuple[float, Float64Array]:
        """What is minimised, and its derivatives."""
        scores = linear_scores(self.rows.features, weights, threads=self.threads)
        gradient, value = np.empty(len(scores)), np.empty(self.rows.groups.n_queries)
        kernels.smooth_gains(
            scores,
            self.rows.groups.offsets,
            self.gains,
            self.discounts,
            self.factors,
            sigma,
            gradient,
            value,
            self.threads,
        )
        moved = weights - self.start
        return (
            0.5 * self.l2 * float(moved @ moved) - float(value.sum()),
            self.l2 * moved - sum_rows(self.rows.features, gradient, threads=self.threads),
        )

    def take_step(self, step: int) -> bool:
        """Minimise at the step's softness, from where the last one ended."""
        from scipy.optimize import minimize

        sigma = self.sigma * 0.5**step
        found = minimize(
            self.cost, self.weights, args=(sigma,), jac=True, method="L-BFGS-B", options={"maxiter": MOST_ITERATIONS}
        )
        self.weights = np.array(found.x)
        return True

    def model(self) -> Arrays:
        """The weights."""
        return {"weights": self.weights.copy()}

    def memory(self) -> Arrays:
        """The weights: softness depends on the number of the step, the start on the data."""
        return {"weights": self.weights}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on from saved weights."""
        self.weights = np.array(memory["weights"])
