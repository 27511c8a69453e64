"""BoltzRank's potentials of documents and of pairs of them; see boltzrank.py for the formulas."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array
from rankwright.boosters.weighted_sum import weighted_sum
from rankwright.data.groups import Groups


@dataclass(frozen=True, slots=True, eq=False)
class Potentials:
    """The weights of φ, one for each feature; and for each unit of ψ its feature weights (a) and its own weight (v)."""

    own: Float64Array
    units: Float64Array  # (units, features)
    of_units: Float64Array

    @classmethod
    def of_flat(cls, weights: Float64Array, n_features: int, n_units: int) -> Potentials:
        """The potentials whose weights are given in one array."""
        inner = n_features * (1 + n_units)
        return cls(weights[:n_features], weights[n_features:inner].reshape(n_units, n_features), weights[inner:])

    def scores(self, features: Float32Array, groups: Groups, *, threads: int = 1) -> Float64Array:
        """s: the scores that documents are sorted by."""
        return self.forward(features, groups, threads=threads).scores

    def forward(self, features: Float32Array, groups: Groups, *, threads: int = 1) -> Forward:
        """The scores, and the inputs and outputs of each unit for each document."""
        scores = weighted_sum(features, self.own)
        inputs = np.empty((len(features), len(self.units)))
        for unit, weights in enumerate(self.units):
            inputs[:, unit] = weighted_sum(features, weights)
        sums = np.empty_like(inputs)
        kernels.pair_unit_sums(inputs, groups.offsets, sums, threads)
        for unit, weight in enumerate(self.of_units.tolist()):
            scores += weight * sums[:, unit]
        return Forward(scores, inputs, sums)

    def gradient(
        self, features: Float32Array, groups: Groups, forward: Forward, slopes: Float64Array, threads: int
    ) -> Float64Array:
        """The derivatives of a loss by all weights, in one array, given its derivatives by the scores."""
        of_inputs = np.empty_like(forward.inputs)
        of_sums = slopes[:, None] * self.of_units
        kernels.pair_unit_gradient(forward.inputs, groups.offsets, of_sums, of_inputs, threads)
        # einsum without a library behind it: the same bits however many threads multiply matrices.
        of_own = np.einsum("nf,n->f", features, slopes)
        of_units = [np.einsum("nf,n->f", features, column) for column in of_inputs.T]
        return np.concatenate([of_own, *of_units, np.einsum("nu,n->u", forward.sums, slopes)])


@dataclass(frozen=True, slots=True, eq=False)
class Forward:
    """The scores of documents; and with a column for each unit, its input for each document and its mean output."""

    scores: Float64Array
    inputs: Float64Array
    sums: Float64Array
