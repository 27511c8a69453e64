"""What rankers of the linear kind share: steps of a learner, scoring, the model file."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Arrays, Float64Array, named, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.features.missing import filled, without_missing
from rankwright.linear.models import Model, linear_model
from rankwright.linear.rows import JudgedRows, judged_rows
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.steps import learn_by_steps
from rankwright.training.driver import Learner
from rankwright.training.loop import Listener

DEFAULT_SCALING = "log-counts+zscore"  # weights are comparable, and a missing value counts as the mean
MODEL_ARRAYS = "model."  # what the names of a model's arrays begin with in a model file


class LinearRanker(Ranker):
    """A ranker whose model is some arrays that a learner finds step by step.

    One of its own kind says what learns (`_learner`), which of its settings counts the steps (`budget`), and, where its
    model is not a weight for each feature, how its arrays score documents (`_model_of`). `coef_` are a linear model's
    weights of the scaled features; `n_epochs_` is up to which step the model was trained.
    """

    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)
    n_epochs_: int
    arrays_: Arrays
    model_: Model

    @abstractmethod
    def _learner(self, rows: JudgedRows, threads: int) -> Learner: ...

    def _model_of(self, arrays: Mapping[str, NDArray[Any]]) -> Model:
        return linear_model(arrays)

    @property
    def coef_(self) -> Float64Array:
        """The weight of each feature, as it is scaled; only linear models have them."""
        check_is_fitted(self)
        if "weights" not in self.arrays_ or len(self.arrays_["weights"]) != self.n_features_in_:
            raise AttributeError(f"this {self.name} is no weighted sum of features: it has no coef_")
        return self.arrays_["weights"]

    def _importances(self, kind: str) -> Float64Array:  # noqa: ARG002
        """The size of each feature's weight; 0 for all where the model is no weighted sum of them."""
        return np.abs(self.coef_) if hasattr(self, "coef_") else np.zeros(self.n_features_in_)

    def facts(self) -> dict[str, Any]:
        """Up to which step the model was trained, and how many numbers it is made of."""
        check_is_fitted(self)
        return {"steps": self.n_epochs_, "weights": sum(int(values.size) for values in self.arrays_.values())}

    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        threads = thread_count(self.threads)
        learner = self._learner(judged_rows(data, self.name), threads)
        learned = learn_by_steps(
            self,
            learner,
            data,
            None if valid is None else without_missing(valid),
            lambda watched: self._model_of(learner.model()).scores(watched.features, threads=threads),
            listeners,
            checkpoint,
        )
        self.arrays_, self.n_epochs_ = learned.model, learned.n_steps
        self.model_ = self._model_of(learned.model)

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self.model_.scores(filled(data.features), threads=thread_count(self.threads))

    @property
    def n_steps_(self) -> int:
        """Up to which step the model was trained."""
        return self.n_epochs_

    def _state(self) -> tuple[dict[str, Any], Arrays]:
        return {"n_epochs": self.n_epochs_}, {MODEL_ARRAYS + name: values for name, values in self.arrays_.items()}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.n_epochs_ = int(header["n_epochs"])
        self.arrays_ = named(arrays, MODEL_ARRAYS)
        self.model_ = self._model_of(self.arrays_)
