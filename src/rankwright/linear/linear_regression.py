"""Linear regression: labels as weighted sums of features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array
from rankwright.container.checks import check_alike
from rankwright.linear.linear_ranker import LinearRanker, LinearRecipe
from rankwright.linear.rows import JudgedRows
from rankwright.linear.scorers import sum_rows
from rankwright.linear.settings import LinearRegressionSettings
from rankwright.training.driver import Learner


def least_squares(settings: LinearRegressionSettings, rows: JudgedRows, threads: int) -> Learner:
    """The learner whose one step is the solution."""
    return LeastSquares(rows, l2=settings.l2, threads=threads)


class LinearRegression(LinearRanker, LinearRegressionSettings):
    """The weights minimise the mean squared error, by document and query weights, plus `l2` · |weights|²; the constant
    is not penalised. There is one step, and nothing to choose: `select` is only what `score` measures.
    """

    recipe = LinearRecipe(least_squares, alone=True)


def ridge(rows: JudgedRows, targets: Float64Array, *, l2: float, threads: int) -> tuple[Float64Array, float]:
    """The weights and the constant with the least weighted mean of squared errors plus l2 · |weights|²."""
    weights = rows.weights if len(rows.weights) else np.ones(len(rows.labels))
    total = float(weights.sum())
    n_features = rows.features.shape[1]
    if total == 0:
        return np.zeros(n_features), 0.0
    shares = weights / total
    mean = sum_rows(rows.features, shares, threads=threads)
    mean_target = float(shares @ targets)
    products = np.empty((n_features, n_features))
    kernels.gram_matrix(rows.features, shares, products, threads)
    covariance = products - np.outer(mean, mean)
    answers = sum_rows(rows.features, shares * (targets - mean_target), threads=threads)
    solution = np.asarray(np.linalg.lstsq(covariance + l2 * np.eye(n_features), answers, rcond=None)[0], np.float64)
    return solution, mean_target - float(mean @ solution)


class LeastSquares:
    """A learner whose one step is the solution."""

    def __init__(self, rows: JudgedRows, *, l2: float, threads: int) -> None:
        self.rows, self.l2, self.threads = rows, l2, threads
        self.weights, self.constant = np.zeros(rows.features.shape[1]), 0.0

    def take_step(self, step: int) -> bool:
        """Solve, once."""
        if step > 0:
            return False
        targets = self.rows.labels.astype(np.float64)
        self.weights, self.constant = ridge(self.rows, targets, l2=self.l2, threads=self.threads)
        return True

    def model(self) -> Arrays:
        """The weights and the constant."""
        return {"weights": self.weights.copy(), "constant": np.array([self.constant])}

    def memory(self) -> Arrays:
        """The weights and the constant."""
        return self.model()

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a solution."""
        check_alike(memory, self.memory())
        self.weights, self.constant = np.array(memory["weights"]), float(memory["constant"][0])
