"""Nyström features: what a kernel machine sees, in as many dimensions as there are landmarks.

A function f(x) = Σ αᵢ k(x, zᵢ) over landmarks zᵢ is linear in φ(x) = K^(-1/2) [k(x, z₁), …, k(x, z_m)] where K is
the kernel matrix of the landmarks, and its norm in the kernel's Hilbert space is that of its weights there (RankNet,
Eq. 17-18).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, Float64Array, Seed, generator
from rankwright.container.checks import read_array, read_field, read_number
from rankwright.errors import InputError, UnknownNameError, require

# Directions of the landmarks' kernel matrix with less than this share of its largest eigenvalue are rounding errors.
SMALLEST_SHARE = 1e-10


def _rbf(rows: Float64Array, landmarks: Float64Array, gamma: float) -> Float64Array:
    squares = (rows**2).sum(axis=1)[:, None] + (landmarks**2).sum(axis=1) - 2.0 * rows @ landmarks.T
    values: Float64Array = np.exp(-gamma * np.maximum(squares, 0.0))
    return values


def _polynomial(degree: int) -> Callable[[Float64Array, Float64Array, float], Float64Array]:
    def kernel(rows: Float64Array, landmarks: Float64Array, gamma: float) -> Float64Array:
        values: Float64Array = (1.0 + gamma * (rows @ landmarks.T)) ** degree
        return values

    return kernel


KERNELS: Mapping[str, Callable[[Float64Array, Float64Array, float], Float64Array]] = {
    "rbf": _rbf,  # exp(-γ |x - z|²)
    "quadratic": _polynomial(2),  # (1 + γ x·z)²
    "cubic": _polynomial(3),
}


def kernel_slopes(
    kernel: str, rows: Float64Array, landmarks: Float64Array, gamma: float, weights: Float64Array
) -> Float64Array:
    """The gradients at rows of a weighted sum of kernel values with landmarks; weights for all rows, or for each.

    Sums are NumPy's own: the same bits however many threads multiply matrices.
    """
    products = np.einsum("nf,mf->nm", rows, landmarks)
    if kernel == "rbf":
        squares = (rows**2).sum(axis=1)[:, None] + (landmarks**2).sum(axis=1) - 2.0 * products
        inner = weights * np.exp(-gamma * np.maximum(squares, 0.0))
        pulled = np.einsum("nm,mf->nf", inner, landmarks) - inner.sum(axis=1)[:, None] * rows
        return np.asarray(2.0 * gamma * pulled)
    degree = {"quadratic": 2, "cubic": 3}[kernel]
    inner = weights * degree * gamma * (1.0 + gamma * products) ** (degree - 1)
    slopes: Float64Array = np.einsum("nm,mf->nf", inner, landmarks)
    return slopes


@dataclass(frozen=True, slots=True, eq=False)
class FittedNystrom:
    """A kernel, its landmarks, and the matrix that gives weights the norm of the kernel's space."""

    kernel: str
    gamma: float
    landmarks: Float64Array  # (landmarks, features)
    whitening: Float64Array  # K^(-1/2)

    @property
    def n_landmarks(self) -> int:
        """The number of features after the map."""
        return len(self.landmarks)

    def transform(self, features: Float32Array) -> Float32Array:
        """The mapped features, one row per document; no input may be missing."""
        if features.shape[1] != self.landmarks.shape[1]:
            raise InputError(f"the kernel was fitted on {self.landmarks.shape[1]} features, got {features.shape[1]}")
        values = KERNELS[self.kernel](features.astype(np.float64), self.landmarks, self.gamma)
        return (values @ self.whitening).astype(np.float32)

    def slopes(self, rows: Float64Array, weights: Float64Array) -> Float64Array:
        """The gradients of a weighted sum of the landmarks' kernel values at rows; weights for all rows, or for each.

        Of mapped features with the weights w it is the sum with the weights `whitening` · w.
        """
        return kernel_slopes(self.kernel, rows, self.landmarks, self.gamma, weights)

    @property
    def header(self) -> dict[str, Any]:
        """What `of_parts` needs besides `learned`, in types JSON can hold."""
        return {"kernel": self.kernel, "gamma": self.gamma}

    @property
    def learned(self) -> dict[str, NDArray[Any]]:
        """The arrays, by name."""
        return {"landmarks": self.landmarks, "whitening": self.whitening}

    @classmethod
    def of_parts(
        cls, header: Mapping[str, Any], learned: Mapping[str, NDArray[Any]], n_features: int | None = None
    ) -> FittedNystrom:
        """The map that had this header and these arrays, of so many features where that is known."""
        kernel = read_field(header, "kernel", str)
        if kernel not in KERNELS:
            raise UnknownNameError("kernel", kernel, known=KERNELS)
        landmarks = read_array(learned, "landmarks", np.float64, (None, n_features))
        whitening = read_array(learned, "whitening", np.float64, (len(landmarks), len(landmarks)))
        return cls(kernel, read_number(header, "gamma"), landmarks, whitening)


def fit_nystrom(
    features: Float32Array, kernel: str = "rbf", *, n_landmarks: int = 300, gamma: float | None = None, seed: Seed = 0
) -> FittedNystrom:
    """The map of `kernel` with landmarks drawn from the rows of `features`; γ is 1 / the number of features by default.

    Where there are fewer rows than landmarks wanted, all rows are landmarks, and the map is the kernel itself.
    """
    if kernel not in KERNELS:
        raise UnknownNameError("kernel", kernel, known=KERNELS)
    require(n_landmarks >= 1, f"landmarks must be 1 or more, got {n_landmarks}")
    require(gamma is None or gamma > 0, f"gamma must be above 0, got {gamma}")
    rows = generator(seed).permutation(len(features))[:n_landmarks]
    landmarks = features[np.sort(rows)].astype(np.float64)
    width = 1.0 / max(1, features.shape[1]) if gamma is None else float(gamma)
    values, vectors = np.linalg.eigh(KERNELS[kernel](landmarks, landmarks, width))
    kept = values > SMALLEST_SHARE * values.max(initial=0.0)
    roots = np.divide(1.0, np.sqrt(np.maximum(values, 0.0)), out=np.zeros_like(values), where=kept)
    return FittedNystrom(kernel, width, landmarks, (vectors * roots) @ vectors.T)
