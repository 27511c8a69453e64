"""BoltzRank (Volkovs and Zemel 2009): a distribution over rankings, learned from rankings drawn at random.

A ranking R of a query's m documents, r_i the rank of document i, has the energy

    E(R) = 2 / (m (m - 1)) Σ_{r_i > r_j} g(r_i - r_j) (φ(i) - φ(j) + ψ(i, j))

and the probability exp(-E(R)), normalised. φ is a document's own potential, linear in its features; ψ that of two, here
a sum of units v tanh(a·x_i - a·x_j), the same with its sign turned when i and j change places. With g(x) = x / (m + 1),
which makes energies of long and short lists alike, the double sum is a single one,

    E(R) = 2 m / ((m - 1) (m + 1)) Σ_i (r_i - (m + 1) / 2) s_i,    s_i = φ(i) + (1 / m) Σ_j ψ(i, j),

so the most probable ranking is exactly that by descending s, and nothing must be searched for.

Sums over all rankings are taken over some, drawn anew in each epoch: labels times a sharpness, plus noise, sorted. The
loss is `mix` times the expected metric's distance from 1, plus 1 - `mix` times the divergence (KL) of the model's
distribution from that of the labels, which has the labels, centred and to scale, in place of s.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, Float32Array, Float64Array
from rankwright.boosters.measured_lists import MeasuredLists
from rankwright.boosters.weighted_sum import weighted_sum
from rankwright.data.groups import Groups
from rankwright.errors import require
from rankwright.ranking.order import rank_checked

SHARPNESS = (0.0, 1.0, 2.0, 4.0)  # of the samples, in turn: from any order to nearly that of the labels
LABEL_SCALE = 4.0  # standard deviations of labels that the target distribution takes for scores
MOMENTUM, SECOND_MOMENTUM, TINY = 0.9, 0.999, 1e-8  # Adam's


@dataclass(frozen=True, slots=True, kw_only=True)
class BoltzParams:
    """How the potentials are learned."""

    pair_units: int = 0
    n_samples: int = 20
    mix: float = 0.5
    learning_rate: float = 0.05
    l2: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.pair_units >= 0, f"pair_units must be 0 or more, got {self.pair_units}")
        require(self.n_samples >= 2, f"n_samples must be 2 or more, got {self.n_samples}")
        require(0 <= self.mix <= 1, f"mix must lie between 0 and 1, got {self.mix}")
        require(self.learning_rate > 0, f"learning_rate must lie above 0, got {self.learning_rate}")
        require(self.l2 >= 0, f"l2 must be 0 or more, got {self.l2}")


@dataclass(frozen=True, slots=True, eq=False)
class Potentials:
    """φ's weight of each feature; for each unit of ψ its weight of each feature (a) and its own (v)."""

    own: Float64Array
    units: Float64Array  # (units, features)
    of_units: Float64Array

    @classmethod
    def of_flat(cls, weights: Float64Array, n_features: int, n_units: int) -> Potentials:
        """The potentials whose weights, all in one array, are these."""
        inner = n_features * (1 + n_units)
        return cls(weights[:n_features], weights[n_features:inner].reshape(n_units, n_features), weights[inner:])

    def scores(self, features: Float32Array, groups: Groups, *, threads: int = 1) -> Float64Array:
        """s: what the documents are sorted by."""
        return self.forward(features, groups, threads=threads).scores

    def forward(self, features: Float32Array, groups: Groups, *, threads: int = 1) -> Forward:
        """The scores, and what each unit sees of each document and says of it."""
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
        """The slopes of a loss in all weights, flat, given its slopes in the scores."""
        of_inputs = np.empty_like(forward.inputs)
        of_sums = slopes[:, None] * self.of_units
        kernels.pair_unit_gradient(forward.inputs, groups.offsets, of_sums, of_inputs, threads)
        # einsum without a library behind it: the same bits however many threads multiply matrices.
        of_own = np.einsum("nf,n->f", features, slopes)
        of_units = [np.einsum("nf,n->f", features, column) for column in of_inputs.T]
        return np.concatenate([of_own, *of_units, np.einsum("nu,n->u", forward.sums, slopes)])


@dataclass(frozen=True, slots=True, eq=False)
class Forward:
    """The scores of documents; a column a unit, what it sees of each, and says of it against the others."""

    scores: Float64Array
    inputs: Float64Array
    sums: Float64Array


class BoltzRank:
    """BoltzRank in the making: all its weights, flat, and what its descent remembers."""

    def __init__(self, features: Float32Array, lists: MeasuredLists, params: BoltzParams, *, threads: int = 1) -> None:
        self.lists, self.params, self.threads = lists, params, threads
        self.features = features[lists.rows]
        self.n_features = features.shape[1]
        self.weights = self._start()
        self._first, self._second = np.zeros_like(self.weights), np.zeros_like(self.weights)
        self._target = _centred_labels(lists)

    def take_step(self, step: int) -> bool:
        """One epoch: draw rankings, and take one step down the slope of all queries' losses."""
        if self.lists.n_queries == 0:
            return False
        potentials = Potentials.of_flat(self.weights, self.n_features, self.params.pair_units)
        forward = potentials.forward(self.features, self.lists.groups, threads=self.threads)
        slopes = self.slopes(forward.scores, step)
        gradient = potentials.gradient(self.features, self.lists.groups, forward, slopes, self.threads)
        gradient += self.params.l2 * self.weights
        self._first = MOMENTUM * self._first + (1 - MOMENTUM) * gradient
        self._second = SECOND_MOMENTUM * self._second + (1 - SECOND_MOMENTUM) * gradient**2
        first = self._first / (1 - MOMENTUM ** (step + 1))
        second = self._second / (1 - SECOND_MOMENTUM ** (step + 1))
        self.weights = self.weights - self.params.learning_rate * first / (np.sqrt(second) + TINY)
        return True

    def slopes(self, scores: Float64Array, step: int) -> Float64Array:
        """The slopes of the loss in the scores, over the rankings drawn for this epoch."""
        ranks, values = self._samples(step)
        groups = self.lists.groups
        by_score, by_label = (self._probability(ranks, given) for given in (scores, self._target))
        mean = np.sum(by_score * values, axis=0)
        # A sample's energy E lowers its probability: d(1 - mean)/dE = p (value - mean), dKL/dE = target - p.
        of_energy = self.params.mix * by_score * (values - mean) + (1 - self.params.mix) * (by_label - by_score)
        of_energy *= self.lists.weights / self.lists.n_queries
        per_row = np.repeat(of_energy, groups.sizes, axis=1)
        slopes: Float64Array = np.einsum("sn,sn->n", per_row, ranks)
        return slopes

    def model(self) -> Arrays:
        """All weights, flat."""
        return {"weights": self.weights}

    def memory(self) -> Arrays:
        """The weights, and the descent's memory."""
        return {"weights": self.weights, "first": self._first, "second": self._second}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Go on from the weights of another one."""
        self.weights, self._first, self._second = (np.array(memory[name]) for name in ("weights", "first", "second"))

    def _start(self) -> Float64Array:
        """φ and what units count start from 0, what they see from small numbers: no two units are alike."""
        n_units = self.params.pair_units
        drawn = np.random.default_rng([self.params.seed, 0]).normal(size=n_units * self.n_features)
        return np.concatenate([np.zeros(self.n_features), drawn / np.sqrt(self.n_features), np.zeros(n_units)])

    def _samples(self, step: int) -> tuple[Float64Array, Float64Array]:
        """Rankings, a row each: every document's share of its ranking's energy, and every query's metric."""
        n_samples, groups = self.params.n_samples, self.lists.groups
        rng = np.random.default_rng([self.params.seed, 1, step])
        sharpness = np.resize(SHARPNESS, n_samples)[:, None]
        keys = sharpness * self._target / LABEL_SCALE + rng.gumbel(size=(n_samples, groups.n_docs))
        stacked = Groups.of_sizes(np.tile(groups.sizes, n_samples))
        ranking = rank_checked(keys.reshape(-1), stacked, None, self.threads)
        values = self.lists.of_ranking(ranking, np.tile(self.lists.labels, n_samples), threads=self.threads)
        sizes = np.repeat(groups.sizes, groups.sizes).astype(np.float64)
        ranks = ranking.ranks().reshape(n_samples, -1) + 1.0
        share = 2 * sizes / ((sizes - 1) * (sizes + 1))  # a query here has two documents or more
        return share * (ranks - (sizes + 1) / 2), values.reshape(n_samples, -1)

    def _probability(self, ranks: Float64Array, scores: Float64Array) -> Float64Array:
        """The probability of each sample among the samples of its query, by these scores."""
        energies = np.add.reduceat(ranks * scores, self.lists.groups.offsets[:-1], axis=1)
        likely = np.exp(energies.min(axis=0) - energies)
        probability: Float64Array = likely / likely.sum(axis=0)
        return probability


def _centred_labels(lists: MeasuredLists) -> Float64Array:
    """Each query's labels less their mean, in standard deviations, times `LABEL_SCALE`."""
    labels = lists.labels.astype(np.float64)
    centred = labels - lists.groups.means(labels)
    return np.asarray(LABEL_SCALE * centred / np.sqrt(lists.groups.means(centred**2)), np.float64)
