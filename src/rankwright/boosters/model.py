"""The trained models of the rankers that climb a metric: weighted sums of features, and BoltzRank's potentials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray
from rankwright.container.checks import read_array, read_integer
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.explanations.contributions import Contributions, PairContributions, Question, weighted_values
from rankwright.features.missing import filled, without_missing
from rankwright.rankers.model import Model, State, StoredModel

ROWS_AT_A_TIME = 2048  # few enough that their features stay in the processor's cache


def weighted_sum(features: Float32Array, weights: Float64Array) -> Float64Array:
    """The weighted sum of each row's features, none of which may be missing.

    It is added up feature after feature, so that features without a weight change no bit of the sum and break no tie,
    as they can in the kernel `linear_scores`, which adds in lanes.
    """
    scores = np.zeros(len(features))
    used = np.flatnonzero(weights).tolist()
    for start in range(0, len(features), ROWS_AT_A_TIME):
        rows = slice(start, start + ROWS_AT_A_TIME)
        for feature in used:
            scores[rows] += weights[feature] * features[rows, feature].astype(np.float64)
    return scores


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSumModel(Model):
    """A weight for each feature; `n_rounds` is how many rounds led to it."""

    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)

    weights: Float64Array
    n_rounds: int

    @classmethod
    def of_weights(cls, weights: Float64Array, n_rounds: int, n_features: int, settings: Any) -> Self:  # noqa: ARG003
        """The model that so many rounds led to, for a ranker with these settings and so many features."""
        return cls(weights, n_rounds)

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:  # noqa: ARG002
        """The weighted sum of each document's features; missing values add nothing."""
        return weighted_sum(without_missing(data).features, self.weights)

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """Weights times values."""
        question.refuse_cover("a weighted sum")
        seen = filled(data.features).astype(np.float64)
        others = None if question.background is None else filled(question.background.features).astype(np.float64)
        return weighted_values(seen, self.weights, 0.0, others)

    @property
    def n_steps(self) -> int:
        """How many rounds the model has seen."""
        return self.n_rounds

    def importances(self, kind: str) -> Float64Array:  # noqa: ARG002
        """The size of each weight, for features scaled as the model sees them."""
        return np.abs(self.weights)

    def used_features(self, n_features: int) -> BoolArray:  # noqa: ARG002
        """Which features have a weight."""
        return np.not_equal(self.importances("weight"), 0)

    def facts(self) -> dict[str, Any]:
        """How many rounds the model has seen, and how many features have a weight."""
        used = np.count_nonzero(self.importances("weight"))
        return {"rounds": self.n_rounds, "features_used": int(used)}

    def state(self) -> State:
        """The number of rounds, and the weights."""
        return {"n_rounds": self.n_rounds}, {"weights": self.weights}

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        weights = read_array(stored.arrays, "weights", np.float64, (stored.n_features,))
        return cls(weights, read_integer(stored.header, "n_rounds"))


@dataclass(frozen=True, slots=True, eq=False)
class Potentials:
    """The weights of BoltzRank's potentials, whose formulas are in boltzrank.py.

    φ has a weight for each feature; each unit of ψ has its feature weights (a) and its own weight (v).
    """

    own: Float64Array
    units: Float64Array  # (units, features)
    of_units: Float64Array

    @classmethod
    def of_flat(cls, weights: Float64Array, n_features: int, n_units: int) -> Potentials:
        """The potentials whose weights are given in one array."""
        inner = n_features * (1 + n_units)
        return cls(weights[:n_features], weights[n_features:inner].reshape(n_units, n_features), weights[inner:])

    def scores(
        self, features: Float32Array, groups: Groups, *, threads: int = 1
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """The scores s that documents are sorted by; and each unit's inputs and mean outputs, a column for each."""
        scores = weighted_sum(features, self.own)
        inputs = np.empty((len(features), len(self.units)))
        for unit, weights in enumerate(self.units):
            inputs[:, unit] = weighted_sum(features, weights)
        sums = np.empty_like(inputs)
        kernels.pair_unit_sums(inputs, groups.offsets, sums, threads)
        for unit, weight in enumerate(self.of_units.tolist()):
            scores += weight * sums[:, unit]
        return scores, inputs, sums

    def gradient(
        self, features: Float32Array, groups: Groups, units: Sequence[Float64Array], slopes: Float64Array, threads: int
    ) -> Float64Array:
        """The derivatives of a loss by all weights, in one array, given its derivatives by the scores.

        `units` are the inputs and mean outputs that `scores` gave.
        """
        inputs, sums = units
        of_inputs, of_sums = np.empty_like(inputs), slopes[:, None] * self.of_units
        kernels.pair_unit_gradient(inputs, groups.offsets, of_sums, of_inputs, threads)
        # einsum without a library behind it: the same bits however many threads multiply matrices.
        of_own = np.einsum("nf,n->f", features, slopes)
        of_units = [np.einsum("nf,n->f", features, column) for column in of_inputs.T]
        return np.concatenate([of_own, *of_units, np.einsum("nu,n->u", sums, slopes)])


@dataclass(frozen=True, slots=True, eq=False)
class PotentialsModel(WeightedSumModel):
    """BoltzRank's potentials: the weight of each feature, then those of the units that compare two documents."""

    n_features: int
    n_units: int

    @classmethod
    def of_weights(cls, weights: Float64Array, n_rounds: int, n_features: int, settings: Any) -> Self:
        """The model that so many epochs led to, for a ranker with these settings and so many features."""
        return cls(weights, n_rounds, n_features, settings.pair_units)

    @property
    def potentials(self) -> Potentials:
        """The potentials that the weights make up."""
        return Potentials.of_flat(self.weights, self.n_features, self.n_units)

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """The scores by which the most probable ranking sorts documents; missing values add nothing."""
        data = without_missing(data)
        return self.potentials.scores(data.features, data.groups, threads=threads)[0]

    @property
    def needs_queries(self) -> bool:
        """Whether units compare a document with the others of its query."""
        return self.n_units > 0

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """Weights times values, where no units compare documents."""
        if self.needs_queries:
            raise InputError("units of pairs compare a document with the others of its query: it has no own score")
        return WeightedSumModel.contributions(self, data, question)  # slots and super() do not go together

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """What features add to the difference of two scores within their query, the other documents fixed.

        A unit's mean output rises along the line from one document to the other by a slope that all features share.
        """
        question.refuse_cover("BoltzRank")
        question.refuse_background("BoltzRank")
        features, found = without_missing(data).features.astype(np.float64), self.potentials
        first, second = pairs.T
        moved = features[first] - features[second]
        values = found.own * moved
        for unit, weight in zip(found.units, found.of_units.tolist(), strict=True):
            inputs = np.einsum("nf,f->n", features, unit)
            outputs = np.array([np.tanh(own - inputs).mean() for own in inputs])
            apart = inputs[first] - inputs[second]
            slopes = np.divide(outputs[first] - outputs[second], apart, out=np.zeros_like(apart), where=apart != 0)
            values = values + weight * slopes[:, None] * unit * moved
        return PairContributions(values, values.sum(axis=1), "what moves the two within their query")

    def importances(self, kind: str) -> Float64Array:  # noqa: ARG002
        """For each feature, the sum of the sizes of its weights."""
        found = self.potentials
        sizes: Float64Array = abs(found.own) + (abs(found.units) * abs(found.of_units)[:, None]).sum(0)
        return sizes

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        n_units = int(stored.settings.pair_units)
        weights = read_array(stored.arrays, "weights", np.float64, (stored.n_features * (1 + n_units) + n_units,))
        return cls(weights, read_integer(stored.header, "n_rounds"), stored.n_features, n_units)
