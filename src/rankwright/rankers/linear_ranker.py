"""What rankers of the linear kind share: steps of a learner, scoring, the model file."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.errors import UnknownNameError
from rankwright.linear.models import Arrays, Model, linear_model
from rankwright.linear.rows import JudgedRows, filled, judged_rows
from rankwright.linear.training import Learner, train
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import data_digest
from rankwright.training.loop import History, Listener, LoopPlan

DEFAULT_SCALING = "log-counts+zscore"  # weights are comparable, and a missing value counts as the mean
MODEL_ARRAYS = "model."  # what the names of a model's arrays begin with in a model file


class LinearRanker(Ranker):
    """A ranker whose model is some arrays that a learner finds step by step.

    One of its own kind says what learns (`_learner`), how many steps at most (`_plan`), and, where its model is not a
    weight for each feature, how its arrays score documents (`_model_of`). `coef_` are a linear model's weights of the
    scaled features; `n_epochs_` is up to which step the model was trained.
    """

    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)
    select: str
    n_epochs_: int
    arrays_: Arrays
    model_: Model
    data_digest_: str

    @abstractmethod
    def _learner(self, rows: JudgedRows, threads: int) -> Learner: ...

    @abstractmethod
    def _plan(self) -> LoopPlan: ...

    def _model_of(self, arrays: Mapping[str, NDArray[Any]]) -> Model:
        return linear_model(arrays)

    @property
    def coef_(self) -> Float64Array:
        """The weight of each feature, as it is scaled; only linear models have them."""
        check_is_fitted(self)
        if "weights" not in self.arrays_ or len(self.arrays_["weights"]) != self.n_features_in_:
            raise AttributeError(f"this {self.name} is no weighted sum of features: it has no coef_")
        return self.arrays_["weights"]

    def importances(self, kind: str = "weight") -> Float64Array:
        """The size of each feature's weight; 0 for all where the model is no weighted sum of them."""
        if kind not in self.importance_kinds:
            raise UnknownNameError(f"importance of {self.name}", kind, known=self.importance_kinds)
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
        plan = self._plan()
        trained = train(
            self._learner(judged_rows(data, self.name), threads),
            plan,
            self._model_of,
            data=data,
            valid=valid,
            select=self._selected(),
            checkpoint=None if checkpoint is None else Path(checkpoint),
            settings=self._lasting_settings(),
            listeners=listeners,
            threads=threads,
        )
        self.arrays_, self.history_, self.n_epochs_ = trained.model, trained.history, trained.n_steps
        self.model_ = self._model_of(trained.model)
        self.data_digest_ = data_digest(data)

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self.model_.scores(filled(data.features), threads=thread_count(self.threads))

    def _selected(self) -> str:
        return str(self.select)

    def _lasting_settings(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of steps may grow."""
        settings = {"ranker": self.name} | self._storable_settings()
        return {name: value for name, value in settings.items() if name not in ("epochs", "max_iter")}

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header = {
            "history": self.history_.to_dict(),
            "n_epochs": self.n_epochs_,
            "training_data": self.data_digest_,
        }
        return header, {MODEL_ARRAYS + name: values for name, values in self.arrays_.items()}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.history_ = History.from_dict(header["history"])
        self.n_epochs_ = int(header["n_epochs"])
        self.data_digest_ = str(header["training_data"])
        self.arrays_ = {name.removeprefix(MODEL_ARRAYS): values for name, values in arrays.items()}
        self.model_ = self._model_of(self.arrays_)
