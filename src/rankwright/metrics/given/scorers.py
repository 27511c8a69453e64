"""Scores of whatever scores documents: rankers of ours, live models of other libraries, or the numbers themselves."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset


class ScoringSystem(Protocol):
    """Anything that scores documents: a trained ranker, or another library's model."""

    def predict(self, X: Any) -> Any:
        """The score of each document, in the caller's row order."""


def predicted_by(system: ArrayLike | ScoringSystem, data: RankingDataset) -> Any:
    """The scores of the documents, in the row order of their source.

    Models of other libraries get the matrix of features; whatever else has `predict` gets the dataset.
    """
    if not hasattr(system, "predict"):
        return system
    if not is_foreign(system):
        return system.predict(data)
    features = data.in_source_order(data.features)
    package = type(system).__module__.partition(".")[0]
    if package == "xgboost" and not hasattr(system, "get_booster"):  # a Booster wants a matrix of its own kind
        features = import_module(package).DMatrix(features)
    found: Float64Array = np.asarray(system.predict(features), np.float64)
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found


def is_foreign(system: Any) -> bool:
    """Whether an object with `predict` wants a matrix: all but those that say they take datasets, as rankers do."""
    return not getattr(type(system), "takes_datasets", False)
