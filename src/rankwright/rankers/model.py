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

from rankwright.arrays import Arrays, BoolArray, Float32Array, Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.explanations.contributions import Contributions, PairContributions, Question
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
    takes_sparse: ClassVar[bool] = False  # whether `scores` takes features of which only some values are stored
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
    def explains_lists(self) -> bool:
        """Whether the scores of a list can be shared out among features: usually where each document has its own."""
        return not self.needs_queries

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

    def importances_of_steps(self, kind: str) -> Float64Array | None:  # noqa: ARG002
        """The importances, a row for each tree, where they are sums over trees; else None."""
        return None

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:  # noqa: ARG002
        """What each feature adds to each score, for documents as `scores` takes them."""
        raise InputError(f"{type(self).__name__} does not tell what features add to scores")

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """By how much each feature puts one row of a query, `data`, above another, for each pair of rows.

        By default as contributions differ, which is right where each feature adds to scores on its own: a feature
        that is the same in both must add nothing.
        """
        found = self.contributions(data, question)
        values = found.values[pairs[:, 0]] - found.values[pairs[:, 1]]
        return PairContributions(values, values.sum(axis=1), found.how)

    def interactions(self, data: RankingDataset, question: Question) -> Float64Array:  # noqa: ARG002
        """What pairs of features add by acting together; a square for each document, rows sum to contributions."""
        raise InputError("only forests tell what pairs of features add by acting together")

    def values_that_matter(self) -> dict[int, Float32Array] | None:
        """For each feature the values next to which scores change; None where they may change anywhere."""
        return None

    def categorical_features(self, n_features: int) -> BoolArray:
        """Of which features `values_that_matter` gives categories, between which there is nothing."""
        return np.zeros(n_features, np.bool_)

    def used_features(self, n_features: int) -> BoolArray:
        """Which features the model looks at; all of them unless the model can tell which."""
        return np.ones(n_features, np.bool_)
