"""What rankers that climb a metric with a weighted sum of features share: rounds, scoring, the model file."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Arrays, BoolArray, Float32Array, Float64Array
from rankwright.boosters.measured_lists import MeasuredLists, measured_lists
from rankwright.boosters.weighted_sum import weighted_sum
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.features.missing import without_missing
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.steps import learn_by_steps
from rankwright.training.driver import Learner
from rankwright.training.loop import Listener


class WeightedSumRanker(Ranker):
    """A ranker whose model is a weight for each feature, or more, found round after round by looking at a metric.

    `weights_` are those after the best round: on the validation documents, or where there are none on the training
    ones. A missing value adds nothing to a score: with the scaling `zscore` it counts as the mean.
    """

    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)

    weights_: Float64Array
    n_rounds_: int

    @abstractmethod
    def _learner(self, features: Float32Array, lists: MeasuredLists) -> Learner:
        """What learns weights from features, none missing."""

    def _scores_by(self, weights: Float64Array, data: RankingDataset) -> Float64Array:
        """What a model of these weights says of documents without missing features."""
        return weighted_sum(data.features, weights)

    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        require(self.early_stopping is None or valid is not None, "early_stopping needs validation data: give valid=…")
        known = without_missing(data)
        learner = self._learner(known.features, measured_lists(data, str(self.metric), name=self.name))
        learned = learn_by_steps(
            self,
            learner,
            data,
            known if valid is None else without_missing(valid),
            lambda watched: self._scores_by(learner.model()["weights"], watched),
            listeners,
            checkpoint,
        )
        self.weights_, self.n_rounds_ = learned.model["weights"], learned.n_steps

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self._scores_by(self.weights_, without_missing(data))

    def used_features(self) -> BoolArray:
        """Which features have a weight."""
        return np.not_equal(self.importances(), 0)

    def _importances(self, kind: str) -> Float64Array:  # noqa: ARG002
        """The size of each feature's weight, scaled as the model sees it."""
        return np.abs(self.weights_)

    def _n_weights(self) -> int:
        return int(self.n_features_in_)

    def facts(self) -> dict[str, Any]:
        """How many rounds the model has seen, and how many features have a weight."""
        check_is_fitted(self)
        return {"rounds": self.n_rounds_, "features_used": int(self.used_features().sum())}

    @property
    def n_steps_(self) -> int:
        """How many rounds the model has seen."""
        return self.n_rounds_

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return {"n_rounds": self.n_rounds_}, {"weights": self.weights_}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.n_rounds_ = int(header["n_rounds"])
        self.weights_ = arrays["weights"]
        if self.weights_.dtype != np.float64 or self.weights_.shape != (self._n_weights(),):
            raise InputError(f"the model needs {self._n_weights()} weights, and has {self.weights_.shape}")
