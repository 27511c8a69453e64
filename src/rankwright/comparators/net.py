"""The comparator net: which of two documents ranks higher (SortNet, section 2).

Every hidden neuron has a dual with the same bias and with the weights of the two documents exchanged, and the two
outputs are duals of each other. So N≻(x, y) = N≺(y, x) whatever the weights, to the bit: the shared weights are stored
once. `hidden` counts neurons without their duals. Hidden neurons are hyperbolic tangents, outputs are sigmoids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.errors import InputError, require
from rankwright.memory import require_weights

WEIGHT_DTYPE = np.float32


@dataclass(frozen=True, slots=True, eq=False)
class ComparatorNet:
    """A comparator: its numbers of neurons, and its weights in the layout of native/core/comparators/comparator.hpp."""

    n_features: int
    hidden: tuple[int, ...]
    weights: Float32Array

    def __post_init__(self) -> None:
        check_hidden(self.hidden)
        wanted = n_weights(self.n_features, self.hidden)
        if self.weights.shape != (wanted,):
            raise InputError(f"a comparator of this size has {wanted} weights, got {self.weights.shape}")

    @property
    def sizes(self) -> IntArray:
        """The number of features, then the neurons of each hidden layer, as kernels take them."""
        return np.array([self.n_features, *self.hidden], np.int64)

    def margins(self, features: Float32Array, left: IntArray, right: IntArray, *, threads: int = 1) -> Float32Array:
        """The inputs of N≻ and N≺, a row for each pair of rows of `features`.

        The net prefers the left row where the first is larger. Sigmoids would make large inputs equal.
        """
        out = np.empty((len(left), 2), np.float32)
        kernels.compare_pairs(features, self.sizes, self.weights, left, right, out, threads)
        return out

    def outputs(self, features: Float32Array, left: IntArray, right: IntArray, *, threads: int = 1) -> Float64Array:
        """N≻ and N≺, a row for each pair of rows of `features`."""
        inputs = self.margins(features, left, right, threads=threads).astype(np.float64)
        return np.asarray(np.exp(-np.logaddexp(0.0, -inputs)))


def check_hidden(hidden: Sequence[int]) -> None:
    """Raise where there is no hidden layer, or one without neurons."""
    least = min(hidden, default=0)
    require(least >= 1, f"hidden must name 1 neuron or more in each layer, got {list(hidden)}")


def n_weights(n_features: int, hidden: Sequence[int]) -> int:
    """How many weights a comparator has; a weight that connections share counts once."""
    upper = sum(2 * below * n + n for below, n in pairwise([*hidden, 1]))
    return 2 * n_features * hidden[0] + hidden[0] + upper


def random_net(n_features: int, hidden: Sequence[int], rng: np.random.Generator) -> ComparatorNet:
    """A comparator with biases of 0 and small random weights, smaller for neurons with more inputs."""
    check_hidden(hidden)
    require_weights(n_weights(n_features, hidden), n_features)
    parts = []
    for below, n in pairwise([n_features, *hidden, 1]):
        deviation = 1.0 / np.sqrt(max(2 * below, 1))
        parts += [rng.normal(0.0, deviation, 2 * below * n), np.zeros(n)]
    return ComparatorNet(n_features, tuple(hidden), np.concatenate(parts).astype(WEIGHT_DTYPE))
