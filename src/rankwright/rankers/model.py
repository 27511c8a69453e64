"""The result of training: a value that scores documents, lists its arrays, and tells what it is made of.

Models know nothing of scikit-learn: a model file can be scored without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, BoolArray, Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.features.scaling import FittedScaling

State = tuple[dict[str, Any], Arrays]  # what a file's header and its arrays hold


@dataclass(frozen=True, slots=True, eq=False)
class StoredModel:
    """A model's part of a file, with what else the file holds: settings, features and their scaling."""

    settings: Any  # of the ranker's settings class
    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    n_features: int
    scaling: FittedScaling | None
    read_member: Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]]], Any] | None = None  # of a bag


class Model(ABC):
    """A trained model."""

    importance_kinds: ClassVar[tuple[str, ...]] = ()  # what `importances` can be asked for
    scales_itself: ClassVar[bool] = False  # whether `scores` wants features as they are, and scales them itself

    @abstractmethod
    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """A score for each document, whose features are scaled unless the model scales itself."""

    @abstractmethod
    def state(self) -> State:
        """The model's part of a file's header, and its arrays."""

    @classmethod
    @abstractmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""

    @property
    def needs_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return False

    @property
    def n_steps(self) -> int:
        """How many steps the model was trained for; 1 for a model that does not count them."""
        return 1

    def facts(self) -> dict[str, Any]:
        """What the model is made of, by name, in types JSON can hold."""
        return {}

    def importances(self, kind: str) -> Float64Array:
        """How much each feature matters, by one of `importance_kinds`."""
        raise NotImplementedError(f"a model without importances was asked for {kind}")

    def used_features(self, n_features: int) -> BoolArray:
        """Which features the model looks at; all of them unless the model can tell which."""
        return np.ones(n_features, np.bool_)
