"""How the arrays of a model score documents without missing values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array
from rankwright.errors import InputError
from rankwright.explanations.contributions import Contributions, along_paths, settled
from rankwright.features.nystrom import FittedNystrom, kernel_slopes

MAPPED_AT_A_TIME = 2048  # rows: their kernel values in double precision take little memory


class Scorer(Protocol):
    """Something that scores documents."""

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """A score for each row; nothing may be missing."""

    def contributions(self, features: Float64Array, scores: Float64Array) -> Contributions:
        """What each feature adds to these scores, counted from features of 0."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearScorer:
    """Weighted sums of features, or of Nyström features, plus a constant."""

    weights: Float64Array
    constant: float = 0.0
    nystrom: FittedNystrom | None = None

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """The weighted sum of each row."""
        inputs = features if self.nystrom is None else mapped(features, self.nystrom)
        return linear_scores(inputs, self.weights, threads=threads) + self.constant

    def contributions(self, features: Float64Array, scores: Float64Array) -> Contributions:
        """Weights times values; of Nyström features, gradients integrated from features of 0."""
        if self.nystrom is None:
            return Contributions(features * self.weights, self.constant, "weights × values")
        nystrom, weights = self.nystrom, self.nystrom.whitening @ self.weights
        return _from_zero(self, features, scores, lambda rows: nystrom.slopes(rows, weights))


@dataclass(frozen=True, slots=True, eq=False)
class QuadraticScorer:
    """A function in the space of the kernel (1 + γ x·z)²: constant + 2γ weights·x + γ² xᵀ matrix x."""

    gamma: float
    constant: float
    weights: Float64Array
    matrix: Float64Array

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """The value of the quadratic form at each row."""
        out = np.empty(len(features))
        kernels.quadratic_scores(features, self.gamma, self.constant, self.weights, self.matrix, out, threads)
        return out

    def contributions(self, features: Float64Array, scores: Float64Array) -> Contributions:
        """Each feature's own terms, and half of every product of two."""
        products = np.einsum("nf,fg->ng", features, (self.matrix + self.matrix.T) / 2)
        values = 2 * self.gamma * self.weights * features + self.gamma**2 * features * products
        return Contributions(settled(values, scores - self.constant), self.constant, "terms of the quadratic form")


@dataclass(frozen=True, slots=True, eq=False)
class KernelScorer:
    """Sums of kernel values with supporting documents."""

    kernel: str
    gamma: float
    support: Float32Array  # (supporting documents, features)
    coefficients: Float64Array

    def __post_init__(self) -> None:
        if len(self.support) != len(self.coefficients):
            raise InputError(f"{len(self.support)} supporting documents have {len(self.coefficients)} coefficients")

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """The sum over supporting documents at each row."""
        out = np.empty(len(features))
        kernels.kernel_scores(features, self.support, self.coefficients, self.kernel, self.gamma, out, threads)
        return out

    def contributions(self, features: Float64Array, scores: Float64Array) -> Contributions:
        """Gradients integrated from features of 0."""
        support = self.support.astype(np.float64)
        return _from_zero(
            self, features, scores,
            lambda rows: kernel_slopes(self.kernel, rows, support, self.gamma, self.coefficients),
        )  # fmt: skip


def _from_zero(
    scorer: Scorer, features: Float64Array, scores: Float64Array, slopes: Callable[[Float64Array], Float64Array]
) -> Contributions:
    """Gradients integrated along straight lines from features of 0."""
    base = float(scorer.scores(np.zeros((1, features.shape[1]), np.float32), threads=1)[0])
    values = along_paths(slopes, np.zeros_like(features), features, scores - base)
    return Contributions(values, base, "integrated gradients from features of 0")


def linear_scores(features: Float32Array, weights: Float64Array, *, threads: int) -> Float64Array:
    """The scalar product of each row and the weights; its bits do not depend on the other rows."""
    out = np.empty(len(features))
    kernels.linear_scores(features, weights, out, threads)
    return out


def sum_rows(features: Float32Array, factors: Float64Array, *, threads: int) -> Float64Array:
    """The sum of all rows, each times its factor."""
    out = np.empty(features.shape[1])
    kernels.sum_rows(features, factors, out, threads)
    return out


def mapped(features: Float32Array, nystrom: FittedNystrom) -> Float32Array:
    """The Nyström features of each row."""
    out = np.empty((len(features), nystrom.n_landmarks), np.float32)
    for start in range(0, len(features), MAPPED_AT_A_TIME):
        rows = slice(start, start + MAPPED_AT_A_TIME)
        out[rows] = nystrom.transform(features[rows])
    return out
