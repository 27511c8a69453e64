"""Linear regression: labels as weighted sums of features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array
from rankwright.linear.linear_ranker import JudgedRows, LinearRanker, LinearRecipe
from rankwright.linear.model import sum_rows
from rankwright.linear.settings import LinearRegressionSettings
from rankwright.linear_algebra import inner, solve_symmetric
from rankwright.memory import require_memory
from rankwright.training.driver import RemembersArrays


def ridge(rows: JudgedRows, targets: Float64Array, *, l2: float, threads: int) -> tuple[Float64Array, float]:
    """The weights and the constant with the least weighted mean of squared errors plus l2 · |weights|²."""
    weights = rows.weights if len(rows.weights) else np.ones(len(rows.labels))
    total = float(weights.sum())
    n_features = rows.features.shape[1]
    if total == 0:
        return np.zeros(n_features), 0.0
    shares = weights / total
    mean = sum_rows(rows.features, shares, threads=threads)
    mean_target = inner(shares, targets)
    require_memory(4 * 8 * n_features**2, f"regression on {n_features:,} features")  # four such matrices
    products = np.empty((n_features, n_features))
    kernels.gram_matrix(rows.features, shares, products, threads)
    covariance = products - np.outer(mean, mean)
    answers = sum_rows(rows.features, shares * (targets - mean_target), threads=threads)
    solution = solve_symmetric(covariance + l2 * np.eye(n_features), answers)
    return solution, mean_target - inner(mean, solution)


class LeastSquares(RemembersArrays):
    """A learner whose one step is the solution."""

    remembered: ClassVar[tuple[str, ...]] = ("weights", "constant")

    def __init__(self, settings: LinearRegressionSettings, rows: JudgedRows, threads: int) -> None:
        self.rows, self.l2, self.threads = rows, settings.l2, threads
        self.weights, self.constant = np.zeros(rows.features.shape[1]), np.zeros(1)

    def take_step(self, step: int) -> bool:
        """Solve, once."""
        if step > 0:
            return False
        targets = self.rows.labels.astype(np.float64)
        self.weights, self.constant[:] = ridge(self.rows, targets, l2=self.l2, threads=self.threads)
        return True

    def model(self) -> Arrays:
        """The weights and the constant."""
        return {"weights": self.weights.copy(), "constant": self.constant.copy()}


class LinearRegression(LinearRanker, LinearRegressionSettings):
    """The weights minimise the mean squared error, by document and query weights, plus `l2` · |weights|²; the constant
    is not penalised. There is one step, and nothing to choose: `select` is only what `score` measures.
    """

    recipe = LinearRecipe(LeastSquares, alone=True)
