"""How the arrays of a model score documents without missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array
from rankwright.errors import InputError
from rankwright.features.nystrom import FittedNystrom

MAPPED_AT_A_TIME = 2048  # rows: their kernel values in double precision take little memory


class Scorer(Protocol):
    """Something that scores documents."""

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """A score for each row; nothing may be missing."""


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
