"""The trained models of the rankers that climb a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from rankwright.arrays import BoolArray, Float64Array
from rankwright.boosters.potentials import Potentials
from rankwright.boosters.weighted_sum import weighted_sum
from rankwright.container.checks import read_array, read_integer
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.explanations.contributions import Contributions, PairContributions, Question, weighted_values
from rankwright.features.missing import without_missing
from rankwright.rankers.model import Model, State, StoredModel


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSumModel(Model):
    """A weight for each feature; `n_rounds` is how many rounds led to it."""

    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)

    weights: Float64Array
    n_rounds: int

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:  # noqa: ARG002
        """The weighted sum of each document's features; missing values add nothing."""
        return weighted_sum(without_missing(data).features, self.weights)

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """Weights times values."""
        question.refuse_cover("a weighted sum")
        seen, others = (
            None if one is None else without_missing(one).features.astype(np.float64)
            for one in (data, question.background)
        )
        assert seen is not None
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
class PotentialsModel(WeightedSumModel):
    """BoltzRank's potentials: the weight of each feature, then those of the units that compare two documents."""

    n_features: int
    n_units: int

    @property
    def potentials(self) -> Potentials:
        """The potentials that the weights make up."""
        return Potentials.of_flat(self.weights, self.n_features, self.n_units)

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """The scores by which the most probable ranking sorts documents; missing values add nothing."""
        data = without_missing(data)
        return self.potentials.scores(data.features, data.groups, threads=threads)

    @property
    def needs_queries(self) -> bool:
        """Whether units compare a document with the others of its query."""
        return self.n_units > 0

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """Weights times values, where no units compare documents."""
        if self.needs_queries:
            raise InputError("units of pairs compare a document with the others of its query: it has no own score")
        return WeightedSumModel.contributions(self, data, question)  # slots and super() do not go together

    def pair_contributions(self, data: RankingDataset, pair: tuple[int, int], question: Question) -> PairContributions:
        """What features add to the difference of the two scores within their query, the other documents fixed.

        A unit's mean output rises along the line from one document to the other by a slope that all features share.
        """
        question.refuse_cover("BoltzRank")
        question.refuse_background("BoltzRank")
        features, found = without_missing(data).features.astype(np.float64), self.potentials
        moved = features[pair[0]] - features[pair[1]]
        values = found.own * moved
        for unit, weight in zip(found.units, found.of_units.tolist(), strict=True):
            inputs = np.einsum("nf,f->n", features, unit)
            first, second = (float(np.tanh(inputs[row] - inputs).mean()) for row in pair)
            apart = float(inputs[pair[0]] - inputs[pair[1]])
            slope = (first - second) / apart if apart != 0 else 0.0
            values = values + weight * slope * unit * moved
        return PairContributions(values, float(np.sum(values)), "what moves the two within their query")

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
