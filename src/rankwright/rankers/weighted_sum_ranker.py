"""What rankers that climb a metric with a weighted sum of features share: rounds, scoring, the model file."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import BoolArray, Float64Array, thread_count
from rankwright.boosters.measured_lists import MeasuredLists, measured_lists
from rankwright.boosters.rounds import Learner, Resuming, WatchedLists, learn_in_rounds
from rankwright.boosters.weighted_sum import weighted_sum
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, UnknownNameError, require
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import data_digest
from rankwright.training.loop import History, Listener, LoopPlan


class WeightLearner(Learner, Protocol):
    """A learner whose model is a weight for each feature."""

    def weights(self, n_rounds: int) -> Float64Array:
        """The weights after that many rounds."""


class WeightedSumRanker(Ranker):
    """A ranker whose model is a weight for each feature, or more, found round after round by looking at a metric.

    `weights_` are those after the best round: on the validation documents, or where there are none on the training
    ones. A missing value adds nothing to a score: with the scaling `zscore` it counts as the mean.
    """

    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)
    rounds_setting: ClassVar[str]  # what the setting is called that says how many rounds there are at most

    weights_: Float64Array
    n_rounds_: int
    data_digest_: str

    @abstractmethod
    def _learner(self, data: RankingDataset, lists: MeasuredLists, watched: RankingDataset) -> WeightLearner: ...

    def _patience(self) -> int | None:
        return None

    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        plan = LoopPlan(getattr(self, self.rounds_setting), self._patience())
        require(plan.patience is None or valid is not None, "early_stopping needs validation data: give valid=…")
        watched = data if valid is None else valid
        self.data_digest_ = data_digest(data)
        lists = measured_lists(data, str(self.metric), name=self.name)
        learner = self._learner(data, lists, watched)
        self.history_ = learn_in_rounds(
            learner,
            plan,
            watched=WatchedLists(self._selected(), watched.labels, watched.groups),
            resuming=None if checkpoint is None else self._resuming(Path(checkpoint), valid),
            listeners=listeners,
            threads=thread_count(self.threads),
        )
        best = self.history_.best_step
        self.n_rounds_ = learner.n_rounds if best is None else best + 1
        self.weights_ = learner.weights(self.n_rounds_)

    def _resuming(self, folder: Path, valid: RankingDataset | None) -> Resuming:
        settings = {"ranker": self.name} | self._storable_settings()
        lasting = {name: value for name, value in settings.items() if name != self.rounds_setting}
        return Resuming(folder, self.data_digest_, None if valid is None else data_digest(valid), lasting)

    def _scores(self, data: RankingDataset) -> Float64Array:
        return weighted_sum(data.features, self.weights_)

    def _selected(self) -> str:
        return str(self.select or self.metric)

    def used_features(self) -> BoolArray:
        """Which features have a weight."""
        check_is_fitted(self)
        return np.not_equal(self._size_by_feature(), 0)

    def _size_by_feature(self) -> Float64Array:
        return np.abs(self.weights_)

    def _n_weights(self) -> int:
        return int(self.n_features_in_)

    def facts(self) -> dict[str, Any]:
        """How many rounds the model has seen, and how many features have a weight."""
        check_is_fitted(self)
        return {"rounds": self.n_rounds_, "features_used": int(self.used_features().sum())}

    def importances(self, kind: str = "weight") -> Float64Array:
        """The size of each feature's weight, scaled as the model sees it."""
        if kind not in self.importance_kinds:
            raise UnknownNameError(f"importance of {self.name}", kind, known=self.importance_kinds)
        check_is_fitted(self)
        return self._size_by_feature()

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header = {
            "history": self.history_.to_dict(),
            "n_rounds": self.n_rounds_,
            "training_data": self.data_digest_,
        }
        return header, {"weights": self.weights_}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.history_ = History.from_dict(header["history"])
        self.n_rounds_ = int(header["n_rounds"])
        self.data_digest_ = str(header["training_data"])
        self.weights_ = arrays["weights"]
        if self.weights_.dtype != np.float64 or self.weights_.shape != (self._n_weights(),):
            raise InputError(f"the model needs {self._n_weights()} weights, and has {self.weights_.shape}")
